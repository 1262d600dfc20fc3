import type { AssistantMessage, Tool, ToolResultMessage, UserMessage } from "@mariozechner/pi-ai";

/** How much a model thinks before it answers; `off` sends no reasoning request. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** All thinking levels, least first. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** A shell command that the user ran with `!`; the model sees it as text. */
export interface BashExecutionMessage {
	role: "bashExecution";
	command: string;
	/** What the model sees: plain text. */
	output: string;
	/**
	 * `output`, perhaps with blanks at the end, with its colors and styles as SGR sequences; no style continues on the next line. Only drawn;
	 * absent if the output has none.
	 */
	styled?: string;
	/** 128 + the number of the signal that ended the command; 126 or 127 if it did not start; null if it was canceled. */
	exitCode: number | null;
	cancelled: boolean;
	truncated: boolean;
	/** Path of the full output if `output` is only its end. */
	fullOutputPath?: string;
	/** The id that the command has in the background, to which the user moved it: `output` is what it had printed. */
	job?: string;
	/** Set by `!!`: shown and saved, never sent to the model. */
	excludeFromContext?: boolean;
	/** ms since the epoch. */
	timestamp: number;
}

/** Arguments of a tool call that hooks changed. `from` and `to` have only the arguments that differ. */
export interface ChangedInput {
	/** Names of the hooks, in order. */
	by: readonly string[];
	/** As the model wrote them. */
	from: Readonly<Record<string, unknown>>;
	/** As the tool received them. */
	to: Readonly<Record<string, unknown>>;
}

/** What hooks did to a tool call before it ran. */
export interface GateRecord {
	/** Name of the hook that blocked the call. */
	blockedBy?: string;
	changed?: ChangedInput;
}

/** The user's answer to the question of a hook whether a tool call may run. It is not part of any context. */
export interface ApprovalEntry {
	type: "approval";
	timestamp: string;
	toolCallId: string;
	question: string;
	/** Name of the hook that asked. */
	by: string;
	allowed: boolean;
	/** Label of the chosen answer that allows more than this call. */
	choice?: string;
	/** The rule that it was chosen with. */
	rule?: string;
	/** What the user told the model with the refusal. */
	message?: string;
}

/** The result of a tool call. */
export interface SessionToolResult extends ToolResultMessage {
	/** Absent if no hook blocked or changed the call. Not sent to the model. */
	gate?: GateRecord;
}

/** What a hook adds in the middle of a conversation. Only contexts have it: it is never a message of the log. */
export interface AddedInstructions {
	role: "system";
	/** Empty for tools alone. */
	content: string;
	/** Tools that the model has from here on. */
	toolsAdded?: readonly Pick<Tool, "name" | "description" | "parameters">[];
	/** ms since the epoch. */
	timestamp: number;
}

/** A message of the log: the types of pi-ai, and pi's own roles. */
export type LoggedMessage = UserMessage | AssistantMessage | SessionToolResult | BashExecutionMessage;

/** A message in a session. */
export type AppMessage = LoggedMessage | AddedInstructions;

/** A message without what is only drawn: the same object if it has nothing of that kind. */
export function withoutStyles<M extends AppMessage>(message: M): M {
	if (message.role !== "bashExecution" || message.styled === undefined) return message;
	const { styled: _, ...plain } = message;
	return plain as M;
}

/** The plain text of a message: text blocks joined by newlines, other blocks omitted; names of tools that a message adds. */
export function messageText(message: AppMessage): string {
	if (message.role === "bashExecution") return message.output;
	if (message.role === "system") {
		const names = message.toolsAdded?.map(({ name }) => name).join(", ");
		return [message.content, ...(names === undefined ? [] : [`(tools from here on: ${names})`])].join("\n").trim();
	}
	if (typeof message.content === "string") return message.content;
	return message.content
		.filter((block) => block.type === "text")
		.map((block) => block.text)
		.join("\n");
}

/** True for a reply that ended normally and contains neither text nor tool calls. */
export function isEmptyReply(message: AssistantMessage): boolean {
	return message.stopReason === "stop" && !hasToolCalls(message) && messageText(message).trim() === "";
}

/** True for a reply with tool calls, after whose results the run continues. */
export function hasToolCalls({ content }: Pick<AssistantMessage, "content">): boolean {
	return content.some(({ type }) => type === "toolCall");
}
