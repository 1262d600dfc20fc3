import type { Origin, TracedMessage } from "./context-message.js";
import { isSameData, settleMessage } from "./own-message.js";

/** An answer of a hook, what the hook was given, and what it made itself when it was last asked. */
export interface TraceInput {
	answer: unknown;
	before: TracedList;
	hook: string;
	/** Messages that come again are taken from here. */
	previousOwn: readonly TracedMessage[];
}

/** A list of traced messages, and those among them that must be found without going through it. */
export interface TracedList {
	messages: readonly TracedMessage[];
	/** Those that no single entry holds, in order. */
	synthetic: readonly TracedMessage[];
}

/** A traced answer. */
export interface TracedAnswer extends TracedList {
	/** Those that the hook made itself, in order. */
	own: readonly TracedMessage[];
}

/** What is wrong with the form of an answer, and where. */
export interface TraceFault {
	rule: string;
	position: number;
}

/** Gives each message of an answer its index and origin, or says what is wrong with its form. Never throws. */
export function traceAnswer(input: TraceInput): TracedAnswer | TraceFault {
	const traced = { messages: [], synthetic: [], own: [] } satisfies TracedAnswer;
	try {
		return traceInto(traced, input) ?? traced;
	} catch {
		// Accessors and proxies of the hook's own: what cannot be read cannot be sent.
		return { rule: "answer_can_be_read", position: traced.messages.length };
	}
}

function traceInto(
	traced: { messages: TracedMessage[]; synthetic: TracedMessage[]; own: TracedMessage[] },
	{ answer, before, hook, previousOwn }: TraceInput,
): TraceFault | null {
	const list: unknown = typeof answer === "object" && answer !== null && "messages" in answer ? answer.messages : null;
	if (!Array.isArray(list)) return { rule: "answer_has_messages", position: 0 };
	const { messages, synthetic, own } = traced;
	const find = createFinder(before);
	const findOwn = createOwnFinder(previousOwn);
	const origin: Origin = Object.freeze({ kind: "hook", hook });
	const { length } = list;
	for (let position = 0; position < length; position++) {
		const { message, entryIndex } = readItem(list[position]);
		if (typeof message !== "object" || message === null) return { rule: "known_role", position };
		const known = find(message, entryIndex);
		let item = known;
		if (!item || (entryIndex !== undefined && entryIndex !== item.entryIndex)) {
			const index = entryIndex ?? null;
			if (index !== null && !Number.isInteger(index)) return { rule: "entry_index_is_integer", position };
			item = known ?? findOwn(message, index);
			if (item?.entryIndex !== index) {
				const settled = item ?? settleMessage(message);
				if ("rule" in settled) return { rule: settled.rule, position };
				item = Object.freeze({ message: settled.message, entryIndex: index, origin: known?.origin ?? origin });
			}
			if (!known) own.push(item);
		}
		messages.push(item);
		if (item.entryIndex === null) synthetic.push(item);
	}
	return null;
}

/** An item of an answer: a message with the index of its entry, or, without an index, a bare one. */
interface AnswerItem {
	message: unknown;
	entryIndex: number | null | undefined;
}

/** Tells a wrapped message from a bare one, which has a role. Reads each property once: accessors may answer otherwise. */
function readItem(item: unknown): AnswerItem {
	const { message, role, entryIndex } = (item ?? {}) as { message?: unknown; role?: unknown; entryIndex?: unknown };
	const isWrapped = message !== undefined && role === undefined;
	if (isWrapped && (entryIndex === null || typeof entryIndex === "number")) return { message, entryIndex };
	return { message: item, entryIndex: undefined };
}

/**
 * Finds the traced message of a message object, with the index that the hook gives it (undefined for a bare message).
 * Hooks mostly keep the order and leave out stretches, so the search goes on from where the last one ended; a map is
 * made only when that fails.
 */
function createFinder({
	messages: before,
	synthetic,
}: TracedList): (message: object, entryIndex: number | null | undefined) => TracedMessage | undefined {
	let cursor = 0;
	let all: Map<object, TracedMessage> | null = null;
	let withoutEntry: Map<object, TracedMessage> | null = null;
	return (message, entryIndex) => {
		if (before[cursor]?.message === message) return before[cursor++];
		if (entryIndex === null) {
			withoutEntry ??= byMessage(synthetic);
			return withoutEntry.get(message);
		}
		if (entryIndex !== undefined) {
			cursor = skipTo(before, cursor, entryIndex);
			if (before[cursor]?.message === message) return before[cursor++];
		}
		all ??= byMessage(before);
		return all.get(message);
	};
}

/** Position of the first message at or after `from` whose entry is not before `entryIndex`. */
function skipTo(before: readonly TracedMessage[], from: number, entryIndex: number): number {
	let position = from;
	while (position < before.length && (before[position]?.entryIndex ?? -1) < entryIndex) position++;
	return position;
}

function byMessage(traced: readonly TracedMessage[]): Map<object, TracedMessage> {
	return new Map(traced.map((item) => [item.message, item]));
}

/** Finds what a hook made the last time and makes again: by the entry it stands for, else in the order of the answer. */
function createOwnFinder(
	previous: readonly TracedMessage[],
): (message: object, entryIndex: number | null) => TracedMessage | undefined {
	let replaced: Map<number, TracedMessage> | null = null;
	const added = previous.filter(({ entryIndex }) => entryIndex === null);
	let cursor = 0;
	return (message, entryIndex) => {
		replaced ??= new Map(
			previous.flatMap((item) => (item.entryIndex === null ? [] : [[item.entryIndex, item] as const])),
		);
		const candidate = entryIndex === null ? added[cursor++] : replaced.get(entryIndex);
		return candidate && isSameData(message, candidate.message) ? candidate : undefined;
	};
}
