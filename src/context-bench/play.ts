import type { AssistantMessage, Context } from "@mariozechner/pi-ai";
import type { CompactionTokens } from "../commands/compaction-request.js";
import { buildContext } from "../context/build-context.js";
import { ContextMemo } from "../context/context-memo.js";
import type { BuiltContext } from "../context/context-message.js";
import { convertToLlm } from "../context/convert.js";
import { describeProblem } from "../context/describe-problem.js";
import { entryTime } from "../context/entry-message.js";
import { ASSUMED_LIFETIME_MS, factsAt } from "../context/facts.js";
import { type CorePreamble, NO_PREAMBLE, withTools } from "../context/preamble.js";
import { readRecordedHooks } from "../context/recorded-hooks.js";
import { coreOfReply } from "../context/recorded-preamble.js";
import { StabilityWatch } from "../context/stability.js";
import { describeHookError, hookFailure } from "../errors.js";
import { flagValues } from "../hooks/flags.js";
import { hookFileName } from "../hooks/hook-name.js";
import { HookRegistry, type LoadedHook } from "../hooks/hook-registry.js";
import { HookRunner } from "../hooks/runner.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import { isMessageEntry, isUserMessageEntry, type RequestFacts, type SessionEntry } from "../log/entry.js";
import { type EventPoint, eventPoints } from "../replay/event-points.js";
import { watchHandlers } from "../replay/replay.js";
import { handlerView } from "../replay/session-at.js";
import type { SessionViewOptions } from "../replay/session-view.js";
import { sectionsForTools, toolInfo } from "../resources/system-prompt.js";
import { EXPIRY_NOTICE_MS } from "../session/run/cache-timer.js";
import { TimeSlices } from "../util/time-slices.js";
import type { AskedModels } from "./remembered-answers.js";
import { compactShadow } from "./shadow-compaction.js";
import { ShadowLog } from "./shadow-log.js";
import { createShadowSession, type ShadowObserver } from "./shadow-session.js";

/** Hooks that change the requests of a session. */
export interface Strategy {
	/** As on the command line, such as `pi:clear` or `./a.ts+./b.ts`; `none`. */
	name: string;
	/** In load order, after those that every session has. */
	hooks: readonly LoadedHook[];
}

/** A recorded session. */
export interface BenchSession {
	/** Its name or its first prompt. */
	name: string;
	/** null for one that is no file. */
	path: string | null;
	cwd: string;
	entries: readonly SessionEntry[];
}

/** What a strategy is played with. */
export interface PlayOptions extends Pick<SessionViewOptions, "findModel" | "retention" | "flags"> {
	hookTimeoutMs: number;
	/** Detects handlers that block the event loop. */
	watch?: HandlerWatch;
	signal: AbortSignal;
	/** Asks models for summaries, and what hooks ask them. Absent: pi's own summaries stand in for their answers. */
	ask?: AskedModels;
	/** Receives the share of the session that was played, 0 to 1, between its slices. */
	onPlayed?(share: number): void;
}

/** A request as it would have been sent. */
export interface PlayedRequest {
	/** Index of its reply in the recording. */
	reply: number;
	message: AssistantMessage;
	context: BuiltContext;
	/** The entries that it was computed from: the recorded ones, and those that the strategy saved. */
	entries(): readonly SessionEntry[];
}

/** Receives the requests of a strategy, in order, and what a recording does not tell. */
export interface PlayObserver extends ShadowObserver {
	/** @returns the tokens of the request, which the provider then has */
	onRequest(request: PlayedRequest): number;
}

/**
 * Plays a recorded session as if a strategy had run: its handlers receive every event that the entries record, and what they
 * save, change and offer counts. The replies are the recorded ones.
 */
export async function playStrategy(
	session: BenchSession,
	strategy: Strategy,
	options: PlayOptions,
	observer: PlayObserver,
): Promise<void> {
	const play = new Play(session, strategy, options, observer);
	// Keys are read and the screen is drawn in between.
	const slices = new TimeSlices();
	for (const point of eventPoints(session.entries, session.path)) {
		if (options.signal.aborted) return;
		await play.at(point);
		if (options.signal.aborted || !slices.isOver) continue;
		options.onPlayed?.(point.end / session.entries.length);
		await slices.next();
	}
}

/** Requests that are computed twice, to find hooks that answer differently to the same entries. */
const MAX_STABILITY_CHECKS = 5;

class Play {
	readonly #log: ShadowLog;
	readonly #registry: HookRegistry;
	readonly #runner: HookRunner;
	readonly #memo = new ContextMemo();
	readonly #recorded: readonly SessionEntry[];
	/** Calls that the strategy blocked; they have no result of a tool. */
	readonly #blocked = new Set<string>();
	/** Names of the tools that a handler has left on; null: those of the recording. */
	#active: readonly string[] | null = null;
	#last: { built: BuiltContext; length: number } | null = null;
	#sent: { tokens: number; time: number; model: string; built: BuiltContext } | null = null;
	/** ms since the epoch while the session is idle; null: the time of the last entry. */
	#idleSince: number | null = null;
	/** The last reply whose record has system prompt and tools, and the number of entries that were searched. */
	readonly #preambles: { last: number | null; searched: number } = { last: null, searched: 0 };
	#requests = 0;
	#isSecondAnswer = false;
	readonly #stability = new StabilityWatch((path) => {
		const [hook, kind] = [hookFileName(path), "unstable"];
		this.observer.onProblem({ hook, kind, reason: "it returns different results for the same entries" });
	});
	/** Number of recorded entries that exist now. */
	#end = 1;

	constructor(
		session: BenchSession,
		private readonly strategy: Strategy,
		private readonly options: PlayOptions,
		private readonly observer: PlayObserver,
	) {
		this.#recorded = session.entries;
		this.#log = new ShadowLog(session.entries);
		const onEffect = () => observer.onUnplayed("programs that were not run");
		const hooks = strategy.hooks.map((hook) => watchHandlers(hook, { onEffect }));
		this.#registry = new HookRegistry(hooks, new Set());
		const { hookTimeoutMs, watch } = options;
		this.#runner = new HookRunner({
			registry: this.#registry,
			host: createShadowSession({
				...{ cwd: session.cwd, sessionFile: session.path },
				read: handlerView({
					log: this.#log,
					last: () => this.#last,
					core: () => this.#core(this.#end),
					facts: () => this.#facts(this.#end),
					findModel: options.findModel,
				}),
				findModel: options.findModel,
				save: (entries) => this.#save(entries),
				setActive: (names) => {
					this.#active = names;
				},
				tools: () => this.#core(this.#end).tools,
				rebuild: async () => void (await this.#build(this.#end)),
				observer,
				...(options.ask && { ask: options.ask }),
				compact: () => this.#compact(session.path),
				warmStart: (model, context) => this.#warmStart(nameOf(model.provider, model.id), context),
			}),
			hookTimeoutMs: () => hookTimeoutMs,
			...(watch && { watch }),
			onError: (error) => {
				const reason = describeHookError(hookFailure(error), hookFileName(error.hookPath));
				this.#report(error.hookPath, `${error.event} ${error.reason}`, reason);
			},
		});
	}

	async at({ end, event }: EventPoint): Promise<void> {
		const { signal } = this.options;
		this.#end = end;
		this.#log.extend(end);
		const runner = this.#runner;
		switch (event.type) {
			case "context":
				return this.#request(end);
			case "session":
				await runner.emitSession({ ...event, entries: this.#log.entries }, signal);
				return;
			case "before_request": {
				const { messages = [] } = this.#last?.built ?? {};
				const summary = { messageCount: messages.length, tokens: this.#sent?.tokens ?? 0 };
				const stop = await runner.gateRequest(Object.freeze({ ...event, ...summary }), signal);
				if (stop !== null) this.observer.onUnplayed("stopped requests");
				return;
			}
			case "prompt": {
				const decision = await runner.gatePrompt(event, signal);
				if ("stop" in decision || "handled" in decision) this.observer.onUnplayed("prompts that were not sent");
				else if (decision.text !== event.text) this.#log.changePrompt(end, decision.text);
				return;
			}
			case "tool_call": {
				const decision = await runner.gateToolCall(event, (input) => input, signal);
				if ("blocked" in decision) {
					this.#blocked.add(event.toolCallId);
					this.observer.onUnplayed("blocked calls");
				} else if (decision.changed) this.observer.onUnplayed("calls with other arguments");
				return;
			}
			case "tool_result": {
				if (this.#blocked.has(event.toolCallId)) return;
				const { content, isError } = await runner.changeToolResult(event, signal);
				if (content.length !== event.content.length || content.some((block, at) => block !== event.content[at]))
					this.#log.changeResult(end, event.toolCallId, { content, isError });
				return;
			}
			case "agent_settled":
				await runner.emit(event, signal);
				return this.#idle(end);
			case "user_bash":
				await runner.gateUserBash(event, signal);
				return;
			default:
				await runner.emit(event, signal);
		}
	}

	/** Computes the context at a point; it is a request if the next entry is its reply. */
	async #request(end: number): Promise<void> {
		const { built } = await this.#build(end);
		if (this.#requests++ < MAX_STABILITY_CHECKS) await this.#checkStability(end);
		const entry = this.#recorded[end];
		if (!isMessageEntry(entry) || entry.message.role !== "assistant") return;
		const { message } = entry;
		const entries = () => this.#log.entries;
		const tokens = this.observer.onRequest({ reply: end, message, context: built, entries });
		this.#sent = { tokens, time: message.timestamp, model: nameOf(message.provider, message.model), built };
	}

	/** Only a second answer shows that a hook is unstable. What else goes wrong in it was reported before. */
	async #checkStability(end: number): Promise<void> {
		this.#isSecondAnswer = true;
		await this.#build(end);
		this.#isSecondAnswer = false;
	}

	#report(hookPath: string, kind: string, reason: string): void {
		if (!this.#isSecondAnswer) this.observer.onProblem({ hook: hookFileName(hookPath), kind, reason });
	}

	/** Plays the time until the next prompt: a session that ends here was left open. */
	async #idle(end: number): Promise<void> {
		const sent = this.#sent;
		if (!sent || !this.#registry.has("cache_expiring") || this.#wasLoaded(end)) return;
		const { lifetimeMs } = this.#facts(end).cache;
		const time = sent.time + (lifetimeMs ?? ASSUMED_LIFETIME_MS) - EXPIRY_NOTICE_MS;
		const next = this.#recorded.slice(end).find((entry) => isUserMessageEntry(entry));
		if (time < this.#time(end) || (next && entryTime(next) < time)) return;
		this.#idleSince = time;
		const { warmTokens } = this.#facts(end).cache;
		const event = { type: "cache_expiring", warmTokens, expiresInMs: EXPIRY_NOTICE_MS } as const;
		if (warmTokens > 0) await this.#runner.emit(event, this.options.signal);
		this.#idleSince = null;
	}

	async #compact(sessionFile: string | null): Promise<CompactionTokens> {
		const { built, facts } = await this.#build(this.#end);
		const { entries } = this.#log;
		const { model } = facts;
		return compactShadow({
			...{ context: built, entries, sessionFile, hooks: this.#runner, signal: this.options.signal },
			model: model && this.options.findModel(model.provider, model.id),
			append: (entry) => {
				this.#log.append([entry]);
				return this.#log.entries;
			},
			observer: this.observer,
			...(this.options.ask && { ask: this.options.ask }),
		});
	}

	/** A request of a hook costs less if it continues the last one of the session. */
	#warmStart(model: string, { systemPrompt, messages }: Context): { tokens: number; messages: number } {
		const { lifetimeMs } = this.#facts(this.#end).cache;
		const sent = this.#warmRequest(model, this.#time(this.#end), lifetimeMs);
		if (!sent || systemPrompt !== sent.built.preamble.systemPrompt) return { tokens: 0, messages: 0 };
		const had = convertToLlm(sent.built.messages.map(({ message }) => message));
		const isSame = had.every((message, at) => JSON.stringify(message) === JSON.stringify(messages[at]));
		return isSame ? { tokens: sent.tokens, messages: had.length } : { tokens: 0, messages: 0 };
	}

	async #build(end: number): Promise<{ built: BuiltContext; facts: RequestFacts }> {
		const log = this.#log;
		const entries = log.source();
		const facts = this.#facts(end);
		const stages = this.#runner.contextStages(
			() => log.entries,
			this.options.signal,
			(types) => log.hasType(types),
		);
		const watched = this.#stability.watch(stages, entries.length);
		const built = await buildContext(entries, watched, {
			...{ memo: this.#memo, preamble: this.#core(end) },
			facts: () => facts,
			onProblem: (problem) => {
				if (problem.hook === null) return;
				const reason = describeProblem(problem);
				const kind = problem.rule === "answer_has_known_fields" ? reason : problem.rule;
				this.#report(problem.hook, kind, `${reason}; its answer was dropped`);
			},
		});
		this.#last = { built, length: entries.length };
		return { built, facts };
	}

	/** As `coreAt`, without reading all of a session that records none again for each request. */
	#recordedCore(end: number): CorePreamble {
		for (; this.#preambles.searched <= end; this.#preambles.searched++) {
			const entry = this.#recorded[this.#preambles.searched];
			if (isMessageEntry(entry) && entry.context?.preamble) this.#preambles.last = this.#preambles.searched;
		}
		const { last } = this.#preambles;
		return (last !== null && coreOfReply(this.#recorded, last, sectionsForTools)) || NO_PREAMBLE;
	}

	/** System prompt and tools of the recording, with the tools of the strategy. */
	#core(end: number): CorePreamble {
		const core = this.#recordedCore(end);
		const recorded = new Set(readRecordedHooks(this.#recorded, end)?.map(({ path }) => path));
		for (const { hook } of core.tools) if (hook !== undefined) recorded.add(hook);
		const added = this.strategy.hooks.flatMap((hook) =>
			hook.scope === "builtin" || recorded.has(hook.path)
				? []
				: [...hook.tools.values()].map((tool) => toolInfo(tool, hook.path)),
		);
		const all = withTools(core, added);
		const active = this.#active;
		return active ? { ...all, tools: Object.freeze(all.tools.filter(({ name }) => active.includes(name))) } : all;
	}

	/** The time of the entry before `end`, ms since the epoch. */
	#time(end: number): number {
		return this.#idleSince || entryTime(this.#recorded[end - 1]) || (this.#sent?.time ?? 0);
	}

	#facts(end: number): RequestFacts {
		const { findModel, retention, flags: given } = this.options;
		const defaults = flagValues(this.#registry.flags, {});
		const now = this.#time(end);
		const facts = factsAt(this.#recorded, end, { findModel, retention, given, defaults, now });
		if (this.#wasLoaded(end)) return facts;
		const { cache, model, time } = facts;
		const sent = model && this.#warmRequest(nameOf(model.provider, model.id), time, cache.lifetimeMs);
		return Object.freeze({ ...facts, cache: Object.freeze({ ...cache, warmTokens: sent?.tokens ?? 0 }) });
	}

	/** The last request, if the provider of this model still has it at a time; null otherwise. */
	#warmRequest(model: string, time: number, lifetimeMs: number | null) {
		const sent = this.#sent;
		return sent?.model === model && time - sent.time <= (lifetimeMs ?? ASSUMED_LIFETIME_MS) ? sent : null;
	}

	/** Whether the session was recorded with these very hooks, so that its entries and facts are those of the strategy. */
	#wasLoaded(end: number): boolean {
		const own = this.#registry.recorded();
		const then = readRecordedHooks(this.#recorded, end) ?? [];
		return own.length > 0 && own.every(({ digest }) => then.some((hook) => hook.digest === digest));
	}

	/** Appends entries of the strategy, except those that the recording has because the strategy ran in it. */
	#save(entries: readonly SessionEntry[]): number[] {
		return entries.map((entry) => {
			const known = this.#log.claim(entry);
			if (known === null) {
				const timestamp = new Date(this.#time(this.#end)).toISOString();
				return this.#log.append([{ ...entry, timestamp } as SessionEntry])[0] ?? -1;
			}
			this.#log.extend(known + 1);
			this.#end = Math.max(this.#end, known + 1);
			return this.#log.placeOf(known);
		});
	}
}

function nameOf(provider: string, id: string): string {
	return `${provider}/${id}`;
}
