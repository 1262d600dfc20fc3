/**
 * /fold [from] [to] puts a summary in place of any stretch of turns; /unfold brings them back. The session's model drafts
 * the summary: you read it first, and it counts when you say so. To change it, take it into the editor, where it stands
 * behind the command, `/fold 3 7 text of the summary`, and send that; a summary given that way is taken as it is.
 *
 * A fold is an entry that says what it covers, its undoing an entry that names the fold; nothing is deleted. A fold over
 * folds takes them in as their summaries, and unfolding it brings those summaries back. Turns that a compaction has
 * summarized cannot be folded, and a fold that a compaction has summarized cannot be brought back.
 * A turn is known by the index of the entry with the user's message, so it stays true however the session grows.
 */
import { complete } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	applyRanges,
	type CommandContext,
	type CommandResult,
	type ContextMessage,
	type CustomEntry,
	estimateTokens,
	firstKeptEntry,
	type HookAPI,
	isMessageEntry,
	isUserMessageEntry,
	messageText,
	type SessionEntry,
	serializeConversation,
} from "@mariozechner/pi-coding-agent/hooks";

/** Entries `[from, to)` are replaced by `summary`. */
interface Fold extends CustomEntry {
	type: "fold";
	from: number;
	to: number;
	summary: string;
}

interface PlacedFold {
	/** Entry index of the fold itself. */
	index: number;
	fold: Fold;
	/** First entry that it covers still, after the latest compaction. */
	from: number;
	to: number;
}

/** What can be folded as one: a turn, or all turns of a fold. */
interface Stretch {
	/** Indices of the user messages in it. */
	turns: number[];
	from: number;
	to: number;
	text: string;
	tokens: number;
}

const MAX_SUMMARY_TOKENS = 4000;

export default function foldTurns(pi: HookAPI): void {
	// While the agent runs, a tool call may be waiting for its result: a fold must not end between the two.
	let running = false;
	pi.on("agent_start", () => {
		running = true;
	});
	pi.on("agent_end", () => {
		running = false;
	});

	pi.entry("fold", {
		render: (entry, theme) =>
			theme.dim(
				isFold(entry) ? `◇ folded from turn ${entry.from} · /unfold ${entry.from}` : "a fold that cannot be read",
			),
	});
	pi.entry("fold_undo", { render: (_, theme) => theme.dim("◇ a fold was undone") });

	pi.command("fold", {
		description: "Put a summary in place of a stretch of turns",
		argumentHint: "[from] [to] [summary]",
		complete(prefix, { entries }) {
			const stretches = listStretches(entries);
			const [, first = "", second] = /^\s*(\S*)(?:\s+(\S*))?$/.exec(prefix) ?? [];
			if (second === undefined) return stretches.map(suggest).filter(({ value }) => value.startsWith(first));
			return stretches
				.slice(Math.max(0, stretches.findIndex(holds(first))))
				.map(suggest)
				.filter(({ value }) => value.startsWith(second))
				.map((item) => ({ ...item, value: `${first} ${item.value}` }));
		},
		handler: (ctx) => (running ? { status: "Wait until the agent is done, then /fold" } : fold(ctx)),
	});

	pi.command("unfold", {
		description: "Bring back the turns of a fold",
		argumentHint: "[turn]",
		complete: (prefix, { entries }) =>
			shownFolds(entries)
				.map(({ fold }) => ({ value: String(fold.from), label: labelOf(fold.from, fold.summary) }))
				.filter(({ value }) => value.startsWith(prefix.trim())),
		handler: (ctx) => (running ? { status: "Wait until the agent is done, then /unfold" } : unfold(ctx)),
	});

	pi.on("context", ({ entries, messages }) => {
		const folds = shownFolds(entries);
		return folds.length > 0 ? { messages: putSummaries(messages, folds, entries) } : undefined;
	});
}

async function fold(ctx: CommandContext): Promise<CommandResult | undefined> {
	const { entries } = ctx;
	const stretches = listStretches(entries);
	if (stretches.length === 0) return { status: "There is no turn to fold yet" };
	const turns = stretches.flatMap((stretch) => stretch.turns).join(", ");
	const range: Stretch[] = [];
	for (const [position, question] of ["Fold from which turn?", "Fold up to which turn?"].entries()) {
		const first = range[0] ? stretches.indexOf(range[0]) : 0;
		const given = ctx.args[position] ?? (await chooseStretch(ctx, question, stretches.slice(first)));
		if (given === null) return ctx.hasUI ? undefined : { status: `Name two turns: /fold <from> <to>, of ${turns}` };
		const stretch = stretches.find(holds(given));
		if (!stretch) return { status: `There is no turn ${given} to fold; there are ${turns}` };
		range.push(stretch);
	}
	const from = Math.min(...range.map((stretch) => stretch.from));
	const to = Math.max(...range.map((stretch) => stretch.to));
	const covered = readStretch(entries, from, to);

	let summary = /^\s*\S+\s+\S+\s+([\s\S]*\S)/.exec(ctx.argsRaw)?.[1] ?? null;
	if (summary === null) {
		try {
			summary = await draftSummary(covered, ctx);
		} catch (error) {
			if (ctx.signal.aborted) return undefined;
			return { status: `Nothing was folded: ${error instanceof Error ? error.message : String(error)}` };
		}
		if (ctx.hasUI && !(await isAccepted(summary, `${range[0]?.turns[0]} ${range[1]?.turns.at(-1)}`, ctx)))
			return undefined;
	}
	await ctx.saveEntry({ type: "fold", from, to, summary });
	await ctx.rebuildContext();
	const tokensBefore = covered.reduce((sum, message) => sum + estimateTokens(message), 0);
	const tokensAfter = estimateTokens({ role: "user", content: summary, timestamp: 0 });
	return { status: `Folded from turn ${from}: ${short(tokensBefore)} → ${short(tokensAfter)} tokens` };
}

/** Shows a draft. @param range turns of the command that folds with an edited draft */
async function isAccepted(draft: string, range: string, ctx: CommandContext): Promise<boolean> {
	ctx.ui.notify(draft);
	const choice = await ctx.ui.select("Fold into this summary?", ["Use it", "Edit it first"]);
	if (ctx.signal.aborted) return false;
	// A dialog holds one line, a summary has several: the editor is the place for it.
	if (choice === "Edit it first") ctx.setEditorText(`/fold ${range} ${draft}`);
	return choice === "Use it";
}

async function unfold(ctx: CommandContext): Promise<CommandResult | undefined> {
	const folds = shownFolds(ctx.entries);
	if (folds.length === 0) return { status: "There is no fold to undo" };
	const turns = folds.map(({ fold }) => fold.from).join(", ");
	const options = folds.map(({ fold }) => ({ label: labelOf(fold.from, fold.summary), value: String(fold.from) }));
	const only = options.length === 1 ? options[0]?.value : undefined;
	const chosen = ctx.args[0] ?? only ?? (await ctx.ui.select("Bring back which turns?", options));
	if (chosen === null) return ctx.hasUI ? undefined : { status: `Name a fold: /unfold <turn>, one of ${turns}` };
	const found = folds.find(({ fold }) => String(fold.from) === chosen);
	if (!found) return { status: `There is no fold from turn ${chosen}; there are ${turns}` };
	await ctx.saveEntry({ type: "fold_undo", foldIndex: found.index });
	await ctx.rebuildContext();
	return { status: `Brought back what was folded from turn ${found.fold.from}` };
}

function chooseStretch(ctx: CommandContext, question: string, stretches: readonly Stretch[]): Promise<string | null> {
	return ctx.ui.select(
		question,
		stretches.map((stretch) => ({ ...suggest(stretch), value: String(stretch.turns[0]) })),
	);
}

/** @throws when there is no summary, with a sentence for the user */
async function draftSummary(messages: readonly AppMessage[], ctx: CommandContext): Promise<string> {
	const { model, signal } = ctx;
	if (!model) throw new Error("choose a model first, with /model");
	const auth = await ctx.requestAuth(model);
	// As text, not as messages: a model refuses tool calls whose tools it was not given.
	const conversation = serializeConversation(messages);
	const request =
		`<conversation>\n${conversation}\n</conversation>\n\nSummarize this part of a longer conversation: what was asked, ` +
		"what was done and found, with exact paths and names, and what is still open. Be concise. Do not continue it.";
	const reply = await complete(
		model,
		{ messages: [{ role: "user", content: request, timestamp: Date.now() }] },
		{ ...auth, signal, maxTokens: Math.min(model.maxTokens, MAX_SUMMARY_TOKENS) },
	);
	signal.throwIfAborted();
	const summary = messageText(reply).trim();
	if (reply.stopReason === "error" || summary === "") {
		throw new Error(`${model.name} gave no summary (${reply.errorMessage ?? "its reply has no text"})`);
	}
	return summary;
}

/** What the entries `[from, to)` put before the model, with the folds inside as their summaries. */
function readStretch(entries: readonly SessionEntry[], from: number, to: number): AppMessage[] {
	const inside = shownFolds(entries).filter((placed) => from <= placed.from && placed.to <= to);
	return applyRanges(entries.slice(0, to), inside.map(toRange))
		.filter(({ entryIndex }) => entryIndex === null || entryIndex >= from)
		.map(({ message }) => message);
}

/** What can be folded, oldest first. Folds are taken whole, so that they always lie one in the other. */
function listStretches(entries: readonly SessionEntry[]): Stretch[] {
	const folds = shownFolds(entries);
	const starts = turnStarts(entries);
	const stretches: Stretch[] = [];
	for (const [position, turn] of starts.entries()) {
		const around = folds.find(({ from, to }) => from <= turn && turn < to);
		const from = around?.from ?? turn;
		const last = stretches.at(-1);
		if (last && around && last.from === from) {
			last.turns.push(turn);
			continue;
		}
		const to = around?.to ?? starts[position + 1] ?? entries.length;
		const entry = entries[turn];
		const text = around
			? `(folded) ${around.fold.summary}`
			: isUserMessageEntry(entry)
				? messageText(entry.message)
				: "";
		const shown = around ? [] : applyRanges(entries.slice(from, to), []);
		const tokens = around
			? estimateTokens({ role: "user", content: text, timestamp: 0 })
			: shown.reduce((sum, { message }) => sum + estimateTokens(message), 0);
		stretches.push({ turns: [turn], from, to, text, tokens });
	}
	return stretches;
}

/** Entry indices at which a turn begins, after the latest compaction's cut. */
function turnStarts(entries: readonly SessionEntry[]): number[] {
	const floor = firstKeptEntry(entries);
	const starts: number[] = [];
	let answer = "";
	for (let index = entries.length - 1; index >= Math.max(floor, 1); index--) {
		const entry = entries[index];
		if (!isMessageEntry(entry)) continue;
		// What was said between a tool call and its result begins no turn: a fold there would part the two.
		if (isUserMessageEntry(entry) && answer !== "toolResult") starts.unshift(index);
		if (entry.message.role === "assistant" || entry.message.role === "toolResult") answer = entry.message.role;
	}
	return starts;
}

/** The folds whose summaries stand in the context, in its order: not undone, in no later fold, in no compaction. */
function shownFolds(entries: readonly SessionEntry[]): PlacedFold[] {
	const undone = new Set(
		entries.map((entry) => (entry.type === "fold_undo" && "foldIndex" in entry ? entry.foldIndex : null)),
	);
	const floor = firstKeptEntry(entries);
	const shown: PlacedFold[] = [];
	for (let index = entries.length - 1; index > 0; index--) {
		const entry = entries[index];
		if (!entry || !isFold(entry) || entry.to > index || undone.has(index)) continue;
		// What a compaction covers is its own.
		const from = Math.max(entry.from, floor);
		const { to } = entry;
		if (from < to && !shown.some((later) => later.from < to && from < later.to))
			shown.push({ index, fold: entry, from, to });
	}
	return shown.sort((a, b) => a.from - b.from);
}

function toRange({ from, to, index, fold }: PlacedFold) {
	return { from, to, summary: fold.summary, id: index };
}

/**
 * Puts summaries into the list that the hooks before this one have left. What they made of other entries stays; a fold of
 * which they have left nothing gets no summary.
 */
function putSummaries(
	given: readonly ContextMessage[],
	folds: readonly PlacedFold[],
	entries: readonly SessionEntry[],
): ContextMessage[] {
	// The folds do not overlap: their summaries come in the same order.
	const summaries = applyRanges(entries, folds.map(toRange)).filter(({ entryIndex }) => entryIndex === null);
	const foldOf = (index: number) => folds.findIndex(({ from, to }) => from <= index && index < to);
	const put = new Set<number>();
	const merged: ContextMessage[] = [];
	let previous = 0;
	for (const [position, item] of given.entries()) {
		const own = item.entryIndex === null ? foldAround(given, position, previous) : foldOf(item.entryIndex);
		if (item.entryIndex !== null) previous = item.entryIndex;
		const summary = summaries[own];
		if (!summary) merged.push(item);
		else if (!put.has(own)) {
			put.add(own);
			merged.push(summary);
		}
	}
	return merged;

	/** The fold that a message of no entry goes with: the one that covers every entry which it stands for; else -1. */
	function foldAround(list: readonly ContextMessage[], position: number, before: number): number {
		const after = list.slice(position).find(({ entryIndex }) => entryIndex !== null)?.entryIndex ?? entries.length;
		const replaced = entries
			.slice(before + 1, after)
			.flatMap((entry, i) => (isMessageEntry(entry) ? [before + 1 + i] : []));
		const owners = new Set((replaced.length > 0 ? replaced : [before, after]).map(foldOf));
		return owners.size === 1 ? ([...owners][0] ?? -1) : -1;
	}
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

function holds(turn: string): (stretch: Stretch) => boolean {
	return ({ turns }) => turns.some((index) => String(index) === turn);
}

function suggest({ turns, text, tokens }: Stretch): { value: string; label: string; description: string } {
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
