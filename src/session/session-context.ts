import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import { buildContext, type ContextStage } from "../context/build-context.js";
import { type AddedEntry, type CacheLoss, findCacheLoss } from "../context/cache-loss.js";
import { Calibration, countsOther, inputTokens, type ModelName } from "../context/calibration.js";
import { ContextMemo } from "../context/context-memo.js";
import type { BuiltContext, ContextProblem } from "../context/context-message.js";
import { type EntrySource, entryMessage } from "../context/entry-message.js";
import { type FactInputs, factsAt, type PastFactInputs, requestFacts, targetAt } from "../context/facts.js";
import { findNativeSummary, type RequestTarget } from "../context/native-compaction.js";
import { type CorePreamble, NO_PREAMBLE, type Preamble, plainPreamble } from "../context/preamble.js";
import { HooksRecorder } from "../context/recorded-hooks.js";
import { PreambleRecorder } from "../context/recorded-preamble.js";
import { RequestRecorder } from "../context/recorded-request.js";
import { type ContextRequest, RequestMemo, TokenSum } from "../context/request-memo.js";
import { sharedLength } from "../context/shared-length.js";
import { estimateTokens } from "../context/tokens.js";
import type { AppMessage, ContextRecord, RecordedHook, RequestFacts, SessionEntry } from "../log/entry.js";
import { type ContextLog, entriesUpTo, sourceOf } from "./log-view.js";

/** The log as the stages of a context read it. */
export interface StageInput {
	entries(): readonly SessionEntry[];
	/** Whether an entry has one of these types. */
	hasType(types: readonly string[]): boolean;
	/** Number of entries. */
	length: number;
}

/** What the log has of a past request besides its entries. */
export interface PastRequest {
	/** System prompt and tools before hooks; null if the log does not have them, and the current ones are used. */
	preamble: CorePreamble | null;
	facts: RequestFacts;
}

export interface SessionContextOptions {
	log(): ContextLog;
	stages(input: StageInput, signal: AbortSignal): ContextStage[];
	/** The system prompt and tools of the next request before hooks: the same object until they change. */
	preamble(): CorePreamble;
	/** Path of the hook to which entries of a type belong; null for none. */
	ownerOf(type: string): string | null;
	/** The model of the next request; undefined when none is chosen. */
	model(): Model<Api> | undefined;
	/** What handlers may know of a request besides its model. */
	factInputs(): Pick<FactInputs, "retention" | "flags"> & Pick<PastFactInputs, "findModel">;
	/** The files of the hooks that can change a request. */
	hooks(): readonly RecordedHook[];
	/** @param handler whose answer was dropped */
	onProblem(problem: ContextProblem, handler?: object): void;
	/** Called when the context changed other than by new messages at its end. */
	onChange(context: BuiltContext): void;
}

/** Estimated tokens of messages that the last computed context does not have; `afterReply`: without the counted reply. */
const NOTHING_ADDED = () => ({ end: 0, tokens: 0, afterReply: 0, isEmpty: true });

const EMPTY: BuiltContext = {
	length: 0,
	messages: [],
	preamble: plainPreamble(NO_PREAMBLE),
	hidden: [],
	edits: [],
	problems: [],
	facts: null,
	provider: null,
	outputSchema: null,
	isChanged: false,
};

/** Owns the context of a session: always computes it from the entries, never from its own output. */
export class SessionContext {
	#current: BuiltContext = EMPTY;
	/** Number of entries from which `#current` was computed. */
	#computedAt = 0;
	/** The preamble before hooks from which it was computed. */
	#computedFrom: CorePreamble = NO_PREAMBLE;
	#running: { log: ContextLog; length: number; core: CorePreamble; result: Promise<BuiltContext> } | null = null;
	/** The last context sent, and the tokens that the provider counted for it and its reply. */
	#counted: (Pick<BuiltContext, "messages" | "preamble"> & { tokens: number; model: ModelName }) | null = null;
	/** Estimated tokens of the messages of `#current`. */
	#estimated = 0;
	/** Those after the counted context and its reply; null when `#current` does not continue the counted context. */
	#uncounted: number | null = null;
	/** Estimated tokens of the messages in `[#computedAt, end)`; later entries are added when they are in the log. */
	#added = NOTHING_ADDED();
	/** What the replies and refusals of the models say about sizes. */
	readonly calibration = new Calibration();
	#lastRequest: BuiltContext | null = null;
	readonly #recorder = new RequestRecorder();
	readonly #preambles = new PreambleRecorder();
	readonly #hooks = new HooksRecorder();
	// Earlier results for this log, so that the cost of a request depends only on what is new.
	#memo = new ContextMemo();
	#requests = new RequestMemo();
	#estimate = new TokenSum();
	#types = new TypeMemo();
	/** Faults of each log that were reported. */
	readonly #reportedFaults = new WeakMap<ContextLog, Set<string>>();

	constructor(private readonly options: SessionContextOptions) {}

	/** The last context sent to the model; null before the first request. */
	get lastRequest(): BuiltContext | null {
		return this.#lastRequest;
	}

	/** Records that a context is sent. @returns what the provider gets again uncached; null for nothing */
	noteRequest(context: BuiltContext): CacheLoss | null {
		const before = this.#lastRequest;
		this.#lastRequest = context;
		return before && this.findLoss(before, context);
	}

	/** Compares two requests of the log. @returns what the provider gets again uncached; null for nothing */
	findLoss(previous: BuiltContext, current: BuiltContext): CacheLoss | null {
		const { log, ownerOf } = this.options;
		const added: AddedEntry[] = [];
		for (let index = previous.length; index < current.length; index++) {
			const type = log().typeOf(index);
			if (type !== undefined) added.push({ type, hook: ownerOf(type) });
		}
		return findCacheLoss(previous, current, added);
	}

	/** The record of a context that is sent to the model, for the log: what hooks changed and read, and the preamble. */
	describeRequest(
		context: BuiltContext,
		model: RequestTarget,
	): Pick<ContextRecord, "shape" | "system" | "tools" | "preamble" | "facts" | "provider" | "native" | "hooks"> {
		const log = this.options.log();
		const entries = sourceOf(log, log.length);
		const shape = this.#recorder.describe(context, entries);
		const { systemDigest: system, toolsDigest: tools } = context.preamble;
		const preamble = this.#preambles.describe(context.preamble, entries);
		const hooks = this.#hooks.describe(this.options.hooks(), entries);
		const { facts, provider, messages, length } = context;
		const native = findNativeSummary(messages, sourceOf(log, length), model);
		return {
			...(shape && { shape }),
			system,
			tools,
			preamble,
			...(facts && { facts }),
			...(provider && { provider }),
			...(native && { native: native.entryIndex }),
			...(hooks && { hooks }),
		};
	}

	/** The last computed context in the form in which it is sent. */
	request(): ContextRequest {
		return this.#requests.request(this.#current.messages);
	}

	/** The last computed context. */
	get current(): BuiltContext {
		return this.#current;
	}

	/** The system prompt and tools of the last computed context; those before hooks when another model or tools are used since. */
	get preamble(): Preamble {
		const core = this.options.preamble();
		return core === this.#computedFrom ? this.#current.preamble : plainPreamble(core);
	}

	/** The last computed context, and the messages added to the log since. */
	get messages(): readonly AppMessage[] {
		const log = this.options.log();
		const messages = this.#current.messages.map(({ message }) => message);
		for (let index = this.#computedAt; index < log.length; index++) {
			const message = entryMessage(log.entry(index));
			if (message) messages.push(message);
		}
		return Object.freeze(messages);
	}

	/** Computes the context. Overlapping calls share one computation unless its input has changed since it began. */
	rebuild(signal: AbortSignal): Promise<BuiltContext> {
		const log = this.options.log();
		const core = this.options.preamble();
		const { length } = log;
		const running = this.#running;
		if (running?.log === log && running.length === length && running.core === core) return running.result;
		// One at a time: a slower, older computation must not overwrite a newer result.
		const before = running ? running.result.catch(() => {}) : Promise.resolve();
		const result = before
			.then(() => this.#compute(signal))
			.finally(() => {
				if (this.#running?.result === result) this.#running = null;
			});
		this.#running = { log, length, core, result };
		return result;
	}

	/** Call after the log was replaced: discards all state. */
	reset(): void {
		this.#current = EMPTY;
		this.#computedAt = 0;
		this.#computedFrom = NO_PREAMBLE;
		this.#counted = null;
		this.#lastRequest = null;
		this.#recorder.reset();
		this.#preambles.reset();
		this.#hooks.reset();
		this.#estimated = 0;
		this.#uncounted = null;
		this.#added = NOTHING_ADDED();
		this.calibration.forgetLog();
		this.#memo = new ContextMemo();
		this.#requests = new RequestMemo();
		this.#estimate = new TokenSum();
		this.#types = new TypeMemo();
	}

	/**
	 * Records that the reply to the last request is in the log.
	 * @param record of that request
	 */
	noteReply(entryIndex: number, reply: AssistantMessage, record: Partial<ContextRecord> = {}): void {
		this.#recorder.recorded(entryIndex);
		this.#preambles.recorded(entryIndex);
		this.#hooks.recorded(entryIndex);
		const { usage, provider, model: id } = reply;
		const model = { provider, id };
		// A hook may have computed the context again while the reply arrived.
		const { messages, preamble } = this.#lastRequest ?? this.#current;
		this.#counted = usage.totalTokens > 0 ? { messages, preamble, tokens: usage.totalTokens, model } : null;
		const { estimate = 0 } = record;
		if (reply.stopReason !== "error" && !countsOther(record))
			this.calibration.noteAccepted(model, estimate, inputTokens(reply));
		this.#countCurrent();
	}

	/** Records that the model refused the last request as too long. */
	noteRefusal(model: ModelName, errorMessage: string): void {
		this.calibration.noteRefusal(model, errorMessage, this.estimate());
		this.#counted = null;
		this.#countCurrent();
	}

	/**
	 * Tokens of the next request: the provider's count for the part that is unchanged, calibrated estimates for the rest. 0
	 * without messages.
	 */
	tokens(): number {
		this.#countAdded();
		const { tokens, afterReply } = this.#added;
		const counted = this.#counted;
		if (counted && this.#uncounted !== null && isSameModel(counted.model, this.options.model())) {
			const preamble = this.preamble.tokens - counted.preamble.tokens;
			return Math.ceil(counted.tokens + this.calibrated(this.#uncounted + afterReply + preamble));
		}
		const estimated = this.#estimated + tokens;
		return estimated === 0 ? 0 : Math.ceil(this.calibrated(estimated + this.preamble.tokens));
	}

	/** `tokens()` before calibration, the measure of all other estimates. */
	estimatedTokens(): number {
		return Math.ceil(this.tokens() / this.calibration.ratio(this.options.model()));
	}

	/** The facts of a request that is computed from these entries and sent now. */
	facts(entries: EntrySource): RequestFacts {
		const model = this.options.model();
		if (model) this.calibration.readBack(model, entries);
		const { calibration } = this;
		return requestFacts({ ...this.options.factInputs(), model, calibration, entries, time: Date.now() });
	}

	/** The facts of the request that the entry at index `end` answered. */
	pastFacts(end: number): RequestFacts {
		const { flags, ...inputs } = this.options.factInputs();
		const log = this.options.log();
		return factsAt(sourceOf(log, log.length), end, { ...inputs, defaults: flags, given: {}, now: Date.now() });
	}

	/** What the request that the entry at index `end` answered was sent to, or one at that point would be; null if unknown. */
	pastTarget(end: number): RequestTarget | null {
		const log = this.options.log();
		return targetAt(sourceOf(log, log.length), end, this.options.factInputs().findModel);
	}

	/** Estimated tokens in those of the current model. */
	calibrated(estimated: number): number {
		return estimated * this.calibration.ratio(this.#calibratedModel());
	}

	/** Estimated tokens of the last computed context with system prompt and tools, before calibration. */
	estimate(): number {
		return this.#estimated + this.preamble.tokens;
	}

	#calibratedModel(): ModelName | undefined {
		const model = this.options.model();
		const log = this.options.log();
		if (model) this.calibration.readBack(model, { length: log.length, at: (index) => log.entry(index) });
		return model;
	}

	#countCurrent(): void {
		this.#added = { ...NOTHING_ADDED(), end: this.#computedAt };
		const { messages } = this.#current;
		this.#estimated = this.#estimate.update(messages);
		this.#uncounted = null;
		const counted = this.#counted;
		if (!counted || sharedLength(counted.messages, messages) < counted.messages.length) return;
		// The reply to the counted context is part of the count but not of its message list.
		this.#uncounted = 0;
		for (let i = counted.messages.length; i < messages.length; i++) {
			const message = messages[i]?.message;
			if (message && !(i === counted.messages.length && message.role === "assistant"))
				this.#uncounted += estimateTokens(message);
		}
	}

	#countAdded(): void {
		const log = this.options.log();
		const added = this.#added;
		const isReplyCounted = this.#uncounted !== null && this.#counted?.messages.length === this.#current.messages.length;
		for (; added.end < log.length; added.end++) {
			const message = entryMessage(log.entry(added.end));
			if (!message) continue;
			const tokens = estimateTokens(message);
			added.tokens += tokens;
			if (!(added.isEmpty && isReplyCounted && message.role === "assistant")) added.afterReply += tokens;
			added.isEmpty = false;
		}
	}

	async #compute(signal: AbortSignal): Promise<BuiltContext> {
		const log = this.options.log();
		const { length } = log;
		const input: StageInput = {
			entries: () => entriesUpTo(log, length),
			hasType: (types) => this.#types.has(types, log, length),
			length,
		};
		const stages = this.options.stages(input, signal);
		const onProblem = (problem: ContextProblem, handler?: object) => this.#report(problem, log, handler);
		const preamble = this.options.preamble();
		const entries = sourceOf(log, length);
		const facts = () => this.facts(entries);
		const context = await buildContext(entries, stages, { onProblem, memo: this.#memo, preamble, facts });
		const before = this.#current.messages;
		this.#current = context;
		this.#computedAt = length;
		this.#computedFrom = preamble;
		this.#countCurrent();
		if (sharedLength(before, context.messages) < before.length) this.options.onChange(context);
		return context;
	}

	/** Reports a fault of the log once, although each computation finds it again. */
	#report(problem: ContextProblem, log: ContextLog, handler?: object): void {
		if (problem.hook === null) {
			const fault = JSON.stringify(problem);
			const reported = this.#reportedFaults.get(log) ?? new Set();
			if (reported.has(fault)) return;
			this.#reportedFaults.set(log, reported.add(fault));
		}
		this.options.onProblem(problem, handler);
	}
}

/** Remembers the types of a log's entries, so that each request reads only those of added entries. */
class TypeMemo {
	readonly #types = new Set<string | undefined>();
	#end = 0;

	/** Whether one of the first `length` entries has one of these types. */
	has(types: readonly string[], log: Pick<ContextLog, "typeOf" | "mayContain">, length: number): boolean {
		if (!log.mayContain(types)) return false;
		for (; this.#end < length; this.#end++) this.#types.add(log.typeOf(this.#end));
		return types.some((type) => this.#types.has(type));
	}
}

function isSameModel(a: ModelName, b: ModelName | undefined): boolean {
	return a.provider === b?.provider && a.id === b.id;
}
