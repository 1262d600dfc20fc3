/**
 * `/pop [turn]` returns to an earlier turn and replaces the work since then with a summary; `/unpop` restores that work.
 *
 * If these turns changed files, it asks whether to restore them. Nothing is deleted: a pop is an entry with its turn and summary, and an unpop is an entry that names the pop. The context
 * is computed from these entries for every request. Where pops and compactions overlap, the later one wins.
 * Turns are counted from 1, one for each user message. The number of a turn never changes, because entries do not.
 */
import {
	type AppMessage,
	activeCompaction,
	applyRanges,
	type CommandContext,
	type CommandResult,
	type CustomEntry,
	changedFiles,
	estimateTokens,
	firstKeptEntry,
	groupTurns,
	type HookAPI,
	isCompactionEntry,
	isContextUndoEntry,
	isMessageEntry,
	isUserMessageEntry,
	keepChanges,
	messageText,
	type SessionEntry,
	type SummaryRange,
	serializeConversation,
	type UndoneFiles,
} from "@mariozechner/pi-coding-agent/hooks";

/** Entries `[backToIndex, toIndex)` are replaced by `summary`. */
export interface StackPop extends CustomEntry {
	type: "stack_pop";
	backToIndex: number;
	/** Set for a frame, which the model popped during a run: the reply with that call remains. Default: the index of the pop. */
	toIndex?: number;
	/** The task of a frame. */
	task?: string;
	/** Entry index of the push that began a frame. */
	pushIndex?: number;
	/** Number of the turn at `backToIndex`; entries of older versions have none. */
	turnNumber?: number;
	summary: string;
	/** Set if the turn is before the latest compaction: replaces the entries before `backToIndex`. */
	prePopSummary?: string;
	tokensBefore?: number;
	tokensAfter?: number;
}

export interface IndexedPop {
	/** Entry index of the pop. */
	index: number;
	/** First entry that is not replaced. */
	to: number;
	pop: StackPop;
}

interface Turn {
	/** From 1. */
	number: number;
	/** Entry index of the user message. */
	index: number;
	text: string;
	messages: number;
	tokens: number;
}

const RESTORE_FILES = "Restore the files that these turns changed?";
const LEAVE = "Leave them as they are";
const RESTORE = "Restore them";
const MAX_SUMMARY_TOKENS = 4000;

export default function stacking(pi: HookAPI): void {
	// While the agent runs, a tool call may have no result yet: a range must not end between the two.
	let running = false;
	pi.on("agent_start", () => {
		running = true;
	});
	pi.on("agent_end", () => {
		running = false;
	});

	// The transcript draws entries again when the context changes.
	let undone: ReadonlySet<string> = new Set();
	pi.entry("stack_pop", {
		render(entry, theme) {
			if (!isStackPop(entry)) return theme.dim("invalid pop");
			// The transcript shows the summary at its position in the context.
			return theme.dim(`◇ popped${whatOf(entry)}${undone.has(keyOf(entry)) ? "" : " · /unpop restores it"}`);
		},
	});
	pi.entry("stack_unpop", { render: (entry, theme) => theme.dim(`◇ undid the pop${whatOf(entry)}`) });

	pi.command("pop", {
		description: "Pop to a previous turn, summarizing the work",
		argumentHint: "[turn]",
		complete: (prefix, { entries }) =>
			listTurns(entries)
				.filter(({ number }) => String(number).startsWith(prefix.trim()))
				.map((turn) => ({ value: String(turn.number), label: labelOf(turn), description: sizeOf(turn) })),
		handler: (ctx) => (running ? { status: "Wait until the agent is done, then run /pop" } : pop(ctx)),
	});

	pi.command("unpop", {
		description: "Restore the work that the last /pop summarized",
		async handler(ctx) {
			if (running) return { status: "Wait until the agent is done, then run /unpop" };
			const last = livePops(ctx.entries).at(-1);
			if (!last) return { status: "There is no pop to undo" };
			if (isCompacted(last, ctx.entries))
				return { status: "This pop cannot be undone: a compaction has summarized it" };
			const { backToIndex, task } = last.pop;
			const what = task === undefined ? { turnNumber: turnAt(ctx.entries, backToIndex) } : { task };
			await ctx.saveEntry({ type: "stack_unpop", popIndex: last.index, ...what });
			await ctx.rebuildContext();
			const files = restoredFiles(last, ctx.entries) ? "The files stay as /pop restored them" : null;
			// On a screen the transcript shows the entry.
			if (ctx.hasUI) return files === null ? undefined : { status: files };
			return { status: [`Undid the pop${whatOf(what)}`, ...(files === null ? [] : [files])].join(" · ") };
		},
	});

	pi.on("context", ({ entries }) => {
		undone = undonePops(entries);
	});

	pi.on("context", (event) => {
		const ranges = popRanges(event.entries);
		return ranges.length === 0 ? undefined : { messages: keepChanges(event, ranges) };
	});
}

async function pop(ctx: CommandContext): Promise<CommandResult | undefined> {
	const { entries } = ctx;
	const turns = listTurns(entries);
	if (turns.length === 0) return { status: "There is no turn to pop to yet" };
	const chosen = ctx.args[0] ?? (await chooseTurn(ctx, turns));
	const numbers = turns.map(({ number }) => number).join(", ");
	if (chosen === null) return ctx.hasUI ? undefined : { status: `Specify a turn: /pop <turn> · turns: ${numbers}` };
	const turn = turns.find(({ number }) => String(number) === chosen);
	if (!turn) return { status: `There is no turn ${chosen} · turns: ${numbers}` };

	// A summary says what was changed: the model must know if the files have their earlier content again.
	const range = { from: turn.index, to: entries.length };
	const hasChanges = changedFiles(entries, range).length > 0;
	const restores = hasChanges && (await ctx.ui.select(RESTORE_FILES, [LEAVE, RESTORE])) === RESTORE;

	const crossing = turn.index < firstKeptEntry(entries);
	const popped = readEntries(entries, turn.index, entries.length);
	let summary: string;
	let prePopSummary: string | undefined;
	try {
		if (crossing) {
			// The compaction's summary covers both sides of the turn, so the part before it needs a new summary.
			const before = readEntries(entries, 0, turn.index);
			if (before.length > 0) prePopSummary = await summarize(before, "the conversation so far", ctx);
		}
		summary = await summarize(popped, "a piece of work that is now finished", ctx);
	} catch (error) {
		if (ctx.signal.aborted) return undefined;
		return { status: `Nothing was popped: ${error instanceof Error ? error.message : String(error)}` };
	}
	// The summary does not cover messages that arrived while it was written.
	if (ctx.entries.slice(entries.length).some(isMessageEntry)) {
		return { status: "Nothing was popped: the conversation continued meanwhile. Run /pop again" };
	}
	const tokensBefore = countTokens(popped);
	const tokensAfter = estimateTokens({ role: "user", content: summary, timestamp: 0 });
	await ctx.saveEntry({
		type: "stack_pop",
		backToIndex: turn.index,
		turnNumber: turn.number,
		summary,
		...(prePopSummary === undefined ? {} : { prePopSummary }),
		tokensBefore,
		tokensAfter,
	});
	const undone = restores ? await ctx.undo(range) : null;
	await ctx.rebuildContext();
	if (undone) return { status: describeUndone(undone) };
	if (ctx.hasUI) return undefined;
	return { status: `Popped to turn ${turn.number}: ${short(tokensBefore)} → ${short(tokensAfter)} tokens` };
}

/** Whether files were restored with a pop. */
function restoredFiles({ index, pop: { backToIndex } }: IndexedPop, entries: readonly SessionEntry[]): boolean {
	return entries.some((entry, at) => at > index && entry.type === "files_restored" && entry.from === backToIndex);
}

function describeUndone({ restored, left }: UndoneFiles): string {
	const files = restored.map(({ path }) => path).join(", ") || "no file";
	return [`Restored ${files}`, ...left.map(({ path, reason }) => `left ${path}: ${reason}`)].join(" · ");
}

async function chooseTurn(ctx: CommandContext, turns: readonly Turn[]): Promise<string | null> {
	const options = turns.map((turn) => ({
		label: labelOf(turn),
		value: String(turn.number),
		description: sizeOf(turn),
	}));
	return ctx.ui.select("Pop to which turn?", options);
}

/** @throws Error with a message for the user if the model returns no summary */
async function summarize(messages: readonly AppMessage[], subject: string, ctx: CommandContext): Promise<string> {
	const { model, signal } = ctx;
	if (!model) throw new Error("choose a model first, with /model");
	// Sent as text, because models reject tool calls of tools that are not in the request.
	const conversation = serializeConversation(messages);
	const request =
		`<conversation>\n${conversation}\n</conversation>\n\nSummarize this conversation as ${subject}: what was asked, ` +
		"what was done and found, with exact paths and names, and what is still open. Be concise. Do not continue it.";
	const events = await ctx.stream(
		model,
		{ messages: [{ role: "user", content: request, timestamp: Date.now() }] },
		{ maxTokens: Math.min(model.maxTokens, MAX_SUMMARY_TOKENS) },
	);
	const reply = await events.result();
	signal.throwIfAborted();
	const summary = messageText(reply).trim();
	if (reply.stopReason === "error" || summary === "") {
		throw new Error(`${model.name} returned no summary (${reply.errorMessage ?? "its reply has no text"})`);
	}
	return summary;
}

/** Newest first. */
function listTurns(entries: readonly SessionEntry[]): Turn[] {
	const turns = groupTurns(entries).map(({ number, from, to, prompt }): Turn => {
		const messages = applyRanges(entries.slice(from, to), []);
		return {
			number,
			index: from,
			text: prompt,
			messages: messages.length,
			tokens: countTokens(messages.map(({ message }) => message)),
		};
	});
	return turns.reverse();
}

/** Messages of the entries `[from, to)`, with the summaries of pops and compactions inside this range. */
export function readEntries(entries: readonly SessionEntry[], from: number, to: number): AppMessage[] {
	const ranges: SummaryRange[] = [];
	const undone = new Set(entries.map((entry) => (isContextUndoEntry(entry) ? entry.entryIndex : null)));
	for (const [index, entry] of entries.entries()) {
		if (isCompactionEntry(entry) && !undone.has(index)) {
			ranges.push({ from: 0, to: entry.firstKeptEntryIndex, summary: entry.summary, id: index });
		}
	}
	for (const { index, to: end, pop } of livePops(entries)) {
		ranges.push({ from: pop.backToIndex, to: end, summary: pop.summary, id: index });
	}
	const inside = ranges.filter((range) => from <= range.from && range.to <= to);
	return applyRanges(entries.slice(0, to), inside)
		.filter(({ entryIndex }) => entryIndex === null || entryIndex >= from)
		.map(({ message }) => message);
}

/** What a pop replaced, as text; null if the entry is no pop. */
export function poppedText(entries: readonly SessionEntry[], index: number): string | null {
	const entry = entries[index];
	if (!entry || !isStackPop(entry)) return null;
	// Without the pop itself, which would stand for what it replaced.
	return serializeConversation(readEntries(entries.slice(0, index), entry.backToIndex, entry.toIndex ?? index));
}

/** The ranges that pops replace, after the latest compaction; ids increase with the order of the pops. */
function popRanges(entries: readonly SessionEntry[]): SummaryRange[] {
	const compaction = latestCompaction(entries);
	return livePops(entries).flatMap(({ index, to, pop }) => {
		// A later compaction has summarized the pop: its own summary replaces all entries before its cut.
		const floor = index < compaction ? firstKeptEntry(entries) : 0;
		const work = { from: Math.max(pop.backToIndex, floor), to, summary: pop.summary, id: 2 * index + 1 };
		if (pop.prePopSummary === undefined) return work.from < work.to ? [work] : [];
		const before = { from: floor, to: pop.backToIndex, summary: pop.prePopSummary, id: 2 * index };
		return [before, work].filter(({ from, to }) => from < to);
	});
}

/** Pops that are not undone, oldest first. */
export function livePops(entries: readonly SessionEntry[]): IndexedPop[] {
	const undone = new Set(
		entries.map((entry) => (entry.type === "stack_unpop" && "popIndex" in entry ? entry.popIndex : null)),
	);
	return entries.flatMap((pop, index) =>
		isStackPop(pop) && pop.backToIndex < index && !undone.has(index)
			? [{ index, to: Math.min(pop.toIndex ?? index, index), pop }]
			: [],
	);
}

/** Keys of the pops that an unpop names. */
function undonePops(entries: readonly SessionEntry[]): ReadonlySet<string> {
	const live = new Set(livePops(entries).map(({ index }) => index));
	return new Set(entries.flatMap((entry, index) => (isStackPop(entry) && !live.has(index) ? [keyOf(entry)] : [])));
}

/** Identifies a pop without its index, which a renderer does not receive. */
function keyOf({ backToIndex, summary }: StackPop): string {
	return `${backToIndex} ${summary}`;
}

/** Entry index of the active compaction; -1 if none exists. */
function latestCompaction(entries: readonly SessionEntry[]): number {
	return activeCompaction(entries)?.entryIndex ?? -1;
}

/** True if a later compaction covers the complete pop. */
function isCompacted({ index, to }: IndexedPop, entries: readonly SessionEntry[]): boolean {
	return index < latestCompaction(entries) && to <= firstKeptEntry(entries);
}

function isStackPop(entry: SessionEntry): entry is StackPop {
	return (
		entry.type === "stack_pop" &&
		"summary" in entry &&
		typeof entry.summary === "string" &&
		Number.isInteger(entry.backToIndex) &&
		(entry.toIndex === undefined || Number.isInteger(entry.toIndex)) &&
		(entry.prePopSummary === undefined || typeof entry.prePopSummary === "string")
	);
}

export function countTokens(messages: readonly AppMessage[]): number {
	return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** The number of the turn that an entry belongs to, from 1. */
function turnAt(entries: readonly SessionEntry[], index: number): number {
	return entries.slice(0, index + 1).filter(isUserMessageEntry).length;
}

/** " to turn 3", or for a frame " “find the bug”"; empty for an entry of an older version. */
function whatOf(entry: object): string {
	if ("task" in entry && typeof entry.task === "string") return ` “${onOneLine(entry.task)}”`;
	return "turnNumber" in entry && typeof entry.turnNumber === "number" ? ` to turn ${entry.turnNumber}` : "";
}

/** Text for one line, of at most 60 characters. */
export function onOneLine(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return (line.length > 60 ? `${line.slice(0, 60)}…` : line).toWellFormed();
}

function labelOf({ number, text }: Turn): string {
	return `${number}  ${onOneLine(text) || "(no text)"}`;
}

function sizeOf({ messages, tokens }: Turn): string {
	return `${messages} ${messages === 1 ? "message" : "messages"} · ${short(tokens)}`;
}

/** 14210 → "14.2k". */
export function short(tokens: number): string {
	return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`;
}
