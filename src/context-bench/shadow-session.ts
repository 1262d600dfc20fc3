import type {
	Api,
	AssistantMessage,
	AssistantMessageEventStream,
	Context,
	Model,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import type { StreamFunction } from "../agent/stream.js";
import type { CompactionTokens } from "../commands/compaction-request.js";
import { plainSummary, readActivities } from "../context/summary-text.js";
import { estimateAll, estimateText } from "../context/tokens.js";
import type { HookSession } from "../hooks/context-object.js";
import { checkCustomEntry } from "../hooks/custom-entry.js";
import { checkSystemItem, ownerOf } from "../hooks/granted-handles.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { HookEventContext } from "../hooks/types.js";
import { type AppMessage, entryTimestamp, type SessionEntry, type ToolInfo } from "../log/entry.js";
import { meteredBy } from "../models/hook-meter.js";
import { CALLS_TOOL, createReplaySession, describeTool, type ReplaySessionOptions } from "../replay/replay-session.js";
import { createAssistantMessageEventStream } from "../util/pi-ai.js";
import type { AskedModels } from "./remembered-answers.js";

/** A request for a hook or a compaction. */
export interface SideRequest {
	provider: string;
	model: string;
	/** True if the model answered it, false if pi made up the reply. */
	isAsked: boolean;
	/** Tokens that the provider does not have: an estimate. */
	input: number;
	/** Tokens that it has, because the request begins like the last one of the session. */
	cached: number;
	output: number;
}

/** What the session of a strategy does instead of what a session does. */
export interface ShadowSessionOptions extends Pick<ReplaySessionOptions, "cwd" | "sessionFile"> {
	/** What handlers read. */
	read: Omit<ReplaySessionOptions, "cwd" | "sessionFile" | "length">;
	findModel: HookEventContext["findModel"];
	/** @returns the indices of the entries */
	save(entries: readonly SessionEntry[]): number[];
	/** The tools that could be offered now. */
	tools(): readonly ToolInfo[];
	setActive(names: readonly string[]): void;
	rebuild(): Promise<void>;
	/** Does what `ctx.compact` does. */
	compact(): Promise<CompactionTokens>;
	/** The tokens, and the number of messages, with which a request begins like the last one that the provider has. */
	warmStart(model: Model<Api>, context: Context): { tokens: number; messages: number };
	observer: ShadowObserver;
	/** Asks the models that hooks name. Absent: pi's own summaries stand in for the replies. */
	ask?: Pick<AskedModels, "stream">;
}

/** What went wrong in a hook. */
export interface PlayProblem {
	/** File name of the hook; `pi` for a compaction. */
	hook: string;
	/** Equal for problems of one kind. */
	kind: string;
	/** A sentence, with the place in the source if it is known. */
	reason: string;
}

/** Receives what strategies do that a recording does not tell. */
export interface ShadowObserver {
	onSideRequest(request: SideRequest): void;
	/** A failure of a hook, an answer that was dropped, or a model that did not answer. */
	onProblem(problem: PlayProblem): void;
	/** @param what in words, such as `programs that were not run` */
	onUnplayed(what: string): void;
}

const PAST_SESSIONS = "searches and reads of other sessions";

/** Most tokens of a summary that stands in for the reply of a model. */
export const STAND_IN_TOKENS = 800;

/** The session of a strategy: what it saves counts; programs do not run, and dialogs are canceled. */
export function createShadowSession(options: ShadowSessionOptions): HookSession {
	const { cwd, sessionFile, read, save, observer } = options;
	const unplayed = (line: string) => {
		if (/^asks /.test(line)) observer.onUnplayed("dialogs that were canceled");
		if (line.startsWith(CALLS_TOOL)) observer.onUnplayed("tools that hooks call");
	};
	const answer = (hook: string, model: Model<Api>, context: Context, sent: SimpleStreamOptions = {}) => {
		const events = createAssistantMessageEventStream();
		void askOrStandIn(hook, options, model, context, sent).then((reply) => {
			const { tokens: cached, messages } = options.warmStart(model, context);
			const rest = context.messages.slice(messages) as AppMessage[];
			observer.onSideRequest({
				...{ provider: model.provider, model: model.id, isAsked: reply.isAsked, cached },
				input: estimateAll(rest) + (cached > 0 ? 0 : estimateText(context.systemPrompt ?? "")),
				output: reply.message.usage.output,
			});
			end(events, reply.message);
		});
		return events;
	};
	const session = createReplaySession({ cwd, sessionFile, length: 0, ...read }, unplayed);
	const own: Partial<HookSession> = {
		findModel: options.findModel,
		availableModels: async () => [],
		requestAuth: async () => ({ apiKey: "" }),
		resolveApiKey: async () => "",
		stream: async ({ path }, ...request) => answer(hookFileName(path), ...request),
		// What hooks send with pi-ai itself would reach the network.
		enter: (hook, action) =>
			meteredBy(
				() =>
					(...request) =>
						answer(hookFileName(hook.path), ...request),
				action,
			),
		sessions: {
			search: async (...search) => {
				observer.onUnplayed(PAST_SESSIONS);
				return session.sessions.search(...search);
			},
			read: async (...target) => {
				observer.onUnplayed(PAST_SESSIONS);
				return session.sessions.read(...target);
			},
		},
		saveEntries: (hook, entries) => save(entries.map((entry) => checkCustomEntry(hook, entry))),
		systemItems: {
			append(handle, item) {
				const source = ownerOf(handle);
				const { kind, text } = checkSystemItem(source, item);
				save([{ type: "system_item", timestamp: entryTimestamp(), source: source.name, item: { kind, text } }]);
			},
		},
		operations: session.operations.map((operation) =>
			operation.member === "rebuildContext"
				? { ...operation, call: () => options.rebuild() }
				: operation.member === "compact"
					? { ...operation, call: () => options.compact() }
					: operation,
		),
	};
	const tools: HookSession["tools"] = {
		get all() {
			return options.tools().map(describeTool);
		},
		get active() {
			return options.tools().map(describeTool);
		},
		get offered() {
			return options.tools().map(describeTool);
		},
		setActive: options.setActive,
	};
	return Object.defineProperties({} as HookSession, {
		...Object.getOwnPropertyDescriptors(session),
		...Object.getOwnPropertyDescriptors(own),
		...Object.getOwnPropertyDescriptors({ tools }),
	});
}

/** The answer of the model if models are asked, else or if it gives none what pi writes instead. */
async function askOrStandIn(
	hook: string,
	{ ask, observer }: Pick<ShadowSessionOptions, "ask" | "observer">,
	...[model, context, sent]: Parameters<StreamFunction>
): Promise<{ message: AssistantMessage; isAsked: boolean }> {
	const message = await ask?.stream(model, context, sent).result();
	if (message && (message.stopReason !== "error" || sent.signal?.aborted)) return { message, isAsked: true };
	if (message) observer.onProblem(notAnswered(hook, `${model.name}: ${message.errorMessage}`));
	return { message: standIn(model, context), isAsked: false };
}

/** The problem of a request that a model did not answer. */
export function notAnswered(hook: string, reason: string): PlayProblem {
	return { hook, kind: `not answered: ${reason}`, reason: `${reason}; pi's own summary stands in for the answer` };
}

/** What pi writes instead of a model. */
function standIn({ api, provider, id }: Parameters<HookSession["stream"]>[1], { messages }: Context): AssistantMessage {
	const said = messages.filter(({ role }) => role !== "system") as AppMessage[];
	const text = plainSummary(said, readActivities(said), undefined, STAND_IN_TOKENS);
	const output = estimateText(text);
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return {
		...{ role: "assistant", content: [{ type: "text", text }], api, provider, model: id },
		usage: { input: 0, output, cacheRead: 0, cacheWrite: 0, totalTokens: output, cost },
		...{ stopReason: "stop", timestamp: Date.now() },
	};
}

function end(events: AssistantMessageEventStream, message: AssistantMessage): void {
	const { stopReason } = message;
	if (stopReason === "stop" || stopReason === "length" || stopReason === "toolUse")
		events.push({ type: "done", reason: stopReason, message });
	else events.push({ type: "error", reason: stopReason === "aborted" ? "aborted" : "error", error: message });
}
