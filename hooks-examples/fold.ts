/**
 * `/fold [from] [to]` replaces a range of turns with a summary; `/unfold` restores the turns. The session's model drafts
 * the summary, and you edit and accept it before it is used. A summary given in the command, `/fold 2 4 text of the
 * summary`, is used unchanged, and so is the draft in print and JSON mode.
 *
 * Nothing is deleted: a fold is an entry with its range, and an unfold is an entry that names the fold. A fold that
 * contains other folds includes their summaries, and unfolding it restores those summaries. Turns that a compaction has
 * summarized cannot be folded, and a fold that a compaction has summarized cannot be undone.
 * Turns are counted from 1, one for each user message. The number of a turn never changes, because entries do not.
 */
import {
	type AppMessage,
	applyRanges,
	type CommandContext,
	type CommandResult,
	type CustomEntry,
	estimateTokens,
	firstKeptEntry,
	type HookAPI,
	isMessageEntry,
	isUserMessageEntry,
	keepChanges,
	messageText,
	promptText,
	type SessionEntry,
	serializeConversation,
} from "@mariozechner/pi-coding-agent/hooks";

/** Entries `[from, to)` are replaced by `summary`. */
interface Fold extends CustomEntry {
	type: "fold";
	from: number;
	to: number;
	summary: string;
	/** Number of the turn at `from`; entries of older versions have none. */
	turnNumber?: number;
}

interface IndexedFold {
	/** Entry index of the fold itself. */
	index: number;
	fold: Fold;
	/** First entry that the fold still covers after the latest compaction. */
	from: number;
	to: number;
}

/** The smallest range that can be folded: a turn, or all turns of a fold. */
interface Segment {
	/** Numbers of its turns, from 1. */
	turns: number[];
	from: number;
	to: number;
	text: string;
	tokens: number;
}

const MAX_SUMMARY_TOKENS = 4000;

export default function foldTurns(pi: HookAPI): void {
	// While the agent runs, a tool call may have no result yet: a fold must not end between the two.
	let running = false;
	pi.on("agent_start", () => {
		running = true;
	});
	pi.on("agent_end", () => {
		running = false;
	});

	// The transcript draws entries again when the context changes.
	let undone: ReadonlySet<string> = new Set();
	pi.entry("fold", {
		render(entry, theme) {
			if (!isFold(entry)) return theme.dim("invalid fold");
			const hint = undone.has(keyOf(entry)) ? "" : " · /unfold restores the turns";
			return theme.dim(`◇ folded${fromTurn(entry)}${hint}`);
		},
	});
	pi.entry("fold_undo", { render: (entry, theme) => theme.dim(`◇ restored the turns folded${fromTurn(entry)}`) });

	pi.command("fold", {
		description: "Replace a range of turns with a summary",
		argumentHint: "[from] [to] [summary]",
		complete(prefix, { entries }) {
			const segments = listSegments(entries);
			const numbers = /^\s*(\S*)(?:\s+(\S*))?$/.exec(prefix);
			// A summary follows.
			if (!numbers) return [];
			const [, first = "", second] = numbers;
			if (second === undefined) return segments.map(suggest).filter(({ value }) => value.startsWith(first));
			return segments
				.slice(Math.max(0, segments.findIndex(holds(first))))
				.map(suggest)
				.filter(({ value }) => value.startsWith(second))
				.map((item) => ({ ...item, value: `${first} ${item.value}` }));
		},
		handler: (ctx) => (running ? { status: "Wait until the agent is done, then run /fold" } : fold(ctx)),
	});

	pi.command("unfold", {
		description: "Restore the turns of a fold",
		argumentHint: "[turn]",
		complete: (prefix, { entries }) =>
			shownFolds(entries)
				.map(({ fold }) => ({ number: turnNumber(entries, fold.from), summary: fold.summary }))
				.map(({ number, summary }) => ({ value: String(number), label: labelOf(number, summary) }))
				.filter(({ value }) => value.startsWith(prefix.trim())),
		handler: (ctx) => (running ? { status: "Wait until the agent is done, then run /unfold" } : unfold(ctx)),
	});

	pi.on("context", ({ entries }) => {
		const indices = undoneFolds(entries);
		undone = new Set(entries.flatMap((entry, at) => (isFold(entry) && indices.has(at) ? [keyOf(entry)] : [])));
	});

	pi.on("context", (event) => {
		const folds = shownFolds(event.entries);
		return folds.length > 0 ? { messages: keepChanges(event, folds.map(toRange)) } : undefined;
	});
}

async function fold(ctx: CommandContext): Promise<CommandResult | undefined> {
	const { entries } = ctx;
	const segments = listSegments(entries);
	if (segments.length === 0) return { status: "There is no turn to fold yet" };
	const turns = segments.flatMap((segment) => segment.turns).join(", ");
	const range: Segment[] = [];
	for (const [position, question] of ["Fold from which turn?", "Fold up to which turn?"].entries()) {
		const first = range[0] ? segments.indexOf(range[0]) : 0;
		const given = ctx.args[position] ?? (await chooseSegment(ctx, question, segments.slice(first)));
		if (given === null)
			return ctx.hasUI ? undefined : { status: `Specify two turns: /fold <from> <to> · turns: ${turns}` };
		const segment = segments.find(holds(given));
		if (!segment) return { status: `Turn ${given} does not exist or cannot be folded · turns: ${turns}` };
		range.push(segment);
	}
	const from = Math.min(...range.map((segment) => segment.from));
	const to = Math.max(...range.map((segment) => segment.to));
	const covered = readRange(entries, from, to);

	let summary = /^\s*\S+\s+\S+\s+([\s\S]*\S)/.exec(ctx.argsRaw)?.[1] ?? null;
	if (summary === null) {
		try {
			summary = await draftSummary(covered, ctx);
		} catch (error) {
			if (ctx.signal.aborted) return undefined;
			return { status: `Nothing was folded: ${error instanceof Error ? error.message : String(error)}` };
		}
		if (canAnswer(ctx)) summary = (await ctx.ui.editor("Fold into this summary", summary))?.trim() ?? null;
		if (!summary || ctx.signal.aborted) return undefined;
	}
	const number = turnNumber(entries, from);
	await ctx.saveEntry({ type: "fold", from, to, summary, turnNumber: number });
	await ctx.rebuildContext();
	// On a screen the transcript shows the entry and the summary.
	if (ctx.hasUI) return undefined;
	const tokensBefore = covered.reduce((sum, message) => sum + estimateTokens(message), 0);
	const tokensAfter = estimateTokens({ role: "user", content: summary, timestamp: 0 });
	return { status: `Folded from turn ${number}: ${short(tokensBefore)} → ${short(tokensAfter)} tokens` };
}

/** True if a user or an RPC client can answer dialogs. */
function canAnswer({ hasUI, mode }: CommandContext): boolean {
	return hasUI || mode === "rpc";
}

async function unfold(ctx: CommandContext): Promise<CommandResult | undefined> {
	const folds = shownFolds(ctx.entries);
	if (folds.length === 0) return { status: "There is no fold to undo" };
	const numbers = folds.map(({ fold }) => turnNumber(ctx.entries, fold.from));
	const turns = numbers.join(", ");
	const options = folds.map(({ fold }, at) => ({
		label: labelOf(numbers[at] ?? 0, fold.summary),
		value: String(numbers[at]),
	}));
	const only = options.length === 1 ? options[0]?.value : undefined;
	const chosen = ctx.args[0] ?? only ?? (await ctx.ui.select("Restore which turns?", options));
	if (chosen === null) return ctx.hasUI ? undefined : { status: `Specify a fold: /unfold <turn> · folds: ${turns}` };
	const found = folds.find((_, at) => String(numbers[at]) === chosen);
	if (!found) return { status: `No fold starts at turn ${chosen} · folds: ${turns}` };
	await ctx.saveEntry({ type: "fold_undo", foldIndex: found.index, turnNumber: Number(chosen) });
	await ctx.rebuildContext();
	return ctx.hasUI ? undefined : { status: `Restored the turns folded from turn ${chosen}` };
}

function chooseSegment(ctx: CommandContext, question: string, segments: readonly Segment[]): Promise<string | null> {
	return ctx.ui.select(
		question,
		segments.map((segment) => ({ ...suggest(segment), value: String(segment.turns[0]) })),
	);
}

/** @throws Error with a message for the user if the model returns no summary */
async function draftSummary(messages: readonly AppMessage[], ctx: CommandContext): Promise<string> {
	const { model, signal } = ctx;
	if (!model) throw new Error("choose a model first, with /model");
	// Sent as text, because models reject tool calls of tools that are not in the request.
	const conversation = serializeConversation(messages);
	const request =
		`<conversation>\n${conversation}\n</conversation>\n\nSummarize this part of a longer conversation: what was asked, ` +
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

/** The messages of the entries `[from, to)`, with the summaries of the folds inside. */
function readRange(entries: readonly SessionEntry[], from: number, to: number): AppMessage[] {
	const inside = shownFolds(entries).filter((placed) => from <= placed.from && placed.to <= to);
	return applyRanges(entries.slice(0, to), inside.map(toRange))
		.filter(({ entryIndex }) => entryIndex === null || entryIndex >= from)
		.map(({ message }) => message);
}

/** The ranges that can be folded, oldest first. A fold is never split, so folds are always nested. */
function listSegments(entries: readonly SessionEntry[]): Segment[] {
	const folds = shownFolds(entries);
	const starts = turnStarts(entries);
	const segments: Segment[] = [];
	for (const [position, turn] of starts.entries()) {
		const around = folds.find(({ from, to }) => from <= turn && turn < to);
		const from = around?.from ?? turn;
		const last = segments.at(-1);
		if (last && around && last.from === from) {
			last.turns.push(turnNumber(entries, turn));
			continue;
		}
		const to = around?.to ?? starts[position + 1] ?? entries.length;
		const entry = entries[turn];
		const text = around ? `(folded) ${around.fold.summary}` : isUserMessageEntry(entry) ? promptText(entry) : "";
		const shown = around ? [] : applyRanges(entries.slice(from, to), []);
		const tokens = around
			? estimateTokens({ role: "user", content: text, timestamp: 0 })
			: shown.reduce((sum, { message }) => sum + estimateTokens(message), 0);
		segments.push({ turns: [turnNumber(entries, turn)], from, to, text, tokens });
	}
	return segments;
}

/** The number of the turn that starts at an entry, from 1. */
function turnNumber(entries: readonly SessionEntry[], index: number): number {
	return entries.slice(0, index + 1).filter(isUserMessageEntry).length;
}

/** " from turn 3"; empty for an entry of an older version. */
function fromTurn(entry: SessionEntry): string {
	return "turnNumber" in entry && typeof entry.turnNumber === "number" ? ` from turn ${entry.turnNumber}` : "";
}

/** Entry indices of the folds that an unfold names. */
function undoneFolds(entries: readonly SessionEntry[]): ReadonlySet<unknown> {
	return new Set(entries.map((entry) => (entry.type === "fold_undo" && "foldIndex" in entry ? entry.foldIndex : null)));
}

/** Identifies a fold without its index, which a renderer does not receive. */
function keyOf({ from, to, summary }: Fold): string {
	return `${from} ${to} ${summary}`;
}

/** Entry indices where turns start, after the cut of the latest compaction. */
function turnStarts(entries: readonly SessionEntry[]): number[] {
	const floor = firstKeptEntry(entries);
	const starts: number[] = [];
	let answer = "";
	for (let index = entries.length - 1; index >= Math.max(floor, 1); index--) {
		const entry = entries[index];
		if (!isMessageEntry(entry)) continue;
		// A message between a tool call and its result starts no turn: a fold there would separate the two.
		if (isUserMessageEntry(entry) && answer !== "toolResult") starts.unshift(index);
		if (entry.message.role === "assistant" || entry.message.role === "toolResult") answer = entry.message.role;
	}
	return starts;
}

/** The folds whose summaries are in the context, in context order: not undone, and not covered by a later fold or a compaction. */
function shownFolds(entries: readonly SessionEntry[]): IndexedFold[] {
	const undone = undoneFolds(entries);
	const floor = firstKeptEntry(entries);
	const shown: IndexedFold[] = [];
	for (let index = entries.length - 1; index > 0; index--) {
		const entry = entries[index];
		if (!entry || !isFold(entry) || entry.to > index || undone.has(index)) continue;
		// The compaction's summary replaces all entries before its cut.
		const from = Math.max(entry.from, floor);
		const { to } = entry;
		if (from < to && !shown.some((later) => later.from < to && from < later.to))
			shown.push({ index, fold: entry, from, to });
	}
	return shown.sort((a, b) => a.from - b.from);
}

function toRange({ from, to, index, fold }: IndexedFold) {
	return { from, to, summary: fold.summary, id: index };
}

function isFold(entry: SessionEntry): entry is Fold {
	return (
		entry.type === "fold" &&
		"summary" in entry &&
		typeof entry.summary === "string" &&
		typeof entry.from === "number" &&
		typeof entry.to === "number" &&
		Number.isInteger(entry.from) &&
		Number.isInteger(entry.to) &&
		0 < entry.from &&
		entry.from < entry.to
	);
}

function holds(turn: string): (segment: Segment) => boolean {
	return ({ turns }) => turns.some((number) => String(number) === turn);
}

function suggest({ turns, text, tokens }: Segment): { value: string; label: string; description: string } {
	return { value: String(turns[0]), label: labelOf(turns[0] ?? 0, text), description: `${short(tokens)} tokens` };
}

function labelOf(turn: number, text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return `${turn}  ${line.length > 60 ? `${line.slice(0, 60)}…` : line || "(no text)"}`.toWellFormed();
}

/** 14210 → "14.2k". */
function short(tokens: number): string {
	return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`;
}
