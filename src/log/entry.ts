import type { AssistantMessage, ToolResultMessage, UserMessage } from "@mariozechner/pi-ai";

/** How much a model thinks before it answers; `off` sends no reasoning request. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** All thinking levels, least first. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh"];

/** A shell command that the user ran with `!`; the model sees it as text. */
export interface BashExecutionMessage {
	role: "bashExecution";
	command: string;
	output: string;
	/** null if the command was canceled or did not start. */
	exitCode: number | null;
	cancelled: boolean;
	truncated: boolean;
	/** Path of the full output if `output` is only its end. */
	fullOutputPath?: string;
	/** Set by `!!`: shown and saved, never sent to the model. */
	excludeFromContext?: boolean;
	/** ms since the epoch. */
	timestamp: number;
}

/** A message in a session: the types of pi-ai, and pi's own roles. */
export type AppMessage = UserMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage;

/** Record of the context that the model received before it wrote an assistant message. */
export interface ContextRecord {
	/** SHA-256, hex, of the messages as sent. */
	digest: string;
	messages: number;
	tokens: number;
	/** The messages of the request. Present only if hooks changed the context that pi built from the entries. */
	shape?: RecordedRequest;
}

/**
 * The messages of a request in order, as segments: `[from, to)` is the messages of these entries; `compaction` the
 * summary of that entry; `message` a message from a hook, with the index of the entry that it replaces, if any; `part`
 * the message at that position in the record stored with the earlier reply `reply`, so that each is written once.
 */
export type RecordedRequest = readonly RecordedSegment[];

/** See `RecordedRequest`. */
export type RecordedSegment =
	| readonly [from: number, to: number]
	| { compaction: number }
	| { message: AppMessage; entryIndex: number | null }
	| { reply: number; part: number };

/** First line of a session file. */
export interface SessionHeader {
	type: "session";
	version: 1;
	id: string;
	/** ISO 8601. */
	timestamp: string;
	cwd: string;
	/** Path of the session from which this one was branched. */
	branchedFrom?: string;
}

/** A message of the conversation. */
export interface MessageEntry {
	type: "message";
	timestamp: string;
	message: AppMessage;
	/** For assistant messages: the context that the model received. */
	context?: ContextRecord;
	/** The part of a reply that broke off before its request was sent again. It is not part of any context. */
	retried?: true;
}

/** Earlier entries replaced by a summary in the context. */
export interface CompactionEntry {
	type: "compaction";
	timestamp: string;
	summary: string;
	/** Entries with a lower index are not in the context. */
	firstKeptEntryIndex: number;
	tokensBefore: number;
}

/** Undoes a compaction or a freeze: the context is computed without it. */
export interface ContextUndoEntry {
	type: "context_undo";
	timestamp: string;
	/** Index of the undone entry. */
	entryIndex: number;
}

/** Replaces the entries before an earlier request with the recorded messages of that request. */
export interface ContextFreezeEntry {
	type: "context_freeze";
	timestamp: string;
	/** Index of the reply to that request. Its `context.shape` holds the messages. */
	entryIndex: number;
}

/** The model was changed. */
export interface ModelChangeEntry {
	type: "model_change";
	timestamp: string;
	provider: string;
	modelId: string;
}

/** The thinking level was changed. */
export interface ThinkingLevelChangeEntry {
	type: "thinking_level_change";
	timestamp: string;
	thinkingLevel: ThinkingLevel;
}

/** Text that a host handle added for the model; shown in the transcript and in the context. */
export interface SystemItemEntry {
	type: "system_item";
	timestamp: string;
	/** The hook or feature that added it. */
	source: string;
	item: { kind: "task_reminder" | "notification"; text: string };
}

/** The session was named. */
export interface SessionInfoEntry {
	type: "session_info";
	timestamp: string;
	name: string;
}

/** An entry of a hook. The core preserves it byte for byte and does not read it. */
export interface CustomEntry {
	type: string;
	timestamp?: string | number;
	[field: string]: unknown;
}

/** Placeholder for a line that cannot be read, so that later entries keep their indices. Never written. */
export interface OpaqueEntry {
	type: "opaque";
	/** Why the line could not be read. */
	reason: string;
}

/** Entries that the core writes and reads. */
export type CoreEntry =
	| SessionHeader
	| MessageEntry
	| CompactionEntry
	| ContextUndoEntry
	| ContextFreezeEntry
	| ModelChangeEntry
	| ThinkingLevelChangeEntry
	| SystemItemEntry
	| SessionInfoEntry;

/** One line of a session, identified by its index; index 0 is the header. */
export type SessionEntry = CoreEntry | OpaqueEntry | CustomEntry;

/** Types that hooks may not write. */
export const RESERVED_ENTRY_TYPES: ReadonlySet<string> = new Set([
	"session",
	"message",
	"compaction",
	"context_undo",
	"context_freeze",
	"model_change",
	"thinking_level_change",
	"system_item",
	"session_info",
	"opaque",
]);

/** Builds a type guard; entries of hooks make the type of `type` too wide for narrowing. */
function isEntry<E extends CoreEntry | OpaqueEntry>(type: E["type"]) {
	return (entry: SessionEntry | undefined): entry is E => entry?.type === type;
}

export const isSessionHeader = isEntry<SessionHeader>("session");
export const isMessageEntry = isEntry<MessageEntry>("message");
export const isCompactionEntry = isEntry<CompactionEntry>("compaction");
export const isContextUndoEntry = isEntry<ContextUndoEntry>("context_undo");
export const isContextFreezeEntry = isEntry<ContextFreezeEntry>("context_freeze");
export const isModelChangeEntry = isEntry<ModelChangeEntry>("model_change");
export const isThinkingLevelChangeEntry = isEntry<ThinkingLevelChangeEntry>("thinking_level_change");
export const isSystemItemEntry = isEntry<SystemItemEntry>("system_item");
export const isSessionInfoEntry = isEntry<SessionInfoEntry>("session_info");
export const isOpaqueEntry = isEntry<OpaqueEntry>("opaque");

/** True for an entry with a user message. */
export function isUserMessageEntry(entry: SessionEntry | undefined): entry is MessageEntry & { message: UserMessage } {
	return isMessageEntry(entry) && entry.message.role === "user";
}

/** The plain text of a message: text blocks joined by newlines, other blocks omitted. */
export function messageText(message: AppMessage): string {
	if (message.role === "bashExecution") return message.output;
	if (typeof message.content === "string") return message.content;
	return message.content
		.filter((block) => block.type === "text")
		.map((block) => block.text)
		.join("\n");
}

/** True for a reply that ended normally and contains neither text nor tool calls. */
export function isEmptyReply(message: AssistantMessage): boolean {
	const hasCalls = message.content.some(({ type }) => type === "toolCall");
	return message.stopReason === "stop" && !hasCalls && messageText(message).trim() === "";
}

/** The text that the user typed to create this entry; undefined for entries from other sources. */
export function promptOfEntry(entry: SessionEntry | undefined): string | undefined {
	if (!isMessageEntry(entry)) return undefined;
	const { message } = entry;
	if (message.role === "user") return messageText(message);
	return message.role === "bashExecution" ? `${message.excludeFromContext ? "!!" : "!"}${message.command}` : undefined;
}

/** The current time as an ISO timestamp for an entry. */
export function entryTimestamp(): string {
	return new Date().toISOString();
}
