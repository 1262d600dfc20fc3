import { buildContext, type ContextStage } from "../context/build-context.js";
import { type CacheLoss, findCacheLoss } from "../context/cache-loss.js";
import type { BuiltContext, ContextProblem, TracedMessage } from "../context/context-message.js";
import { entryMessage } from "../context/entry-message.js";
import { estimateAll, estimateTokens } from "../context/tokens.js";
import type { AppMessage, SessionEntry } from "../log/entry.js";

/** The part of a log that the context reads. */
export interface ContextLog {
	readonly length: number;
	readonly entries: readonly SessionEntry[];
	entry(index: number): SessionEntry | undefined;
	/** Index of the last entry of a type before an index; -1 for none. */
	findLast(type: string, before?: number): number;
}

/** What the context of a session is computed from. */
export interface SessionContextOptions {
	log(): ContextLog;
	/** @param length number of entries */
	stages(entries: () => readonly SessionEntry[], signal: AbortSignal, length: number): ContextStage[];
	onProblem(problem: ContextProblem): void;
	/** Called when the context is no longer what it was with something added at the end. */
	onChange(context: BuiltContext): void;
}

const EMPTY: BuiltContext = { messages: [], hidden: [], edits: [], problems: [] };

/** Owns the computed context of a session: recomputes it from the entries, never from its own output. */
export class SessionContext {
	#current: BuiltContext = EMPTY;
	/** Number of entries that `#current` was computed from. */
	#computedAt = 0;
	#running: { log: ContextLog; length: number; result: Promise<BuiltContext> } | null = null;
	/** Tokens that the provider counted for the context it was last given, and that context. */
	#counted: { messages: readonly TracedMessage[]; tokens: number } | null = null;

	#lastRequest: BuiltContext | null = null;

	constructor(private readonly options: SessionContextOptions) {}

	/** The context that the model was last given; null before the first request. */
	get lastRequest(): BuiltContext | null {
		return this.#lastRequest;
	}

	/** Notes that a context goes to the model. @returns what it loses of the provider's cache; null for nothing */
	noteRequest(context: BuiltContext): CacheLoss | null {
		const before = this.#lastRequest;
		this.#lastRequest = context;
		return before && findCacheLoss(before, context);
	}

	/** The context as last computed. */
	get current(): BuiltContext {
		return this.#current;
	}

	/** The context as last computed and the messages added to the log since. */
	get messages(): readonly AppMessage[] {
		const log = this.options.log();
		const messages = this.#current.messages.map(({ message }) => message);
		for (let index = this.#computedAt; index < log.length; index++) {
			const message = entryMessage(log.entry(index));
			if (message) messages.push(message);
		}
		return Object.freeze(messages);
	}

	/** Computes the context now. Calls that overlap share one run, unless the log has grown since it began. */
	rebuild(signal: AbortSignal): Promise<BuiltContext> {
		const log = this.options.log();
		const { length } = log;
		const running = this.#running;
		if (running?.log === log && running.length === length) return running.result;
		// One at a time: a slower, older run must not have the last word.
		const before = running ? running.result.catch(() => {}) : Promise.resolve();
		const result = before
			.then(() => this.#compute(signal))
			.finally(() => {
				if (this.#running?.result === result) this.#running = null;
			});
		this.#running = { log, length, result };
		return result;
	}

	/** Forgets everything: the log is another one now. */
	reset(): void {
		this.#current = EMPTY;
		this.#computedAt = 0;
		this.#counted = null;
		this.#lastRequest = null;
	}

	/** Keeps what the provider counted for the current context and the reply that followed it. */
	count(tokens: number): void {
		this.#counted = tokens > 0 ? { messages: this.#current.messages, tokens } : null;
	}

	/** Tokens of the next request: what the provider counted where that still holds, estimates for the rest. */
	tokens(): number {
		const added = this.#addedTokens();
		const counted = this.#counted;
		const { messages } = this.#current;
		if (!counted || !isPrefix(counted.messages, messages)) {
			return estimateAll(messages.map(({ message }) => message)) + added;
		}
		// The reply to the counted context is in the count, not in its list.
		let tokens = counted.tokens + added;
		for (let i = counted.messages.length; i < messages.length; i++) {
			const message = messages[i]?.message;
			if (message && !(i === counted.messages.length && message.role === "assistant"))
				tokens += estimateTokens(message);
		}
		return tokens;
	}

	#addedTokens(): number {
		const log = this.options.log();
		const isCounted = this.#counted?.messages === this.#current.messages;
		let tokens = 0;
		for (let index = this.#computedAt, first = true; index < log.length; index++) {
			const message = entryMessage(log.entry(index));
			if (!message) continue;
			if (!(first && isCounted && message.role === "assistant")) tokens += estimateTokens(message);
			first = false;
		}
		return tokens;
	}

	async #compute(signal: AbortSignal): Promise<BuiltContext> {
		const log = this.options.log();
		const { length } = log;
		const source = {
			length,
			at: (index: number) => log.entry(index),
			lastOfType: (type: string) => log.findLast(type, length),
		};
		const stages = this.options.stages(() => entriesUpTo(log, length), signal, length);
		const context = await buildContext(source, stages, { onProblem: this.options.onProblem });
		const before = this.#current;
		this.#current = context;
		this.#computedAt = length;
		if (!isPrefix(before.messages, context.messages)) this.options.onChange(context);
		return context;
	}
}

/** The log as it was when the computation began, also when something was appended meanwhile. */
function entriesUpTo(log: ContextLog, length: number): readonly SessionEntry[] {
	const { entries } = log;
	return entries.length === length ? entries : Object.freeze(entries.slice(0, length));
}

function isPrefix(start: readonly TracedMessage[], whole: readonly TracedMessage[]): boolean {
	return start.length <= whole.length && start.every((item, i) => item.message === whole[i]?.message);
}
