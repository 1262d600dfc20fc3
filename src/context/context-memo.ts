import { checkMessages, isPlainlyFine, SHAPES_KNOWN, type Violation } from "./check.js";
import type { TracedMessage } from "./context-message.js";
import { type CoreContext, coreContext } from "./core.js";
import type { EntrySource } from "./entry-message.js";
import { noteExtension, sharedLength } from "./shared-length.js";
import type { TracedAnswer } from "./trace.js";

/**
 * What the computations of one log's contexts have in common, so that the next one does only what is new: entries that
 * were added are read, messages that were not there before are checked. Every result is what it would be without; make a
 * new one when the log is another.
 */
export class ContextMemo {
	#core: CoreContext | null = null;
	readonly #stages = new Map<string, StageMemo>();

	/** The context before hooks. @param entries the log, not shorter than the last time, or it is read anew */
	core(entries: EntrySource): CoreContext {
		this.#core = coreContext(entries, this.#core);
		return this.#core;
	}

	/** What is known of a handler's answers. @param key its place in the chain and its hook */
	stage(key: string): StageMemo {
		const stage = this.#stages.get(key) ?? new StageMemo();
		this.#stages.set(key, stage);
		return stage;
	}
}

/** The last list that a handler's answer was made into. */
export class StageMemo {
	#messages: readonly TracedMessage[] = [];
	#isPlain = false;
	#own: readonly TracedMessage[] = [];

	/** What the hook made itself, in order. */
	get own(): readonly TracedMessage[] {
		return this.#own;
	}

	/** Freezes a traced answer. @returns the rules that it breaks; looks only at what is not as in the one before */
	check({ messages, own }: TracedAnswer): Violation[] {
		Object.freeze(messages);
		const before = this.#messages;
		const shared = sharedLength(before, messages);
		if (shared === before.length) noteExtension(before, messages);
		const start = this.#isPlain ? closedStart(before, shared) : 0;
		this.#isPlain = isPlainlyFine(messages, { ...SHAPES_KNOWN, start });
		this.#messages = messages;
		this.#own = own;
		return checkMessages(messages, { ...SHAPES_KNOWN, start: this.#isPlain ? messages.length : 0 });
	}
}

/** The last position up to `end` of a plainly fine list behind which no result of a call before it stands. */
function closedStart(plain: readonly TracedMessage[], end: number): number {
	let start = end;
	while (start > 0 && plain[start]?.message.role === "toolResult") start--;
	return start;
}
