/**
 * What `clear`, `dedupe` and `distill` share: the results of tools that the model has in front of it, and how a text replaces one.
 * steps.ts decides when that pays.
 */
import {
	type ContextMessage,
	estimateTokens,
	type HookEventContext,
	isMessageEntry,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** Characters of the path, command or pattern of a call in the line that replaces its result. */
const MAX_SUBJECT = 80;
/** Writes 3,200; the same on every machine. */
const NUMBER = new Intl.NumberFormat("en-US");

type Message = ContextMessage["message"];
type ResultMessage = Extract<Message, { role: "toolResult" }>;

/** A call of a tool: `toolCall` in a reply. */
export interface Call {
	id: string;
	name: string;
	arguments: Record<string, unknown>;
}

/** A result that the model has in front of it in full. */
export interface ShownResult {
	entryIndex: number;
	message: ResultMessage;
	call: Call;
	/** Estimated. */
	tokens: number;
	/** Tokens of the context from this result to the end. */
	tail: number;
}

/** The results of the context that the model has seen and that no hook has changed, in order. */
export function shownResults({ entries, messages }: Pick<HookEventContext, "entries" | "messages">): ShownResult[] {
	const indices = new Map<Message, number>();
	for (const [index, entry] of entries.entries()) if (isMessageEntry(entry)) indices.set(entry.message, index);
	const calls = new Map<string, Call>();
	const results: ShownResult[] = [];
	let before = 0;
	let seen = 0;
	for (const message of messages) {
		const tokens = estimateTokens(message);
		if (message.role === "assistant") {
			seen = results.length;
			for (const call of callsIn(message)) calls.set(call.id, call);
		}
		const entryIndex = indices.get(message);
		const call = message.role === "toolResult" ? calls.get(message.toolCallId) : undefined;
		if (message.role === "toolResult" && call && entryIndex !== undefined) {
			results.push({ entryIndex, message, call, tokens, tail: before });
		}
		before += tokens;
	}
	return results.slice(0, seen).map((result) => ({ ...result, tail: before - result.tail }));
}

/**
 * A line that tells the model what was here, and how it gets it back: `[read a.ts · 3,200 tokens cleared · recall 12]`.
 * @returns null if the entry is not a result
 */
export function handleOf(entries: readonly SessionEntry[], entryIndex: number, reason: string): string | null {
	const entry = entries[entryIndex];
	const call = callOf(entries, entryIndex);
	if (!isMessageEntry(entry) || !call) return null;
	const tokens = NUMBER.format(estimateTokens(entry.message));
	return `[${`${call.name} ${subjectOf(call)}`.trim()} · ${tokens} tokens ${reason} · recall ${entryIndex}]`;
}

const hidden = new WeakMap<Message, Message>();

/** Replaces results by texts, which are given by entry index; undefined if none of them is in the list. */
export function replaceResults(
	messages: readonly ContextMessage[],
	texts: ReadonlyMap<number, string>,
): { messages: ContextMessage[] } | undefined {
	let isChanged = false;
	const replaced = messages.map((item) => {
		const { message, entryIndex } = item;
		const text = entryIndex === null ? undefined : texts.get(entryIndex);
		if (text === undefined || message.role !== "toolResult") return item;
		isChanged = true;
		return { message: withText(message, text), entryIndex };
	});
	return isChanged ? { messages: replaced } : undefined;
}

/** The same object for the same change: pi compares objects to see that the start of a request is unchanged. */
function withText(message: ResultMessage, text: string): Message {
	const known = hidden.get(message);
	if (known?.role === "toolResult" && known.content[0]?.type === "text" && known.content[0].text === text) return known;
	const changed: Message = { ...message, content: [{ type: "text", text }] };
	hidden.set(message, changed);
	return changed;
}

/** The path, command or pattern of a call, in one line. */
export function subjectOf(call: Call): string {
	const { path, command, pattern } = call.arguments;
	const subject = [pattern, path, command].find((value) => typeof value === "string" && value.trim() !== "");
	const line = String(subject ?? "")
		.replace(/\s+/g, " ")
		.trim();
	return (line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT)}…` : line).toWellFormed();
}

/** The call that a result answers; null if the entry is not a result. */
export function callOf(entries: readonly SessionEntry[], entryIndex: number): Call | null {
	const result = entries[entryIndex];
	if (!isMessageEntry(result) || result.message.role !== "toolResult") return null;
	for (let index = entryIndex - 1; index > 0; index--) {
		const entry = entries[index];
		if (!isMessageEntry(entry) || entry.message.role !== "assistant") continue;
		const call = callsIn(entry.message).find(({ id }) => id === (result.message as ResultMessage).toolCallId);
		if (call) return call;
	}
	return null;
}

function callsIn(message: Message): Call[] {
	if (message.role !== "assistant") return [];
	return message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
}
