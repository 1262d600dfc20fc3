import type {
	AssistantMessage,
	ImageContent,
	TextContent,
	ThinkingContent,
	ToolCall,
	Usage,
} from "@mariozechner/pi-ai";
import { isRecord } from "../util/is-record.js";
import type { AddedInstructions, BashExecutionMessage, GateRecord, LoggedMessage } from "./entry.js";

/**
 * Validates a message from a session. Fills in bookkeeping fields (`usage`, `timestamp`, the model's name) that are
 * missing or invalid, because a message must not be lost over them; all other fields must match their types.
 * @param loggedAt ms since the epoch, used if the timestamp is missing
 * @returns the message, or the reason why it is invalid
 */
export function readMessage(value: unknown, loggedAt: number): LoggedMessage | string {
	if (!isRecord(value)) return "message is not an object";
	const timestamp = isNumber(value.timestamp) ? value.timestamp : loggedAt;
	switch (value.role) {
		case "user": {
			const { content } = value;
			if (typeof content === "string" || isInputContent(content)) return { ...value, role: "user", content, timestamp };
			return "user message without text or image content";
		}
		case "assistant":
			return readAssistantMessage(value, timestamp);
		case "toolResult": {
			const { gate, ...rest } = value;
			const { content, toolCallId, toolName } = rest;
			if (typeof toolCallId !== "string" || toolCallId === "") return "tool result without toolCallId";
			if (typeof toolName !== "string") return "tool result without toolName";
			if (!isInputContent(content)) return "tool result without text or image content";
			const isError = value.isError === true;
			const read = readGate(gate);
			return {
				...rest,
				role: "toolResult",
				toolCallId,
				toolName,
				content,
				isError,
				timestamp,
				...(read && { gate: read }),
			};
		}
		case "bashExecution":
			return readBashExecution(value, timestamp);
		default:
			return `unknown message role ${String(JSON.stringify(value.role)).slice(0, 40)}`;
	}
}

/** Validates what a hook added to a request; null for anything else. */
export function readAddedInstructions(value: unknown): AddedInstructions | null {
	if (!isRecord(value) || value.role !== "system" || typeof value.content !== "string") return null;
	const { content, toolsAdded } = value;
	const timestamp = isNumber(value.timestamp) ? value.timestamp : 0;
	if (toolsAdded === undefined) return { role: "system", content, timestamp };
	return isToolList(toolsAdded) ? { role: "system", content, toolsAdded, timestamp } : null;
}

function isToolList(value: unknown): value is NonNullable<AddedInstructions["toolsAdded"]> {
	return (
		Array.isArray(value) &&
		value.every(
			(tool) =>
				isRecord(tool) &&
				typeof tool.name === "string" &&
				typeof tool.description === "string" &&
				isRecord(tool.parameters),
		)
	);
}

/** What hooks did to a call; null for an invalid record, which is only shown. */
function readGate(value: unknown): GateRecord | null {
	if (!isRecord(value)) return null;
	const { blockedBy, changed } = value;
	const gate: GateRecord = typeof blockedBy === "string" ? { blockedBy } : {};
	if (isRecord(changed) && isRecord(changed.from) && isRecord(changed.to) && Array.isArray(changed.by)) {
		const by = changed.by.filter((name) => typeof name === "string");
		gate.changed = { by, from: changed.from, to: changed.to };
	}
	return gate.blockedBy === undefined && gate.changed === undefined ? null : gate;
}

function readAssistantMessage(value: Record<string, unknown>, timestamp: number): AssistantMessage | string {
	const { errorMessage, ...rest } = value;
	const { content } = rest;
	if (!isOutputContent(content)) return "assistant message without well-formed content";
	const stopReason = readStopReason(value.stopReason);
	if (stopReason === undefined) return "assistant message without a known stopReason";
	return {
		...rest,
		role: "assistant",
		content,
		api: text(value.api),
		provider: text(value.provider),
		model: text(value.model),
		usage: completeUsage(value.usage),
		stopReason,
		timestamp,
		...(typeof errorMessage === "string" && { errorMessage }),
	};
}

/** pi writes at most this: four times the limit of an output. */
const MAX_STYLED_LENGTH = 4 * 50 * 1024;

function readBashExecution(value: Record<string, unknown>, timestamp: number): BashExecutionMessage | string {
	const { fullOutputPath, job, styled, ...rest } = value;
	const { command, output } = rest;
	if (typeof command !== "string" || typeof output !== "string") return "bash execution without command and output";
	return {
		...rest,
		role: "bashExecution",
		command,
		output,
		exitCode: isNumber(value.exitCode) ? value.exitCode : null,
		cancelled: value.cancelled === true,
		truncated: value.truncated === true,
		timestamp,
		...(typeof fullOutputPath === "string" && { fullOutputPath }),
		...(typeof job === "string" && { job }),
		...(typeof styled === "string" && styled.length <= MAX_STYLED_LENGTH && { styled }),
	};
}

function readStopReason(value: unknown): AssistantMessage["stopReason"] | undefined {
	switch (value) {
		case "stop":
		case "length":
		case "toolUse":
		case "error":
		case "aborted":
			return value;
		default:
			return undefined;
	}
}

/** The usage of a request with all its numbers. Missing and invalid ones are 0. */
export function completeUsage(value: unknown): Usage {
	const usage = isRecord(value) ? value : {};
	const cost = isRecord(usage.cost) ? usage.cost : {};
	const input = amount(usage.input);
	const output = amount(usage.output);
	const cacheRead = amount(usage.cacheRead);
	const cacheWrite = amount(usage.cacheWrite);
	return {
		...usage,
		input,
		output,
		cacheRead,
		cacheWrite,
		totalTokens: isNumber(usage.totalTokens) ? usage.totalTokens : input + output + cacheRead + cacheWrite,
		cost: {
			...cost,
			input: amount(cost.input),
			output: amount(cost.output),
			cacheRead: amount(cost.cacheRead),
			cacheWrite: amount(cost.cacheWrite),
			total: amount(cost.total),
		},
	};
}

function isInputContent(value: unknown): value is (TextContent | ImageContent)[] {
	return Array.isArray(value) && value.every((block) => isTextBlock(block) || isImageBlock(block));
}

function isOutputContent(value: unknown): value is (TextContent | ThinkingContent | ToolCall)[] {
	return (
		Array.isArray(value) &&
		value.every((block) => isTextBlock(block) || isThinkingBlock(block) || isToolCallBlock(block))
	);
}

function isTextBlock(block: unknown): block is TextContent {
	return (
		isRecord(block) && block.type === "text" && typeof block.text === "string" && isOptionalText(block.textSignature)
	);
}

function isImageBlock(block: unknown): block is ImageContent {
	return (
		isRecord(block) && block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string"
	);
}

function isThinkingBlock(block: unknown): block is ThinkingContent {
	return (
		isRecord(block) &&
		block.type === "thinking" &&
		typeof block.thinking === "string" &&
		isOptionalText(block.thinkingSignature)
	);
}

function isToolCallBlock(block: unknown): block is ToolCall {
	return (
		isRecord(block) &&
		block.type === "toolCall" &&
		typeof block.id === "string" &&
		block.id !== "" &&
		typeof block.name === "string" &&
		isRecord(block.arguments) &&
		isOptionalText(block.thoughtSignature)
	);
}

function isNumber(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value);
}

function isOptionalText(value: unknown): boolean {
	return value === undefined || typeof value === "string";
}

function amount(value: unknown): number {
	return isNumber(value) ? value : 0;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}
