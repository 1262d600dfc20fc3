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
export function traceAnswer({ answer, before, hook, previousOwn }: TraceInput): TracedAnswer | TraceFault {
	let position = 0;
	try {
		const list: unknown =
			typeof answer === "object" && answer !== null && "messages" in answer ? answer.messages : null;
		if (!Array.isArray(list)) return { rule: "answer_has_messages", position };
		const messages = new Array<TracedMessage>(list.length);
		const synthetic: TracedMessage[] = [];
		const own: TracedMessage[] = [];
		const finder = new Finder(before);
		const traceItem = createItemTracer(finder, { hook, own, findOwn: createOwnFinder(previousOwn) });
		for (; position < messages.length; position++) {
			const given: unknown = list[position];
			const item = finder.takeNext(given) ?? traceItem(given);
			if ("rule" in item) return { rule: item.rule, position };
			messages[position] = item;
			if (item.entryIndex === null) synthetic.push(item);
		}
		return { messages, synthetic, own };
	} catch {
		// Accessors and proxies of the hook's own: what cannot be read cannot be sent.
		return { rule: "answer_can_be_read", position };
	}
}

interface ItemTracing {
	hook: string;
	/** Gets what the hook made itself. */
	own: TracedMessage[];
	findOwn: OwnFinder;
}

/** Traces items that are not simply the next one of the list before. */
function createItemTracer(finder: Finder, { hook, own, findOwn }: ItemTracing) {
	const origin: Origin = Object.freeze({ kind: "hook", hook });
	return (given: unknown): TracedMessage | { rule: string } => {
		const { message, entryIndex } = readItem(given);
		if (typeof message !== "object" || message === null) return { rule: "known_role" };
		const known = finder.find(message, entryIndex);
		if (known && (entryIndex === undefined || entryIndex === known.entryIndex)) return known;
		const index = entryIndex ?? null;
		if (index !== null && !Number.isInteger(index)) return { rule: "entry_index_is_integer" };
		let item = known ?? findOwn(message, index);
		if (item?.entryIndex !== index) {
			const settled = item ?? settleMessage(message);
			if ("rule" in settled) return settled;
			item = Object.freeze({ message: settled.message, entryIndex: index, origin: known?.origin ?? origin });
		}
		if (!known) own.push(item);
		return item;
	};
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
 * Finds the traced message that an item of an answer stands for. Hooks mostly keep the order and leave out stretches, so
 * the search goes on from where the last one ended; a map is made only when that fails.
 */
class Finder {
	#cursor = 0;
	#all: Map<object, TracedMessage> | null = null;
	#withoutEntry: Map<object, TracedMessage> | null = null;

	constructor(private readonly before: TracedList) {}

	/** The message behind the one found last, when the item is that very object. */
	takeNext(item: unknown): TracedMessage | undefined {
		const next = this.before.messages[this.#cursor];
		if (next !== item) return undefined;
		this.#cursor++;
		return next;
	}

	/** @param entryIndex the index that the hook gives the message; undefined for a bare message */
	find(message: object, entryIndex: number | null | undefined): TracedMessage | undefined {
		const { messages, synthetic } = this.before;
		if (messages[this.#cursor]?.message === message) return messages[this.#cursor++];
		if (entryIndex === null) {
			this.#withoutEntry ??= byMessage(synthetic);
			return this.#withoutEntry.get(message);
		}
		if (entryIndex !== undefined) {
			this.#cursor = skipTo(messages, this.#cursor, entryIndex);
			if (messages[this.#cursor]?.message === message) return messages[this.#cursor++];
		}
		this.#all ??= byMessage(messages);
		return this.#all.get(message);
	}
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

type OwnFinder = (message: object, entryIndex: number | null) => TracedMessage | undefined;

/** Finds what a hook made the last time and makes again: by the entry it stands for, else in the order of the answer. */
function createOwnFinder(previous: readonly TracedMessage[]): OwnFinder {
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
