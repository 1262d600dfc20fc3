import { buildContext } from "../context/build-context.js";
import { ContextMemo } from "../context/context-memo.js";
import type { BuiltContext, TracedMessage } from "../context/context-message.js";
import { coreContext } from "../context/core-context.js";
import { digestContext, RunningDigest } from "../context/digest.js";
import { factsAt, type PastFactInputs, targetAt } from "../context/facts.js";
import { findNativeSummary, type NativeSummary } from "../context/native-compaction.js";
import { type CorePreamble, NO_PREAMBLE, withoutToolsOf, withTools } from "../context/preamble.js";
import { asksTheSame } from "../context/provider-fields.js";
import { readRecordedHooks } from "../context/recorded-hooks.js";
import { coreAt, isSentPreamble, readRecordedPreamble } from "../context/recorded-preamble.js";
import { readRecordedRequest } from "../context/recorded-request.js";
import { StabilityWatch } from "../context/stability.js";
import { describeHookError, hookFailure } from "../errors.js";
import type { HookSession } from "../hooks/context-object.js";
import { type FlagValues, flagValues } from "../hooks/flags.js";
import { hookFileName } from "../hooks/hook-name.js";
import { HookRegistry, type LoadedHook } from "../hooks/hook-registry.js";
import { HookRunner } from "../hooks/runner.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import {
	type ContextRecord,
	isCompactionEntry,
	isMessageEntry,
	RESERVED_ENTRY_TYPES,
	type RequestFacts,
	type SessionEntry,
} from "../log/entry.js";
import { sectionsForTools, toolInfo } from "../resources/system-prompt.js";
import { explainMismatch, type ForeignEntry, hookChanges, type MismatchReason } from "./explain-mismatch.js";
import { watchHandlers } from "./replay.js";
import { createReadOnlySession, createReplaySession, describeTool } from "./replay-session.js";
import { handlerView } from "./session-at.js";

/** The inputs of a session's context: entries and hooks. */
export interface SessionViewOptions {
	cwd: string;
	sessionFile: string | null;
	entries: readonly SessionEntry[];
	hooks: readonly LoadedHook[];
	/** Paths of hooks that are omitted on purpose: their tools are omitted as well. */
	excluded?: ReadonlySet<string>;
	/** The contexts are only tried: `event.trial`. */
	isTrial?: boolean;
	/** Values of flags that replace those that the session recorded. */
	flags: FlagValues;
	/** Finds a model of a request whose facts are not recorded. */
	findModel: PastFactInputs["findModel"];
	/** See `PastFactInputs`. */
	retention: PastFactInputs["retention"];
	hookTimeoutMs: number;
	/** Detects handlers that block the event loop. */
	watch?: HandlerWatch;
	/** Receives a line for each failure of a hook. */
	onHookError(line: string): void;
}

/** A request whose computed context differs from the recorded one. */
export interface Mismatch extends MismatchReason {
	/** Entry index of the reply to the request. */
	entryIndex: number;
	recorded: ContextRecord;
	computed: ComputedRequest;
}

/** Digests of a computed request, as in a record. Without `system` and `tools` if the session does not record them. */
export type ComputedRequest = Pick<ContextRecord, "digest" | "messages" | "system" | "tools" | "provider" | "native">;

const NO_HOOKS: ReadonlySet<string> = new Set();

/** Computes the context of a session at any point, without a model and without writing anything. */
export class SessionView {
	readonly #registry: HookRegistry;
	/** Requests are usually computed in order, each with only a few entries more than the previous one. */
	readonly #memo = new ContextMemo();
	readonly #digests = new RunningDigest();
	readonly #unstable = new Set<string>();
	readonly #hasNative: boolean;
	#started: Promise<void> | null = null;
	/** The time of a request that was not sent: the same for all, so that only unstable hooks differ. */
	readonly #now = Date.now();
	readonly #stability = new StabilityWatch((hook) => this.#unstable.add(hook));

	constructor(private readonly options: SessionViewOptions) {
		this.#registry = new HookRegistry(options.hooks, new Set());
		this.#hasNative = options.entries.some((entry) => isCompactionEntry(entry) && entry.native !== undefined);
	}

	/** Paths of the hooks that answered differently to the same input so far. A second `build` of the same entries finds them. */
	get unstable(): readonly string[] {
		return [...this.#unstable];
	}

	/**
	 * Lets the hooks that were named for this replay register tools when the session starts: their tools count in every request.
	 * Nothing else of what they do then counts.
	 */
	async #start(): Promise<void> {
		const { entries, hooks, cwd, sessionFile, hookTimeoutMs, watch, onHookError, findModel } = this.options;
		const starting = hooks.filter(({ isNamed, handlers }) => isNamed && handlers.session);
		if (starting.length === 0) return;
		const core = () => this.#core(entries.length);
		const log = { entries: Object.freeze(entries.slice(0, 1)) };
		const view = handlerView({ log, last: () => null, core, facts: () => this.#facts(1), findModel });
		const session = createReplaySession({ cwd, sessionFile, length: 1, ...view }, () => {});
		const tools: HookSession["tools"] = {
			get all() {
				return core().tools.map(describeTool);
			},
			get active() {
				return core().tools.map(describeTool);
			},
			get offered() {
				return core().tools.map(describeTool);
			},
			setActive: () => {},
		};
		const runner = new HookRunner({
			registry: new HookRegistry(
				starting.map((hook) => watchHandlers(hook, { onEffect: () => {} })),
				new Set(),
			),
			host: Object.defineProperties({} as HookSession, {
				...Object.getOwnPropertyDescriptors(session),
				tools: { value: tools },
			}),
			hookTimeoutMs: () => hookTimeoutMs,
			...(watch && { watch }),
			onError: (error) => onHookError(describeHookError(hookFailure(error), hookFileName(error.hookPath))),
		});
		const event = {
			type: "session",
			reason: "start",
			isReload: false,
			sessionFile,
			previousSessionFile: null,
		} as const;
		await runner.emitSession({ ...event, entries: log.entries }, new AbortController().signal);
	}

	/**
	 * The context of the entries before index `end`.
	 * @param without paths of hooks to exclude
	 * @param reply index of the reply to the request, whose record has its system prompt, tools and facts; without one, the
	 * records before it count. Default: `end`
	 */
	async build(end: number, without: ReadonlySet<string> = NO_HOOKS, reply = end): Promise<BuiltContext> {
		this.#started ??= this.#start();
		await this.#started;
		const { entries: all, excluded = NO_HOOKS, isTrial = false, ...options } = this.options;
		const { cwd, sessionFile, hookTimeoutMs, watch, onHookError } = options;
		const entries = Object.freeze(all.slice(0, end));
		const preamble = withoutToolsOf(this.#core(reply), new Set([...without, ...excluded]));
		const facts = this.#facts(reply);
		const runner = new HookRunner({
			registry: this.#registry,
			// What extensions may read; hooks receive everything with the event.
			host: createReadOnlySession({
				cwd,
				sessionFile,
				entries,
				messages: () => Object.freeze(coreContext(entries).messages.map(({ message }) => message)),
				flags: facts.flags,
				systemPrompt: preamble.sections,
			}),
			hookTimeoutMs: () => hookTimeoutMs,
			isTrial,
			...(watch && { watch }),
			onError: (error) => onHookError(describeHookError(hookFailure(error), hookFileName(error.hookPath))),
		});
		const handlers = runner.contextStages(() => entries, new AbortController().signal);
		const stages = this.#stability.watch(handlers, entries.length);
		return buildContext(
			entries,
			stages.filter(({ hook }) => !without.has(hook)),
			{ memo: this.#memo, preamble, facts: () => facts },
		);
	}

	/** System prompt and tools before hooks, with the tools of hooks that were named for this replay and not loaded then. */
	#core(reply: number): CorePreamble {
		const { entries, hooks } = this.options;
		const core = coreAt(entries, reply, sectionsForTools) ?? NO_PREAMBLE;
		const recorded = new Set(readRecordedHooks(entries, reply)?.map(({ path }) => path));
		for (const { hook } of core.tools) if (hook !== undefined) recorded.add(hook);
		const added = hooks.flatMap(({ isNamed, path, tools }) =>
			isNamed && !recorded.has(path) ? [...tools.values()].map((tool) => toolInfo(tool, path)) : [],
		);
		return withTools(core, added);
	}

	#facts(reply: number): RequestFacts {
		const { entries, flags: given, findModel, retention } = this.options;
		const defaults = flagValues(this.#registry.flags, {});
		return factsAt(entries, reply, { findModel, retention, defaults, given, now: this.#now });
	}

	/** The request for the last reply before index `end`; `none` if there is no reply. */
	async requestBefore(end: number): Promise<BuiltContext | "none"> {
		const reply = this.#lastReply(end);
		return reply < 0 ? "none" : this.build(reply);
	}

	/**
	 * Computes all recorded requests again, in order, up to the first one that differs.
	 * @returns the number of computed requests, and the one that differs with the reason
	 */
	async verify(): Promise<{ requests: number; mismatch: Mismatch | null }> {
		let requests = 0;
		let verified: readonly TracedMessage[] = [];
		for (const [entryIndex, entry] of this.options.entries.entries()) {
			if (!isMessageEntry(entry) || !entry.context) continue;
			requests++;
			const recorded = entry.context;
			const { end, context } = await this.#recompute(entryIndex, recorded);
			if (!this.#matches(context, recorded, entryIndex)) {
				const sentPreamble = readRecordedPreamble(this.options.entries, entryIndex)?.sent ?? null;
				const reason = await explainMismatch({
					recorded,
					matches: (candidate) => this.#matches(candidate, recorded, entryIndex),
					sent: this.#sent(entryIndex, recorded),
					sentPreamble: isSentPreamble(sentPreamble, recorded) ? sentPreamble : null,
					computed: context,
					native: this.nativeIn(context, entryIndex)?.entryIndex,
					changes: hookChanges(readRecordedHooks(this.options.entries, entryIndex), this.#registry.recorded()),
					verified,
					foreign: this.#lastForeign(entryIndex),
					hooks: this.options.hooks.filter(({ handlers }) => handlers.context).map(({ path }) => path),
					buildWithout: (hooks) => this.build(end, hooks, entryIndex),
				});
				const computed = this.#computed(context, recorded, entryIndex);
				return { requests, mismatch: { entryIndex, recorded, computed, ...reason } };
			}
			verified = context.messages;
		}
		return { requests, mismatch: null };
	}

	/**
	 * The context that matches the record; if none does, that of all entries before the reply. A hook may have saved
	 * entries while the reply was streaming, so every point since the last message is tested.
	 */
	async #recompute(entryIndex: number, recorded: ContextRecord): Promise<{ end: number; context: BuiltContext }> {
		let first: { end: number; context: BuiltContext } | null = null;
		for (let end = entryIndex; end > 0; end--) {
			const context = await this.build(end, NO_HOOKS, entryIndex);
			if (this.#matches(context, recorded, entryIndex)) return { end, context };
			first ??= { end, context };
			if (isMessageEntry(this.options.entries[end - 1])) break;
		}
		return first ?? { end: entryIndex, context: await this.build(entryIndex) };
	}

	/** The request that a reply answered, read from the log; null if it is not recorded or its digest differs. */
	#sent(reply: number, { digest }: ContextRecord): readonly TracedMessage[] | null {
		const sent = readRecordedRequest(this.options.entries, reply);
		return sent && digestContext(sent.map(({ message }) => message)) === digest ? sent : null;
	}

	/** True for a request that was sent like the recorded one. */
	#matches(context: BuiltContext, recorded: ContextRecord, reply: number): boolean {
		const { digest, system, tools, native } = this.#computed(context, recorded, reply);
		const isSame = digest === recorded.digest && system === recorded.system && tools === recorded.tools;
		return isSame && native === recorded.native && asksTheSame(context.provider, recorded.provider);
	}

	#computed(context: BuiltContext, { system, tools }: ContextRecord, reply: number): ComputedRequest {
		const { messages, preamble, provider } = context;
		const native = this.nativeIn(context, reply);
		return {
			digest: this.#digests.update(messages),
			messages: messages.length,
			...(system !== undefined && { system: preamble.systemDigest }),
			...(tools !== undefined && { tools: preamble.toolsDigest }),
			...(provider && { provider }),
			...(native && { native: native.entryIndex }),
		};
	}

	/** The compaction that a computed request has in its provider's own form; null for none. @param reply as in `build` */
	nativeIn({ messages, length }: BuiltContext, reply: number): NativeSummary | null {
		const { entries, findModel } = this.options;
		const target = this.#hasNative ? targetAt(entries, reply, findModel) : null;
		return target && findNativeSummary(messages, { length, at: (index) => entries[index] }, target);
	}

	#lastForeign(end: number): ForeignEntry | null {
		for (let index = end - 1; index > 0; index--) {
			const entry = this.options.entries[index];
			if (entry === undefined || RESERVED_ENTRY_TYPES.has(entry.type)) continue;
			const { type } = entry;
			// All extensions have the same types of entries.
			const extension = "extension" in entry && typeof entry.extension === "string" ? entry.extension : null;
			if (extension !== null && !this.options.hooks.some(({ name }) => name === extension))
				return { entryIndex: index, type, extension };
			if (!this.#registry.knowsEntryType(type)) return { entryIndex: index, type };
		}
		return null;
	}

	#lastReply(end: number): number {
		for (let index = end - 1; index > 0; index--) {
			const entry = this.options.entries[index];
			if (isMessageEntry(entry) && entry.message.role === "assistant") return index;
		}
		return -1;
	}
}
