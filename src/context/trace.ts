import type { Origin, TracedMessage } from "./context-message.js";
import { type EntrySource, entryMessage } from "./entry-message.js";
import { adoptMessage, isSameData } from "./own-message.js";
import { isSummary } from "./ranges.js";

export interface TraceInput {
	/** The field `messages` of the answer. */
	list: unknown;
	before: TracedList;
	/** The log. Reads only entries whose message the hook replaced or brought back. */
	entries: EntrySource;
	hook: string;
	/** Messages that the hook created last time, to be reused if they are equal. */
	previousOwn: readonly TracedMessage[];
}

export interface TracedList {
	messages: readonly TracedMessage[];
	/** The messages that are not from a single entry, in order. */
	synthetic: readonly TracedMessage[];
}

export interface TracedAnswer extends TracedList {
	/** The messages that the hook created, in order. */
	own: readonly TracedMessage[];
}

/** A rule about the form of answers that an answer breaks, and the position. */
export interface TraceFault {
	rule: string;
	position: number;
	detail?: string;
}

/** The fields of an answer; undefined: unchanged. */
export interface AnswerFields {
	messages: unknown;
	systemPrompt: unknown;
	tools: unknown;
	append: unknown;
	provider: unknown;
}

/** The fields of an answer, and those of the event, which an answer such as `{ ...event, messages }` has too. */
const FIELDS: ReadonlySet<string> = new Set([
	"messages",
	"systemPrompt",
	"tools",
	"append",
	"provider",
	"type",
	"entries",
	"facts",
]);

/** Reads the fields of an answer, each once. Never throws. @returns a fault if it has none of them, or others */
export function readAnswer(answer: unknown): AnswerFields | TraceFault {
	try {
		if (typeof answer !== "object" || answer === null) return { rule: "answer_has_messages", position: 0 };
		const { messages, systemPrompt, tools, append, provider } = answer as Partial<AnswerFields>;
		const isEmpty = [messages, systemPrompt, tools, append, provider].every((field) => field === undefined);
		// A field of another name is a typing error: without it, the answer would not be what the hook meant.
		const unknown = Object.keys(answer).find((name) => !FIELDS.has(name) && Reflect.get(answer, name) !== undefined);
		if (unknown !== undefined) return { rule: "answer_has_known_fields", position: 0, detail: unknown };
		return isEmpty ? { rule: "answer_has_messages", position: 0 } : { messages, systemPrompt, tools, append, provider };
	} catch {
		return UNREADABLE;
	}
}

/** A fault of answers whose accessor or proxy throws. */
export const UNREADABLE: TraceFault = Object.freeze({ rule: "answer_can_be_read", position: 0 });

/** Assigns an entry index and origin to each message of an answer. Never throws. @returns a fault if the form is invalid */
export function traceAnswer({ list, before, entries, hook, previousOwn }: TraceInput): TracedAnswer | TraceFault {
	let position = 0;
	try {
		if (!Array.isArray(list)) return { rule: "answer_has_messages", position };
		const messages = new Array<TracedMessage>(list.length);
		const synthetic: TracedMessage[] = [];
		const own: TracedMessage[] = [];
		const finder = new Finder(before);
		const tracing = { hook, entries, own, findOwn: createOwnFinder(previousOwn), mayRepeat: false };
		const traceItem = createItemTracer(finder, tracing);
		let last = -1;
		// No index comes twice in an ascending list.
		let isAscending = true;
		for (; position < messages.length; position++) {
			const input: unknown = list[position];
			const item = finder.takeNext(input) ?? traceItem(input);
			if ("rule" in item) return { ...item, position };
			messages[position] = item;
			const { entryIndex } = item;
			if (entryIndex === null) synthetic.push(item);
			else {
				isAscending &&= entryIndex > last;
				last = entryIndex;
			}
		}
		const mayRepeat = finder.hasJumped || !isAscending || tracing.mayRepeat;
		return (mayRepeat && findNewRepeat(messages, before.messages)) || { messages, synthetic, own };
	} catch {
		// An accessor or proxy of the hook threw.
		return { rule: "answer_can_be_read", position };
	}
}

/** Finds a message or an entry index that a list has twice. Faults of the list before are not new. */
function findNewRepeat(messages: readonly TracedMessage[], before: readonly TracedMessage[]): TraceFault | null {
	const fault = findRepeat(messages);
	return fault && findRepeat(before) === null ? fault : null;
}

function findRepeat(messages: readonly TracedMessage[]): TraceFault | null {
	const seen = new Set<object | number>();
	for (const [position, { message, entryIndex }] of messages.entries()) {
		if (seen.has(message)) return { rule: "one_use_per_message", position };
		if (entryIndex !== null && seen.has(entryIndex))
			return { rule: "one_message_per_entry", position, detail: String(entryIndex) };
		seen.add(message);
		if (entryIndex !== null) seen.add(entryIndex);
	}
	return null;
}

interface ItemTracing {
	hook: string;
	entries: EntrySource;
	/** Collects the messages that the hook created. */
	own: TracedMessage[];
	/** Becomes true for an object without an index that may be the message of an entry. */
	mayRepeat: boolean;
	findOwn: OwnFinder;
}

/** Traces items that are not the next object of the previous list. */
function createItemTracer(finder: Finder, tracing: ItemTracing) {
	const { hook, entries, own, findOwn } = tracing;
	const origin: Origin = Object.freeze({ kind: "hook", hook });
	/** The objects of the hook, before they are copied. */
	const used = new Set<object>();
	return (input: unknown): TracedMessage | Omit<TraceFault, "position"> => {
		const { message, entryIndex } = readItem(input);
		if (typeof message !== "object" || message === null) return { rule: "known_role" };
		const known = finder.find(message, entryIndex);
		if (known && (entryIndex === undefined || entryIndex === known.entryIndex)) return known;
		const index = entryIndex ?? null;
		if (index !== null && !Number.isInteger(index)) return { rule: "entry_index_is_integer" };
		// The log may have grown since, and `at` of a list counts negative indices from its end.
		const exists = index !== null && index >= 0 && index < entries.length;
		const replaced = exists ? entryMessage(entries.at(index)) : null;
		if (index !== null && !replaced) return { rule: "entry_has_message", detail: String(index) };
		if (used.has(message)) return { rule: "one_use_per_message" };
		used.add(message);
		tracing.mayRepeat ||= index === null && !known && Object.isFrozen(message) && !isSummary(message);
		let item = known ?? findOwn(message, index);
		if (item?.entryIndex !== index) {
			const isForeign = index !== null && message !== replaced && isOfAnother(message, known, entries);
			if (isForeign) return { rule: "entry_index_is_own", detail: String(index) };
			const adopted = item ?? adoptMessage(message);
			if ("rule" in adopted) return adopted;
			item = Object.freeze({ message: adopted.message, entryIndex: index, origin: known?.origin ?? origin });
		}
		if (!known) own.push(item);
		return item;
	};
}

/** True for a message of pi, or one that replaces the message of an entry. Hooks may move only those that they added. */
function isOfAnother(message: object, known: TracedMessage | undefined, entries: EntrySource): boolean {
	if (known) return known.entryIndex !== null || known.origin.kind !== "hook";
	// The messages of the log are frozen. Few hooks freeze theirs, and these are compared only once.
	if (!Object.isFrozen(message)) return false;
	for (let index = 0; index < entries.length; index++) if (entryMessage(entries.at(index)) === message) return true;
	return false;
}

/** An item of an answer: a message with its entry index, or a bare message with `undefined`. */
interface AnswerItem {
	message: unknown;
	entryIndex: number | null | undefined;
}

/** Distinguishes wrapped messages from bare ones, which have a role. Reads each property once: accessors may change their answer. */
function readItem(item: unknown): AnswerItem {
	const { message, role, entryIndex } = (item ?? {}) as { message?: unknown; role?: unknown; entryIndex?: unknown };
	const isWrapped = message !== undefined && role === undefined;
	if (isWrapped && (entryIndex === null || typeof entryIndex === "number")) return { message, entryIndex };
	return { message: item, entryIndex: undefined };
}

/**
 * Finds the traced message of an item of an answer. Hooks mostly keep the order and drop ranges, so the search continues
 * after the last match; a map is created only if that fails.
 */
class Finder {
	#cursor = 0;
	#all: Map<object, TracedMessage> | null = null;
	#withoutEntry: Map<object, TracedMessage> | null = null;
	#hasJumped = false;

	/** True if it found a message other than by continuing after the last match: only then may it have found one twice. */
	get hasJumped(): boolean {
		return this.#hasJumped;
	}

	constructor(private readonly before: TracedList) {}

	/** The message after the last match, if the item is that object. */
	takeNext(item: unknown): TracedMessage | undefined {
		const next = this.before.messages[this.#cursor];
		if (next !== item) return undefined;
		this.#cursor++;
		return next;
	}

	/** @param entryIndex the index in the item; undefined for a bare message */
	find(message: object, entryIndex: number | null | undefined): TracedMessage | undefined {
		const { messages, synthetic } = this.before;
		if (messages[this.#cursor]?.message === message) return messages[this.#cursor++];
		if (entryIndex === null) {
			this.#withoutEntry ??= byMessage(synthetic);
			return this.#jump(this.#withoutEntry.get(message));
		}
		if (entryIndex !== undefined) {
			this.#cursor = skipTo(messages, this.#cursor, entryIndex);
			if (messages[this.#cursor]?.message === message) return messages[this.#cursor++];
		}
		this.#all ??= byMessage(messages);
		return this.#jump(this.#all.get(message));
	}

	#jump(found: TracedMessage | undefined): TracedMessage | undefined {
		this.#hasJumped ||= found !== undefined;
		return found;
	}
}

/** Position of the first message at or after `from` with an entry index of at least `entryIndex`. */
function skipTo(before: readonly TracedMessage[], from: number, entryIndex: number): number {
	let position = from;
	while (position < before.length && (before[position]?.entryIndex ?? -1) < entryIndex) position++;
	return position;
}

function byMessage(traced: readonly TracedMessage[]): Map<object, TracedMessage> {
	return new Map(traced.map((item) => [item.message, item]));
}

type OwnFinder = (message: object, entryIndex: number | null) => TracedMessage | undefined;

/** Finds a message that the hook created last time: by the entry it replaces, else by its order in the answer. */
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
