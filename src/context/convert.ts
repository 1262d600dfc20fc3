import type {
	AssistantMessage,
	ImageContent,
	Message,
	SystemMessage,
	TextContent,
	ToolResultMessage,
	UserMessage,
} from "@mariozechner/pi-ai";
import type { AddedInstructions, AppMessage } from "../log/entry.js";
import { legalToolName, uniqueCallId } from "../tools/legal-names.js";
import { bashExecutionText } from "./bash-execution-text.js";

const DAMAGED_IMAGE: TextContent = { type: "text", text: "(an image that is damaged)" };
/** Replaces empty tool results: some providers refuse or misread empty text. */
const NO_OUTPUT: TextContent = { type: "text", text: "(no output)" };

/**
 * Converts the messages of a session to provider messages: shell commands of the user become user text, `!!` commands and
 * blank user messages are omitted, empty tool results become "(no output)". Text replaces images that no provider accepts, as a
 * damaged session file can hold them.
 */
export function convertToLlm(messages: readonly AppMessage[]): Message[] {
	const converted: Message[] = [];
	for (const message of messages) {
		switch (message.role) {
			case "bashExecution":
				if (!message.excludeFromContext) {
					converted.push({ role: "user", content: bashExecutionText(message), timestamp: message.timestamp });
				}
				break;
			case "user":
				if (!isBlank(message.content)) converted.push(withUsableImages(message));
				break;
			case "toolResult":
				converted.push(withOutput(withUsableImages(message)));
				break;
			case "system":
				converted.push(sentInstructions(message));
				break;
			default:
				converted.push(message);
		}
	}
	return converted;
}

function sentInstructions({ toolsAdded, ...message }: AddedInstructions): SystemMessage {
	return { ...message, ...(toolsAdded && { toolsAdded: [...toolsAdded] }) };
}

/** True for content with only white space and no image. Providers refuse such messages. */
export function isBlank(content: UserMessage["content"]): boolean {
	if (typeof content === "string") return content.trim() === "";
	return content.every((block) => block.type === "text" && block.text.trim() === "");
}

/** False for replies that are never sent: failed ones, and those without text, thinking or calls. */
export function isSentReply({ content, stopReason }: AssistantMessage): boolean {
	if (stopReason === "error") return false;
	if (stopReason === "aborted") return content.some(isText);
	// Thinking alone, as the output limit or an interruption leaves it, is refused: the session could never continue.
	return content.some((block) => block.type === "toolCall" || isText(block));
}

function isText(block: AssistantMessage["content"][number]): boolean {
	return block.type === "text" && block.text.trim() !== "";
}

function withUsableImages<T extends UserMessage | ToolResultMessage>(message: T): T {
	if (typeof message.content === "string" || message.content.every(isUsable)) return message;
	return { ...message, content: message.content.map((block) => (isUsable(block) ? block : DAMAGED_IMAGE)) };
}

function isUsable(block: TextContent | ImageContent): boolean {
	// Programs may break Base64 into lines.
	return block.type === "text" || (/^image\/[a-z+]+$/.test(block.mimeType) && /^[\w+/\s=-]+$/.test(block.data));
}

function withOutput(message: ToolResultMessage): ToolResultMessage {
	const content = message.content.filter((block) => block.type === "image" || block.text.length > 0);
	if (content.length === message.content.length && content.length > 0) return message;
	return { ...message, content: content.length > 0 ? content : [NO_OUTPUT] };
}

/**
 * Repairs a list of provider messages so that providers accept it; a valid list is returned equal.
 *
 * Each assistant message is directly followed by exactly one result for each of its tool calls: results are moved there,
 * missing ones become an error result "interrupted", results without a call are omitted. Failed replies are omitted with
 * their results; aborted ones keep only their text. Blank text is omitted. Duplicate call ids are made unique; ids and names
 * that no provider accepts are replaced, and results have the name of their call.
 */
export function repairMessages(messages: readonly Message[]): Message[] {
	const results = new Map<string, ToolResultMessage[]>();
	for (const message of messages) {
		if (message.role !== "toolResult") continue;
		const list = results.get(message.toolCallId);
		if (list) list.push(message);
		else results.set(message.toolCallId, [message]);
	}
	const repaired: Message[] = [];
	const usedIds = new Set<string>();
	for (const message of messages) {
		if (message.role === "user" || message.role === "system") repaired.push(message);
		if (message.role !== "assistant") continue;
		const { assistant, calls } = acceptable(message, usedIds);
		// Calls that are not sent lose their results.
		if (calls.length === 0) for (const call of toolCalls(message)) results.get(call.id)?.shift();
		if (!assistant) continue;
		repaired.push(assistant);
		for (const { originalId, id, name } of calls) {
			const result = results.get(originalId)?.shift();
			repaired.push(result ? answering(result, id, name) : interrupted(id, name, message));
		}
	}
	return repaired;
}

/** Opens a conversation whose start was removed. */
const OPENING: UserMessage = Object.freeze({
	role: "user",
	content: "(The beginning of this conversation was left out.)",
	timestamp: 0,
});

/** Adds a user message at the start unless there is one: providers require it. */
export function openedByUser(messages: Message[]): Message[] {
	return messages.length === 0 || messages[0]?.role === "user" ? messages : [OPENING, ...messages];
}

interface SentCall {
	originalId: string;
	id: string;
	name: string;
}

function acceptable(
	message: AssistantMessage,
	usedIds: Set<string>,
): { assistant: AssistantMessage | null; calls: SentCall[] } {
	if (!isSentReply(message)) return { assistant: null, calls: [] };
	if (message.stopReason === "aborted") {
		return { assistant: { ...message, content: message.content.filter(isText), stopReason: "stop" }, calls: [] };
	}
	const calls: SentCall[] = [];
	let renamed = false;
	const end = message.content.findLastIndex(
		(block) => block.type !== "thinking" && (block.type !== "text" || isText(block)),
	);
	// Providers refuse a reply that ends with thinking.
	const said = message.content.slice(0, end + 1).filter((block) => block.type !== "text" || isText(block));
	const content = said.map((block) => {
		if (block.type !== "toolCall") return block;
		const id = uniqueCallId(block.id, usedIds);
		const name = legalToolName(block.name);
		calls.push({ originalId: block.id, id, name });
		if (id === block.id && name === block.name) return block;
		renamed = true;
		return { ...block, id, name };
	});
	const isUnchanged = !renamed && said.length === message.content.length;
	return { assistant: isUnchanged ? message : { ...message, content }, calls };
}

function answering(result: ToolResultMessage, toolCallId: string, toolName: string): ToolResultMessage {
	return toolCallId === result.toolCallId && toolName === result.toolName
		? result
		: { ...result, toolCallId, toolName };
}

function toolCalls(message: AssistantMessage) {
	return message.content.filter((block) => block.type === "toolCall");
}

function interrupted(toolCallId: string, toolName: string, after: AssistantMessage): ToolResultMessage {
	return {
		role: "toolResult",
		toolCallId,
		toolName,
		content: [{ type: "text", text: "interrupted: this call has no recorded result" }],
		isError: true,
		timestamp: after.timestamp,
	};
}
