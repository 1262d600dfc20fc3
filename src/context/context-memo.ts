import { checkMessages, isSimplyValid, KNOWN_GOOD, type Violation } from "./check.js";
import type { TracedMessage } from "./context-message.js";
import { type CoreContext, coreContext } from "./core-context.js";
import type { EntrySource } from "./entry-message.js";
import type { Preamble } from "./preamble.js";
import { reusePreamble } from "./preamble-answer.js";
import { noteExtension, sharedLength } from "./shared-length.js";
import type { TracedAnswer } from "./trace.js";

/**
 * Caches results for one log, so that the next context reads only added entries and checks only new messages. It never
 * changes a result. Create a new one for another log.
 */
export class ContextMemo {
	#core: CoreContext | null = null;
	readonly #stages = new Map<string, StageMemo>();
	#preamble: Preamble | null = null;
	/** What hooks added in the middle of the conversation, by contents. */
	readonly additions = new Map<string, TracedMessage>();

	/** The context before hooks. @param entries the log; if it is shorter than last time, it is read again */
	core(entries: EntrySource): CoreContext {
		this.#core = coreContext(entries, this.#core);
		return this.#core;
	}

	/** The previous preamble if it is the same, so that later comparisons are cheap. */
	preamble(next: Preamble): Preamble {
		this.#preamble = reusePreamble(this.#preamble, next);
		return this.#preamble;
	}

	/** The cache for a handler's answers. @param key its index in the chain and its hook */
	stage(key: string): StageMemo {
		const stage = this.#stages.get(key) ?? new StageMemo();
		this.#stages.set(key, stage);
		return stage;
	}
}

/** The last list that resulted from a handler's answer. */
export class StageMemo {
	#messages: readonly TracedMessage[] = [];
	#isValid = false;
	#own: readonly TracedMessage[] = [];

	/** The messages that the hook created, in order. */
	get own(): readonly TracedMessage[] {
		return this.#own;
	}

	/** Freezes a traced answer and checks the part that differs from the previous one. @returns the broken rules */
	check({ messages, own }: TracedAnswer): Violation[] {
		Object.freeze(messages);
		const before = this.#messages;
		const shared = sharedLength(before, messages);
		if (shared === before.length) noteExtension(before, messages);
		const start = this.#isValid ? answeredStart(before, shared) : 0;
		this.#isValid = isSimplyValid(messages, { ...KNOWN_GOOD, start });
		this.#messages = messages;
		this.#own = own;
		return checkMessages(messages, { ...KNOWN_GOOD, start: this.#isValid ? messages.length : 0 });
	}
}

/** The last position up to `end` where all earlier calls of a valid list have their results. */
function answeredStart(valid: readonly TracedMessage[], end: number): number {
	let start = end;
	while (start > 0 && valid[start]?.message.role === "toolResult") start--;
	return start;
}
