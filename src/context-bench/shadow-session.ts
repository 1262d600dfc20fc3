import type { Api, AssistantMessage, AssistantMessageEventStream, Context, Model } from "@mariozechner/pi-ai";
import type { CompactionTokens } from "../commands/compaction.js";
import { plainSummary, readActivities } from "../context/plain-summary.js";
import { estimateAll, estimateText } from "../context/tokens.js";
import type { HookSession } from "../hooks/context-object.js";
import { checkCustomEntry } from "../hooks/custom-entry.js";
import { checkSystemItem, ownerOf } from "../hooks/handles.js";
import type { HookEventContext, SessionToolInfo } from "../hooks/types.js";
import { type AppMessage, entryTimestamp, type SessionEntry, type ToolInfo } from "../log/entry.js";
import { CALLS_TOOL, createReplaySession, type ReplaySessionOptions } from "../replay/replay-session.js";
import { createAssistantMessageEventStream } from "../util/pi-ai.js";

/** A request of a hook to a model, whose reply pi made up. */
export interface StandInRequest {
	provider: string;
	model: string;
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
}

/** Receives what strategies do that a recording does not tell. */
export interface ShadowObserver {
	onStandIn(request: StandInRequest): void;
	/** @param what in words, such as `programs that were not run` */
	onUnplayed(what: string): void;
}

/** Most tokens of a summary that stands in for the reply of a model. */
export const STAND_IN_TOKENS = 800;

/** The session of a strategy: what it saves counts; programs do not run, and dialogs are canceled. */
export function createShadowSession(options: ShadowSessionOptions): HookSession {
	const { cwd, sessionFile, read, save, observer } = options;
	const unplayed = (line: string) => {
		if (/^asks /.test(line)) observer.onUnplayed("dialogs that were canceled");
		if (line.startsWith(CALLS_TOOL)) observer.onUnplayed("tools that hooks call");
	};
	const session = createReplaySession({ cwd, sessionFile, length: 0, ...read }, unplayed);
	const own: Partial<HookSession> = {
		findModel: options.findModel,
		availableModels: async () => [],
		requestAuth: async () => ({ apiKey: "" }),
		resolveApiKey: async () => "",
		stream: async (_, model, context) => {
			const reply = standIn(model, context);
			const { tokens: cached, messages } = options.warmStart(model, context);
			const rest = context.messages.slice(messages) as AppMessage[];
			observer.onStandIn({
				...{ provider: model.provider, model: model.id, cached },
				input: estimateAll(rest) + (cached > 0 ? 0 : estimateText(context.systemPrompt ?? "")),
				output: reply.usage.output,
			});
			return streamOf(reply);
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
		setActive: options.setActive,
	};
	return Object.defineProperties({} as HookSession, {
		...Object.getOwnPropertyDescriptors(session),
		...Object.getOwnPropertyDescriptors(own),
		...Object.getOwnPropertyDescriptors({ tools }),
	});
}

function describeTool({ name, description, parameters, hook = "built-in" }: ToolInfo): SessionToolInfo {
	return { name, description, parameters: parameters as SessionToolInfo["parameters"], source: hook };
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

function streamOf(message: AssistantMessage): AssistantMessageEventStream {
	const events = createAssistantMessageEventStream();
	events.push({ type: "done", reason: "stop", message });
	return events;
}
