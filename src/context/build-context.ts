import type { AppMessage, SessionEntry } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import { checkMessages, isWellFormed, type Violation } from "./check.js";
import type {
	BuiltContext,
	ContextMessage,
	ContextProblem,
	HiddenEntry,
	HookEdits,
	Origin,
	TracedMessage,
} from "./context-message.js";
import { type ActiveCompaction, coreContext } from "./core.js";
import { type EntrySource, entryMessage } from "./entry-message.js";

/** What a hook makes of a list; undefined passes it through. Must not throw: the caller reports a hook's errors. */
export type ContextTransform = (messages: readonly ContextMessage[]) => Promise<unknown>;

/** A hook's `context` handler as the pipeline sees it. */
export interface ContextStage {
	/** Path of the hook: origin of what it adds, culprit of what it breaks. */
	hook: string;
	transform: ContextTransform;
}

/** Options of `buildContext`. */
export interface BuildContextOptions {
	/** Called for each answer of a hook that was dropped, and for each clamped compaction. */
	onProblem?(problem: ContextProblem): void;
}

/**
 * Computes the context: `hookN(… hook1(core(entries)) …)`. Each answer is checked; one that no model would accept is
 * reported and dropped, and the list before it stands. Faults that were in the list before the hook ran are not held
 * against it. Every message carries its origin.
 */
export async function buildContext(
	entries: EntrySource,
	stages: readonly ContextStage[],
	options: BuildContextOptions = {},
): Promise<BuiltContext> {
	const core = coreContext(entries);
	const problems: ContextProblem[] = [];
	const report = (problem: ContextProblem) => {
		problems.push(problem);
		options.onProblem?.(problem);
	};
	for (const problem of core.problems) report(problem);

	let current: readonly TracedMessage[] = Object.freeze(core.messages);
	const changes: Change[] = [];
	/** Faults that `current` has already; null when nobody had to look. */
	let faults: ReadonlySet<string> | null = null;
	for (const { hook, transform } of stages) {
		const answer = await transform(current);
		if (answer === undefined) continue;
		const next = traceAnswer(answer, current, hook);
		if ("rule" in next) {
			report({ hook, ...next });
			continue;
		}
		const violations = checkMessages(next.messages, SHAPES_KNOWN);
		if (violations.length > 0) {
			const known: ReadonlySet<string> = faults ?? keys(checkMessages(current, SHAPES_KNOWN));
			const broken = violations.find(({ key }) => !known.has(key));
			if (broken) {
				report({ hook, rule: broken.rule, position: broken.position });
				faults = known;
				continue;
			}
		}
		faults = keys(violations);
		changes.push({ hook, before: current, after: next.messages });
		current = Object.freeze(next.messages);
	}
	return new Context(current, core.compaction, changes, problems, entries);
}

function keys(violations: readonly Violation[]): Set<string> {
	return new Set(violations.map(({ key }) => key));
}

/** The log checks the shapes of its messages, and `traceAnswer` those of new ones. */
const SHAPES_KNOWN = { isKnownGood: () => true };

/** Gives each message of an answer its index and origin, or says what is wrong with its form. */
function traceAnswer(
	answer: unknown,
	before: readonly TracedMessage[],
	hook: string,
): { messages: TracedMessage[] } | { rule: string; position: number } {
	const list = typeof answer === "object" && answer !== null && "messages" in answer ? answer.messages : undefined;
	if (!Array.isArray(list)) return { rule: "answer_has_messages", position: 0 };
	const find = createTracer(before);
	const origin: Origin = Object.freeze({ kind: "hook", hook });
	const messages: TracedMessage[] = new Array(list.length);
	for (let position = 0; position < list.length; position++) {
		const item: unknown = list[position];
		const wrapped = isWrapped(item) ? item : null;
		const message: unknown = wrapped ? wrapped.message : item;
		if (typeof message !== "object" || message === null) return { rule: "known_role", position };
		const known = find(message, wrapped ? wrapped.entryIndex : undefined);
		if (known && (!wrapped || wrapped.entryIndex === known.entryIndex)) {
			messages[position] = known;
			continue;
		}
		const entryIndex = wrapped ? wrapped.entryIndex : null;
		if (entryIndex !== null && !Number.isInteger(entryIndex)) return { rule: "entry_index_is_integer", position };
		if (!isWellFormed(message)) return { rule: isKnownRole(message) ? "well_formed_content" : "known_role", position };
		if (!known && !freeze(message)) return { rule: "well_formed_content", position };
		messages[position] = Object.freeze({ message, entryIndex, origin: known?.origin ?? origin });
	}
	return { messages };
}

/** Keeps a hook's message as it was given: other hooks are handed it. @returns false for what is no plain data */
function freeze(message: AppMessage): boolean {
	try {
		freezeDeep(message);
		return true;
	} catch {
		return false; // nested without an end, or with bytes that cannot be frozen: no log could hold it either
	}
}

/** Tells a wrapped message from a bare one, which has a role. Read as properties: this runs for every message. */
function isWrapped(item: unknown): item is { message: unknown; entryIndex: number | null } {
	const { message, role, entryIndex } = (item ?? {}) as { message?: unknown; role?: unknown; entryIndex?: unknown };
	return message !== undefined && role === undefined && (entryIndex === null || typeof entryIndex === "number");
}

function isKnownRole(message: object): boolean {
	const role = "role" in message ? message.role : undefined;
	return role === "user" || role === "assistant" || role === "toolResult" || role === "bashExecution";
}

/**
 * Finds the traced message of a message object, with the index that the hook gives it (undefined for a bare message).
 * Hooks mostly keep the order and leave out stretches, so the search goes on from where the last one ended; a map is
 * made only when that fails.
 */
function createTracer(
	before: readonly TracedMessage[],
): (message: object, entryIndex: number | null | undefined) => TracedMessage | undefined {
	let cursor = 0;
	let all: Map<object, TracedMessage> | null = null;
	let synthetic: Map<object, TracedMessage> | null = null;
	return (message, entryIndex) => {
		if (before[cursor]?.message === message) return before[cursor++];
		if (entryIndex === null) {
			synthetic ??= byMessage(before.filter((traced) => traced.entryIndex === null));
			return synthetic.get(message);
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

interface Change {
	hook: string;
	before: readonly TracedMessage[];
	after: readonly TracedMessage[];
}

/** A computed context. What hides and edits each entry is worked out when it is first asked for. */
class Context implements BuiltContext {
	#hidden: readonly HiddenEntry[] | null = null;
	#edits: readonly HookEdits[] | null = null;

	constructor(
		readonly messages: readonly TracedMessage[],
		readonly compaction: ActiveCompaction | null,
		private readonly changes: readonly Change[],
		readonly problems: readonly ContextProblem[],
		private readonly entries: EntrySource,
	) {}

	get hidden(): readonly HiddenEntry[] {
		this.#hidden ??= this.#findHidden();
		return this.#hidden;
	}

	get edits(): readonly HookEdits[] {
		this.#edits ??= this.changes.map(findEdits);
		return this.#edits;
	}

	#findHidden(): HiddenEntry[] {
		const hidden = new Map<number, HiddenEntry["by"]>();
		if (this.compaction) {
			const by = { kind: "compaction", entryIndex: this.compaction.entryIndex } as const;
			for (let index = 0; index < this.compaction.firstKeptEntryIndex; index++) {
				if (entryMessage(this.entries.at(index))) hidden.set(index, by);
			}
		}
		for (const { hook, before, after } of this.changes) {
			const by = { kind: "hook", hook } as const;
			const kept = new Set<number>();
			for (const { entryIndex } of after) if (entryIndex !== null) kept.add(entryIndex);
			for (const { entryIndex } of before) {
				if (entryIndex !== null && !kept.has(entryIndex)) hidden.set(entryIndex, by);
			}
			for (const index of kept) hidden.delete(index);
		}
		return [...hidden].sort(([a], [b]) => a - b).map(([entryIndex, by]) => ({ entryIndex, by }));
	}
}

function findEdits({ hook, before, after }: Change): HookEdits {
	const left = new Set<object>(after.map(({ message }) => message));
	const entries = before.flatMap(({ message, entryIndex }) =>
		entryIndex === null || left.has(message) ? [] : [entryIndex],
	);
	return { hook, entries: new Set(entries) };
}

/** The bare messages of a context, for code that does not ask where they come from. */
export function plainMessages(context: BuiltContext): AppMessage[] {
	return context.messages.map(({ message }) => message);
}

/** True when any entry of a list is one that puts a message into the context. */
export function hasMessages(entries: readonly SessionEntry[]): boolean {
	return entries.some((entry) => entryMessage(entry) !== null);
}
