import { isDeepStrictEqual } from "node:util";
import type {
	HookEventContext,
	HookEvents,
	HookHandler,
	HookResults,
	PayloadEvent,
	PayloadEventResult,
	PromptEvent,
	PromptEventResult,
	ToolCallEvent,
	ToolCallEventResult,
	ToolResultEvent,
	ToolResultEventResult,
	UserBashEvent,
	UserBashEventResult,
} from "../hooks/types.js";
import { isMessageEntry } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import { beforeAgentStart } from "./before-agent-start.js";
import type { CommandOperations } from "./command-operations.js";
import { attachedImages, contentImages, readContent } from "./content.js";
import type { Extension } from "./extension.js";
import { entryId } from "./viewed-entries.js";

/** The events of hooks that an event of extensions needs, apart from `session` and `context`. */
const SOURCES: Readonly<Record<string, readonly (keyof typeof ANSWERS)[]>> = {
	input: ["prompt"],
	before_agent_start: ["turn_start"],
	agent_start: ["turn_start"],
	agent_end: ["agent_end"],
	agent_settled: ["agent_settled"],
	turn_start: ["turn_start"],
	turn_end: ["turn_end"],
	message_start: ["turn_start", "tool_call", "turn_end", "agent_end"],
	message_update: ["message_update"],
	message_end: ["turn_start", "tool_call", "turn_end", "agent_end"],
	tool_execution_start: ["tool_call"],
	tool_execution_update: ["tool_update"],
	tool_execution_end: ["tool_result"],
	tool_call: ["tool_call"],
	tool_result: ["tool_result"],
	user_bash: ["user_bash"],
	model_select: ["model_changed"],
	thinking_level_select: ["thinking_level_changed"],
	before_provider_request: ["payload"],
	after_provider_response: ["response"],
	session_info_changed: ["session_named"],
};

/** Events that need no event of hooks, because the adapter always answers theirs. */
const ALWAYS: ReadonlySet<string> = new Set([
	"session_start",
	"session_shutdown",
	"session_before_switch",
	"session_before_fork",
	"session_before_tree",
	"session_tree",
	"session_before_compact",
	"session_compact",
	"resources_discover",
	"context",
]);

type Answer<N extends keyof HookEvents> = (
	extension: Extension,
	event: HookEvents[N],
	ctx: HookEventContext,
) => Promise<HookResults[N]>;

/** How the adapter answers the events of hooks. */
const ANSWERS = {
	prompt: answerPrompt,
	turn_start: startTurn,
	turn_end: endTurn,
	agent_end: endAgent,
	agent_settled: async ({ handlers }, _, ctx) => handlers.emit("agent_settled", ctx, () => ({ type: "agent_settled" })),
	tool_call: answerToolCall,
	tool_result: answerToolResult,
	message_update: updateMessage,
	tool_update: updateToolCall,
	user_bash: answerUserBash,
	model_changed: async ({ handlers, models }, { model, previousModel }, ctx) => {
		if (!model) return;
		await models.refresh(ctx); // a login may have changed them
		const fields = { type: "model_select", model, previousModel: previousModel ?? undefined, source: "set" };
		await handlers.emit("model_select", ctx, () => fields);
	},
	thinking_level_changed: async ({ handlers }, { level, previousLevel }, ctx) =>
		handlers.emit("thinking_level_select", ctx, () => ({ type: "thinking_level_select", level, previousLevel })),
	payload: answerPayload,
	response: async ({ handlers }, { status, headers }, ctx) =>
		handlers.emit("after_provider_response", ctx, () => ({ type: "after_provider_response", status, headers })),
	session_named: async ({ handlers }, { name }, ctx) =>
		handlers.emit("session_info_changed", ctx, () => ({ type: "session_info_changed", name })),
} as const satisfies { [N in keyof HookEvents]?: Answer<N> };

/** True for an event of extensions that pi has. */
export function isKnownEvent(event: string): boolean {
	return ALWAYS.has(event) || Object.hasOwn(SOURCES, event);
}

/** Listens to the events of hooks that an event of extensions needs, each of them once. */
export function listen(extension: Extension, event: string, installed: Set<string>): void {
	for (const source of SOURCES[event] ?? []) {
		if (installed.has(source)) continue;
		installed.add(source);
		install(extension, source);
	}
}

function install<N extends keyof typeof ANSWERS>(extension: Extension, name: N): void {
	const answer = ANSWERS[name] as unknown as Answer<N>;
	const handler: HookHandler<N> = (event, ctx) => answer(extension, event, ctx);
	// The fields of an answer can only be compared with those of an event that is known.
	extension.pi.on(name, handler as never);
}

const SOURCE_NAMES: Readonly<Record<PromptEvent["source"], string>> = {
	editor: "interactive",
	print: "interactive",
	sdk: "interactive",
	rpc: "rpc",
	hook: "extension",
};

async function answerPrompt(
	{ handlers }: Extension,
	event: PromptEvent,
	ctx: HookEventContext,
): Promise<PromptEventResult | undefined> {
	let { text } = event;
	let images = attachedImages(event.attachments);
	let isHandled = false;
	let hasNewImages = false;
	const streamingBehavior = event.delivery === "start" ? undefined : event.delivery;
	await handlers.emit(
		"input",
		ctx,
		() => ({ type: "input", text, images, source: SOURCE_NAMES[event.source], streamingBehavior }),
		(answer) => {
			isHandled = answer.action === "handled";
			if (answer.action !== "transform") return isHandled;
			if (typeof answer.text === "string") text = answer.text;
			if (Array.isArray(answer.images)) {
				images = attachedImages(contentImages(readContent(answer.images)));
				hasNewImages = true;
			}
			return false;
		},
	);
	if (isHandled) return { handled: true };
	if (text === event.text && !hasNewImages) return undefined;
	const documents = event.attachments.filter(({ type }) => type === "document");
	return { text, ...(hasNewImages ? { attachments: [...documents, ...contentImages(images)] } : {}) };
}

async function startTurn(extension: Extension, event: HookEvents["turn_start"], ctx: HookEventContext): Promise<void> {
	const { handlers } = extension;
	const { turnIndex, timestamp } = event;
	if (turnIndex === 0) {
		await beforeAgentStart(extension, ctx);
		await handlers.emit("agent_start", ctx, () => ({ type: "agent_start" }));
	}
	await emitMessages(extension, ctx);
	await handlers.emit("turn_start", ctx, () => ({ type: "turn_start", turnIndex, timestamp }));
}

/** Emits the messages that have become entries since the last call. */
async function emitMessages({ handlers, refusals, seen }: Extension, ctx: HookEventContext): Promise<void> {
	if (!handlers.has("message_start", "message_end")) return;
	const from = seen.session === ctx.session ? seen.entries : lastPrompt(ctx);
	seen.session = ctx.session;
	seen.entries = ctx.entries.length;
	for (const entry of ctx.entries.slice(from, seen.entries)) {
		if (!isMessageEntry(entry)) continue;
		const { message } = entry;
		const isStarted = seen.isReplyStarted && message.role === "assistant";
		if (isStarted) seen.isReplyStarted = false;
		else await handlers.emit("message_start", ctx, () => ({ type: "message_start", message }));
		await handlers.emit(
			"message_end",
			ctx,
			() => ({ type: "message_end", message }),
			(answer) => {
				if (answer.message === undefined) return;
				refusals.refuse("message in the answer to message_end", "an entry of the session never changes; use context");
			},
		);
	}
}

/** The index of the last prompt: earlier messages belong to earlier runs. */
function lastPrompt({ entries }: HookEventContext): number {
	return Math.max(
		0,
		entries.findLastIndex((entry) => isMessageEntry(entry) && entry.message.role === "user"),
	);
}

async function endTurn(extension: Extension, event: HookEvents["turn_end"], ctx: HookEventContext): Promise<void> {
	const { handlers, refusals, footer } = extension;
	const { turnIndex, message, toolResults } = event;
	await emitMessages(extension, ctx);
	const idOf = (matches: (role: string, toolCallId: unknown) => boolean) =>
		entryId(
			ctx,
			ctx.entries.findLastIndex((entry) => {
				if (!isMessageEntry(entry)) return false;
				const { message } = entry;
				return matches(message.role, message.role === "toolResult" ? message.toolCallId : null);
			}),
		);
	const fields = {
		type: "turn_end",
		turnIndex,
		message,
		toolResults: [...toolResults],
		messageEntryId: idOf((role) => role === "assistant"),
		toolResultEntryIds: toolResults.map(({ toolCallId }) => idOf((_, id) => id === toolCallId)),
	};
	await handlers.emit(
		"turn_end",
		ctx,
		() => fields,
		(answer) => {
			if (answer.entries === undefined && answer.continue === undefined) return;
			refusals.refuse(
				"entries and continue in the answer to turn_end",
				"use appendEntry, sendMessage or sendUserMessage",
			);
		},
	);
	void footer.refresh(ctx);
}

async function endAgent(
	extension: Extension,
	{ messages }: HookEvents["agent_end"],
	ctx: HookEventContext,
): Promise<void> {
	await emitMessages(extension, ctx);
	await extension.handlers.emit("agent_end", ctx, () => ({ type: "agent_end", messages: [...messages] }));
}

async function answerToolCall(
	extension: Extension,
	event: ToolCallEvent,
	ctx: HookEventContext,
): Promise<ToolCallEventResult | undefined> {
	const { handlers } = extension;
	const { toolName, toolCallId } = event;
	await emitMessages(extension, ctx);
	// Handlers change the arguments in place.
	const input = structuredClone(event.input);
	let blocked: ToolCallEventResult | undefined;
	await handlers.gate(
		"tool_call",
		ctx,
		() => ({ type: "tool_call", toolName, toolCallId, input }),
		({ block, reason, terminate }) => {
			if (block === true)
				blocked = {
					block,
					...(typeof reason === "string" ? { reason } : {}),
					...(terminate === true ? { terminate } : {}),
				};
			return block === true;
		},
	);
	if (blocked) return blocked;
	const type = "tool_execution_start";
	await handlers.emit(type, ctx, () => ({ type, toolCallId, toolName, args: input }));
	return isDeepStrictEqual(input, event.input) ? undefined : { input };
}

async function answerToolResult(
	{ handlers }: Extension,
	event: ToolResultEvent,
	ctx: HookEventContext,
): Promise<ToolResultEventResult | undefined> {
	const { toolName, toolCallId, input } = event;
	const result: ToolResultEventResult = {};
	const current = () => ({
		content: structuredClone(result.content ?? [...event.content]),
		details: "details" in result ? result.details : event.details,
		isError: result.isError ?? event.isError,
	});
	await handlers.emit(
		"tool_result",
		ctx,
		() => ({ type: "tool_result", toolName, toolCallId, input, ...current() }),
		(answer) => {
			const { content, details, isError } = answer;
			if (Array.isArray(content)) result.content = content;
			if (details !== undefined) result.details = details;
			if (typeof isError === "boolean") result.isError = isError;
		},
	);
	const { isError, ...shown } = current();
	const type = "tool_execution_end";
	await handlers.emit(type, ctx, () => ({ type, toolCallId, toolName, result: shown, isError }));
	return Object.keys(result).length > 0 ? result : undefined;
}

async function answerPayload(
	{ handlers }: Extension,
	event: PayloadEvent,
	ctx: HookEventContext,
): Promise<PayloadEventResult | undefined> {
	const type = "before_provider_request";
	let changed: PayloadEventResult | undefined;
	await handlers.emit(
		type,
		ctx,
		() => ({ type, payload: changed?.payload ?? event.payload }),
		(payload) => {
			if (Object.keys(payload).length > 0) changed = { payload };
		},
	);
	return changed;
}

async function answerUserBash(
	{ handlers }: Extension,
	{ command, excluded }: UserBashEvent,
	ctx: HookEventContext,
): Promise<UserBashEventResult | undefined> {
	let answer: Readonly<Record<string, unknown>> = {};
	await handlers.emit(
		"user_bash",
		ctx,
		() => ({ type: "user_bash", command, excludeFromContext: excluded, cwd: ctx.cwd }),
		(given) => {
			answer = given;
			return isRecord(given.result) || isRecord(given.operations);
		},
	);
	const { result, operations } = answer;
	if (isRecord(result)) {
		const { output, exitCode, cancelled, truncated } = result;
		const code = typeof exitCode === "number" || exitCode === null ? { exitCode } : {};
		return {
			result: { output: String(output ?? ""), ...code, cancelled: cancelled === true, truncated: truncated === true },
		};
	}
	if (!isRecord(operations)) return undefined;
	const chunks: Buffer[] = [];
	const { exitCode } = await (operations as unknown as CommandOperations).exec(command, ctx.cwd, {
		onData: (data) => chunks.push(Buffer.from(data)),
		signal: ctx.signal,
	});
	return { result: { output: Buffer.concat(chunks).toString("utf8"), exitCode } };
}

/** Emits each change of a reply. An error ends the calls: pi does not call the extension again in this run. */
async function updateMessage(
	{ handlers, seen }: Extension,
	{ message, changes }: HookEvents["message_update"],
	ctx: HookEventContext,
): Promise<void> {
	for (const { type, ...fields } of changes) {
		if (type === "start") {
			seen.isReplyStarted = true;
			await handlers.emit("message_start", ctx, () => ({ type: "message_start", message }));
			continue;
		}
		const assistantMessageEvent = { type, ...fields, partial: message };
		await handlers.gate(
			"message_update",
			ctx,
			() => ({ type: "message_update", message, assistantMessageEvent }),
			() => {},
		);
	}
}

/** Emits a partial result of a tool, like `updateMessage`. */
async function updateToolCall(
	{ handlers }: Extension,
	{ toolCallId, toolName, input, content, details }: HookEvents["tool_update"],
	ctx: HookEventContext,
): Promise<void> {
	const type = "tool_execution_update";
	const partialResult = { content, details };
	await handlers.gate(
		type,
		ctx,
		() => ({ type, toolCallId, toolName, args: input, partialResult }),
		() => {},
	);
}
