import type { Api, Model, UserMessage } from "@mariozechner/pi-ai";
import { type AgentDeps, type AgentRunResult, runAgent } from "../../agent/loop.js";
import type { CompactionTokens } from "../../commands/compaction-request.js";
import { offeredTools } from "../../context/additions.js";
import { sentTail } from "../../context/cache-breakpoints.js";
import type { BuiltContext } from "../../context/context-message.js";
import { withNativeCompaction } from "../../context/native-compaction.js";
import { withFields } from "../../context/provider-fields.js";
import { PiError } from "../../errors.js";
import type { ContextCall } from "../../hooks/context-object.js";
import { isCompactionEntry } from "../../log/entry.js";
import { formatDay } from "../../models/update/describe-update.js";
import { markBeforeTail } from "../../services/models/cache-markers.js";
import { withOutputFormat } from "../../services/models/output-format.js";
import { requireModel } from "../../services/service-types.js";
import { isRecord } from "../../util/is-record.js";
import { type Operation, phaseAfter } from "../activity.js";
import type { Compaction } from "../compaction/compaction.js";
import type { HookNotices } from "../hooks/hook-notices.js";
import { PromptQueue, type SystemItems } from "../prompt/prompt-queue.js";
import type { Budget } from "./budget.js";
import { CacheTimer } from "./cache-timer.js";
import { DemandedAnswer, type OutputSchema } from "./demanded-answer.js";
import { HookToolCalls } from "./hook-tool-calls.js";
import { NestedContextFiles } from "./nested-context-files.js";
import { prepareAllowed, type RequestAdditions, type RequestWithRecord } from "./prepare-request.js";
import { RunPoints } from "./run-points.js";
import type { SessionWindow } from "./session-window.js";
import { type CallSources, callEnvironment } from "./tool-gate.js";

export interface SessionRunDeps extends CallSources {
	window: SessionWindow;
	compaction: Pick<Compaction, "run" | "makeRoom" | "makeRoomAfterRefusal" | "makeRoomForBytes">;
	budget: Pick<Budget, "ask" | "isExceeded">;
	notices: Pick<HookNotices, "notify" | "settled">;
	/** Items that hooks and background commands add to the next request. */
	systemItems: SystemItems;
	/** Called when a run begins. */
	onRun(): void;
}

/** Runs the agent, one run at a time, with the context, the log and the hooks of the session. */
export class SessionRunner {
	readonly queue: PromptQueue<UserMessage>;
	/** Items that hooks and background commands add to the next request. */
	readonly systemItems: SystemItems;
	readonly #nestedFiles: NestedContextFiles;
	readonly #cacheTimer: CacheTimer;
	/** The calls of tools that hooks make. */
	readonly hookCalls: HookToolCalls;
	readonly #points = new RunPoints();
	/** Aborted with the run. */
	#signal: AbortSignal | null = null;

	constructor(private readonly deps: SessionRunDeps) {
		this.queue = new PromptQueue(
			() => deps.store.settings.current.queueMode,
			(queue) => deps.emit({ type: "queue_changed", queue }),
		);
		this.systemItems = deps.systemItems;
		this.#cacheTimer = new CacheTimer(deps);
		const warn = (message: string) => deps.emit({ type: "notice", level: "warning", message });
		this.#nestedFiles = new NestedContextFiles({ ...deps, warn });
		this.hookCalls = new HookToolCalls(deps, this.#nestedFiles);
	}

	/** Call when the session is left: writes the items for its next request. */
	leave(): void {
		this.#cacheTimer.stop();
		this.systemItems.writeOrDrop();
		this.#nestedFiles.drop();
	}

	/**
	 * Begins a run and waits for its end. Prompts that are still queued then, because the run failed or was stopped, are
	 * returned with `queue_returned`.
	 * @param prompts null: the queued ones
	 * @param output what the answer must match
	 * @throws PiError `model_missing`, `key_missing`, and `bad_arguments` for a model that cannot answer with a schema, before
	 * anything is written
	 */
	async start(
		prompts: readonly UserMessage[] | null,
		ended: AbortSignal,
		output: OutputSchema | null = null,
	): Promise<AgentRunResult> {
		const operation = this.deps.activity.begin("run", { phase: "requesting", signals: [ended] });
		this.#cacheTimer.stop();
		this.#signal = operation.signal;
		try {
			return await this.#run(prompts, operation, new DemandedAnswer(this.deps, output));
		} finally {
			// Before the operation ends: the next run must not start with prompts that the user gets back.
			const texts = this.queue.clear();
			if (texts.length > 0) this.deps.emit({ type: "queue_returned", texts });
			await this.#settle(operation);
			operation.end();
			await this.#points.runWaiting();
		}
	}

	/**
	 * Compacts for a hook during a run: now if the run is at a point where nothing is open, else at the next one. Its
	 * request is computed after that.
	 * @throws PiError `context_locked` for a call for which the run waits; `session_busy`, `compaction_failed`
	 */
	async compact(focus: string | undefined, { event, signal, holdsRun }: ContextCall): Promise<CompactionTokens> {
		const { activity, budget, compaction } = this.deps;
		if (holdsRun) {
			throw new PiError("context_locked", `ctx.compact cannot be called from ${event} during a run`, {
				hint: "the run waits for it while a request or a call is open; call it from turn_end",
			});
		}
		activity.check("compact", "run");
		if (this.#points.isAwaited) throw new PiError("session_busy", "A compaction already waits for the end of the turn");
		const ends = this.#signal ? AbortSignal.any([signal, this.#signal]) : signal;
		return this.#points.run(async () => {
			if (ends.aborted) throw new PiError("compaction_failed", "The compaction was canceled");
			const overrun = await budget.ask(ends);
			if (overrun !== null) throw new PiError("compaction_failed", overrun);
			return compaction.run({ focus, signal: ends, inRun: activity.has("run") });
		}, ends);
	}

	#additions(answer: DemandedAnswer): RunAdditions {
		return {
			answer,
			queue: this.queue,
			systemItems: this.systemItems,
			nestedFiles: this.#nestedFiles,
			points: this.#points,
		};
	}

	/** Notifies the hooks that the run is over, unless it never began. */
	async #settle({ signal }: Operation): Promise<void> {
		if (this.deps.activity.current.phase !== "ending") return;
		await this.#points.at(async () => {
			await this.deps.notices.settled();
			await this.deps.hooks().emit({ type: "agent_settled" }, closingSignal(signal));
		});
		this.#cacheTimer.start();
	}

	async #run(
		prompts: readonly UserMessage[] | null,
		operation: Operation,
		answer: DemandedAnswer,
	): Promise<AgentRunResult> {
		const { models, state } = this.deps;
		const { signal } = operation;
		const model = requireModel(models, state);
		answer.checkModel(model);
		await models.list.requestAuth(model);
		this.deps.onRun();
		for (let batch = prompts ?? this.queue.take(); ; ) {
			const outcome = await runAgent(batch, agentDeps(this.deps, this.#additions(answer), operation));
			await refreshModel(this.deps, null);
			await state.log.flush();
			if (!signal.aborted) await makeRoomWithinBudget(this.deps, signal);
			// Send a prompt that was queued after the last turn, while the run was ending.
			const isOver = signal.aborted || outcome.stopped !== null || outcome.last?.stopReason === "error";
			batch = isOver ? [] : this.queue.take();
			if (batch.length === 0) return outcome;
		}
	}
}

interface RunAdditions extends RequestAdditions {
	queue: PromptQueue<UserMessage>;
	nestedFiles: NestedContextFiles;
	answer: DemandedAnswer;
}

function agentDeps(deps: SessionRunDeps, additions: RunAdditions, operation: Operation): AgentDeps {
	const { store, models, code, state, context, compaction, images, emit } = deps;
	const { queue, nestedFiles, points, answer } = additions;
	const { signal } = operation;
	const { client } = models;
	const { settings } = store;
	const closing = () => closingSignal(signal);
	const { notices } = deps;
	return {
		stream: client.stream,
		...callEnvironment(deps, nestedFiles),
		shellPath: () => settings.current.shellPath,
		tools() {
			const offered = context.lastRequest ? offeredTools(context.lastRequest) : new Set<string>();
			return [...code.tools, ...answer.tools()].filter(({ name }) => offered.has(name));
		},
		answer,
		retry: () => settings.current.retry,
		idleTimeoutMs: () => settings.current.streamIdleTimeoutMs,
		async prepareRequest(turnIndex) {
			operation.enter("requesting");
			if (turnIndex < 2) await refreshModel(deps, turnIndex === 0 ? signal : null);
			const overrun = await deps.budget.ask(signal);
			if (overrun !== null) return { stop: overrun };
			const prepared = await prepareAllowed(deps, additions, turnIndex, signal);
			if ("stop" in prepared) return prepared;
			const { request, built, omitted } = prepared;
			// An abort cut the hooks short, and the request is not sent: its context is nobody's.
			if (signal.aborted) return { ...request, record: undefined };
			images.noteRequest(request.model, built, omitted);
			const loss = context.noteRequest(built);
			if (loss) {
				const { position: _, ...lost } = loss;
				emit({ type: "cache_lost", ...lost });
			}
			const record = { ...request.record, ...(loss && { resent: loss.resent }) };
			return withPayloadChanges(deps, { ...request, record }, built, signal);
		},
		redact: models.redact,
		onResponse({ status, headers }) {
			const deprecation = state.model && describeDeprecation(state.model, headers);
			if (deprecation) state.announceOnce(models.redact(deprecation));
			if (!deps.hooks().registry.has("response")) return;
			const redacted = Object.entries(headers).map(([name, value]) => [name, models.redact(value)] as const);
			notices.notify({ type: "response", status, headers: Object.freeze(Object.fromEntries(redacted)) });
		},
		record(message, record, files) {
			const index = state.record(message, record, files);
			if (message.role === "assistant") context.noteReply(index, message, record);
			return index;
		},
		recordRetried: (message) => state.recordRetried(message),
		takeSteering: () => queue.takeSteering(),
		takeFollowUps: () => queue.takeFollowUps(),
		eventPoints: {
			agentStart: () =>
				points.at(async () => {
					// Those of changes before the run come first.
					await notices.settled();
					await deps.hooks().emit({ type: "agent_start" }, signal);
				}),
			agentEnd: (messages) => points.at(() => deps.hooks().emit({ type: "agent_end", messages }, closing())),
			turnStart: (turnIndex, timestamp) =>
				points.at(() => deps.hooks().emit({ type: "turn_start", turnIndex, timestamp }, signal)),
			turnEnd: (turnIndex, message, toolResults) =>
				points.at(async () => {
					// Those of the turn's response come first.
					await notices.settled();
					await deps.updates.settled();
					await deps.hooks().emit({ type: "turn_end", turnIndex, message, toolResults }, closing());
				}),
		},
		refusalOf(message) {
			if (message.stopReason !== "error") return null;
			if (images.isRefusal(message)) return "image";
			return client.isOverflow(message, state.model?.contextWindow ?? 0) ? "length" : null;
		},
		onImageRefusal: async (message) => !signal.aborted && images.omitRefused(message),
		onOverflow: (message) => compaction.makeRoomAfterRefusal(message, signal),
		signal,
		emit(event) {
			const phase = phaseAfter(event);
			if (phase) operation.enter(phase);
			emit(event);
		},
	};
}

/**
 * Learns the context window of a local model, which its server knows only when the model is loaded.
 * @param loading loads the model first, until this aborts
 */
async function refreshModel({ models, state }: SessionRunDeps, loading: AbortSignal | null): Promise<void> {
	const { model } = state;
	if (!model) return;
	await (loading ? models.list.load(model, loading) : models.list.refresh(model));
	state.refreshModel(models.list.find);
}

/** Does not compact while a budget is spent: the user is asked before the next request, and a summary is one. */
async function makeRoomWithinBudget({ budget, compaction }: SessionRunDeps, signal: AbortSignal): Promise<void> {
	if (!(await budget.isExceeded())) await compaction.makeRoom(signal);
}

/** Time for all handlers of one closing event after an abort, ms. */
const MAX_CLOSING_MS = 1000;

/** Hooks receive closing events even after an abort, but then only for a short time. */
function closingSignal(signal: AbortSignal): AbortSignal {
	return signal.aborted ? AbortSignal.timeout(MAX_CLOSING_MS) : signal;
}

/** Puts a compaction in the provider's own form, adds the form of the answer, what hooks ask of the provider, and the breakpoint for the cache before what they append, and lets hooks change the parameters that the client sends. */
function withPayloadChanges(
	{ hooks, state }: SessionRunDeps,
	request: RequestWithRecord,
	built: BuiltContext,
	signal: AbortSignal,
): RequestWithRecord {
	const tail = sentTail(built);
	const hasHooks = hooks().registry.has("payload");
	const { provider, id, api } = request.model;
	const fields = built.provider?.[api];
	const output = built.outputSchema?.tool === undefined ? built.outputSchema : null;
	const { native } = request.record;
	const compaction = native === undefined ? undefined : state.log.entry(native);
	if (tail === 0 && !hasHooks && !fields && !output && !compaction) return request;
	const model = Object.freeze({ provider, id });
	const onPayload = (payload: unknown) => {
		if (!isRecord(payload)) return payload;
		const compacted = isCompactionEntry(compaction) ? withNativeCompaction(payload, compaction) : payload;
		const formed = output ? withOutputFormat(compacted, api, output.schema) : compacted;
		const asking = fields ? withFields(formed, fields) : formed;
		const marked = markBeforeTail(asking, tail);
		return hasHooks ? hooks().changePayload({ type: "payload", model, payload: marked }, signal) : marked;
	};
	return { ...request, options: { ...request.options, onPayload } };
}

/**
 * What the headers of a response say about the end of a model, as one line: `deprecation` and `sunset`, as RFC 9745 and RFC
 * 8594 define them. Null if they say nothing.
 */
export function describeDeprecation(
	{ provider, id }: Pick<Model<Api>, "provider" | "id">,
	headers: Readonly<Record<string, string>>,
): string | null {
	const { deprecation, sunset } = headers;
	const isDeprecated = deprecation !== undefined && !/^(?:false|\?0)?$/i.test(deprecation.trim());
	const end = sunset === undefined ? Number.NaN : Date.parse(sunset);
	if (!isDeprecated && Number.isNaN(end)) return null;
	const since = isDeprecated ? dayOf(deprecation) : null;
	const ends = Number.isNaN(end) ? "" : ` and ends on ${formatDay(end)}`;
	const state = `${id} is deprecated by ${provider}${since === null ? "" : ` since ${since}`}${ends}`;
	return `${state} · choose another model · pi models update reads the current list`;
}

/** `@1798675200`, or a date as earlier drafts define it. */
function dayOf(deprecation: string): string | null {
	const seconds = /^@(\d{1,11})$/.exec(deprecation.trim())?.[1];
	const at = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1000;
	return Number.isNaN(at) ? null : formatDay(at);
}
