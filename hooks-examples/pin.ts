/**
 * `/pin [turn]` keeps a turn verbatim when the session is compacted; `/unpin` lets compactions summarize it again.
 *
 * A compaction replaces old turns with a summary, but their entries are still in the log. This hook inserts the messages of
 * pinned turns after the summary, in the order of their entries. A pinned turn costs its tokens in every request; `/pin`
 * shows how many. Turns are counted from 1, one for each user message; entries contain the index of that message.
 */
import {
	activeCompaction,
	applyRanges,
	type CommandContext,
	type CommandResult,
	type ContextMessage,
	estimateTokens,
	groupTurns,
	type HookAPI,
	isUserMessageEntry,
	messageText,
	promptText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

export default function pin(pi: HookAPI): void {
	for (const type of ["pin", "unpin"]) {
		pi.entry(type, {
			render: (entry, theme) => {
				const number = "turnNumber" in entry ? ` ${entry.turnNumber}` : "";
				const tokens = "tokens" in entry ? ` · compactions keep its ${entry.tokens} tokens` : "";
				return theme.dim(`◇ turn${number} ${type}ned${tokens}`);
			},
		});
	}

	pi.command("pin", {
		description: "Keep a turn verbatim when the session is compacted",
		argumentHint: "[turn]",
		complete: (prefix, { entries }) => suggest(unpinnedTurns(entries), prefix, entries),
		handler: (ctx) => mark(ctx, "pin", unpinnedTurns(ctx.entries)),
	});

	pi.command("unpin", {
		description: "Let compactions summarize a pinned turn again",
		argumentHint: "[turn]",
		complete: (prefix, { entries }) => suggest(pinnedTurns(entries), prefix, entries),
		handler: (ctx) => mark(ctx, "unpin", pinnedTurns(ctx.entries)),
	});

	pi.on("context", ({ entries, messages }) => {
		const compaction = activeCompaction(entries);
		if (!compaction) return undefined;
		const summaryAt = messages.findIndex(
			({ entryIndex, message }) => entryIndex === null && messageText(message).includes(compaction.entry.summary),
		);
		// Another hook replaced the summary, and decides what its replacement contains.
		if (summaryAt < 0) return undefined;
		const present = new Set(messages.map(({ entryIndex }) => entryIndex));
		const pinned = pinnedTurns(entries)
			.flatMap((turn) => readTurn(entries, turn, compaction.firstKeptEntryIndex))
			.filter(({ entryIndex }) => !present.has(entryIndex));
		if (pinned.length === 0) return undefined;
		// The compaction may keep earlier prompts, which stand between the summary and the first kept entry.
		const rest = messages.slice(summaryAt + 1);
		const end = rest.findIndex(({ entryIndex }) => entryIndex === null || entryIndex >= compaction.firstKeptEntryIndex);
		const early = [...pinned, ...rest.splice(0, end < 0 ? rest.length : end)];
		early.sort((a, b) => (a.entryIndex ?? 0) - (b.entryIndex ?? 0));
		return { messages: [...messages.slice(0, summaryAt + 1), ...early, ...rest] };
	});
}

async function mark(
	ctx: CommandContext,
	type: "pin" | "unpin",
	turns: readonly number[],
): Promise<CommandResult | undefined> {
	const { entries } = ctx;
	if (turns.length === 0) return { status: `There is no turn to ${type}` };
	const numbers = turns.map((turn) => turnNumber(turn, entries)).join(", ");
	const options = suggest(turns, "", entries);
	const chosen =
		ctx.args[0] ?? (await ctx.ui.select(type === "pin" ? "Pin which turn?" : "Unpin which turn?", options));
	if (chosen === null) {
		return ctx.hasUI ? undefined : { status: `Specify a turn: /${type} <turn> · turns: ${numbers}` };
	}
	const turn = turns.find((index) => String(turnNumber(index, entries)) === chosen);
	if (turn === undefined) return { status: `No turn ${chosen} to ${type} · turns: ${numbers}` };
	const tokens = readTurn(entries, turn, entries.length).reduce((sum, { message }) => sum + estimateTokens(message), 0);
	await ctx.saveEntry({ type, turn, turnNumber: Number(chosen), ...(type === "pin" ? { tokens } : {}) });
	await ctx.rebuildContext();
	// On a screen the transcript shows the entry.
	if (ctx.hasUI) return undefined;
	if (type === "unpin") return { status: `Turn ${chosen} is no longer pinned` };
	return { status: `Turn ${chosen} is pinned: compactions keep its ${tokens} tokens` };
}

/** Oldest first. */
function pinnedTurns(entries: readonly SessionEntry[]): number[] {
	const pinned = new Set<number>();
	for (const entry of entries) {
		if ((entry.type !== "pin" && entry.type !== "unpin") || !("turn" in entry)) continue;
		const { turn } = entry;
		if (typeof turn !== "number" || !isUserMessageEntry(entries[turn])) continue;
		if (entry.type === "pin") pinned.add(turn);
		else pinned.delete(turn);
	}
	return [...pinned].sort((a, b) => a - b);
}

function unpinnedTurns(entries: readonly SessionEntry[]): number[] {
	const pinned = new Set(pinnedTurns(entries));
	return entries.flatMap((entry, index) => (isUserMessageEntry(entry) && !pinned.has(index) ? [index] : []));
}

/** The messages of a turn before entry `end`, without tool calls that have no result there, and results without a call. */
function readTurn(entries: readonly SessionEntry[], turn: number, end: number): ContextMessage[] {
	const next = groupTurns(entries).find(({ from }) => from === turn)?.to ?? turn;
	const until = Math.min(next, end);
	if (until <= turn) return [];
	const messages = applyRanges(entries.slice(0, until), []).filter(({ entryIndex }) => (entryIndex ?? 0) >= turn);
	const answered = new Set(messages.map(({ message }) => (message.role === "toolResult" ? message.toolCallId : null)));
	const called = new Set<string>();
	return messages.filter(({ message }) => {
		if (message.role === "toolResult") return called.has(message.toolCallId);
		if (message.role !== "assistant") return true;
		const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
		if (!calls.every((id) => answered.has(id))) return false;
		for (const id of calls) called.add(id);
		return true;
	});
}

function suggest(turns: readonly number[], prefix: string, entries: readonly SessionEntry[]) {
	return turns
		.map((turn) => ({ value: String(turnNumber(turn, entries)), label: labelOf(turn, entries) }))
		.filter(({ value }) => value.startsWith(prefix.trim()))
		.reverse();
}

/** The number of the turn that starts at an entry, from 1. */
function turnNumber(turn: number, entries: readonly SessionEntry[]): number {
	return entries.slice(0, turn + 1).filter(isUserMessageEntry).length;
}

function labelOf(turn: number, entries: readonly SessionEntry[]): string {
	const entry = entries[turn];
	const text = isUserMessageEntry(entry) ? promptText(entry).replace(/\s+/g, " ").trim() : "";
	return `${turnNumber(turn, entries)}  ${text.length > 60 ? `${text.slice(0, 60)}…` : text || "(no text)"}`.toWellFormed();
}
