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
	/** null when the command was cancelled or did not start. */
	exitCode: number | null;
	cancelled: boolean;
	truncated: boolean;
	/** Where the whole output is, when `output` is only its end. */
	fullOutputPath?: string;
	/** Set by `!!`: shown and kept, never sent to the model. */
	excludeFromContext?: boolean;
	/** ms since the epoch. */
	timestamp: number;
}

/** A message as the session keeps it: the shapes of pi-ai, and pi's own roles. */
export type AppMessage = UserMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage;

/** What the model was given when it wrote an assistant message. */
export interface ContextRecord {
	/** SHA-256, hex, of the messages as sent. */
	digest: string;
	messages: number;
	tokens: number;
	/** The messages one by one. Only where hooks made something else of the entries than pi alone would. */
	shape?: RecordedRequest;
}

/**
 * A list of messages, in order, as parts: `[from, to)` stands for the messages of these entries; `compaction` for the
 * summary of one; `message` for one that a hook made, in place of an entry or of none; `part` for the message of another
 * shape, beside the earlier reply `reply`, so that each is written once.
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
	/** Path of the session this one was branched from. */
	branchedFrom?: string;
}

/** A message of the conversation. */
export interface MessageEntry {
	type: "message";
	timestamp: string;
	message: AppMessage;
	/** Beside assistant messages: the context that led to it. */
	context?: ContextRecord;
}

/** Earlier entries replaced by a summary in the context. */
export interface CompactionEntry {
	type: "compaction";
	timestamp: string;
	summary: string;
	/** Entries with a lower index are left out of the context. */
	firstKeptEntryIndex: number;
	tokensBefore: number;
}

/** A compaction or a freeze no longer counts: the context is what it would be without it. */
export interface ContextUndoEntry {
	type: "context_undo";
	timestamp: string;
	/** Index of what is undone. */
	entryIndex: number;
}

/** What the model was given once stands in place of the entries before that request. */
export interface ContextFreezeEntry {
	type: "context_freeze";
	timestamp: string;
	/** Index of the reply to that request. The shape beside it says what the messages were. */
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
	/** The hook or feature that asked for it. */
	source: string;
	item: { kind: "task_reminder" | "notification"; text: string };
}

/** The session was named. */
export interface SessionInfoEntry {
	type: "session_info";
	timestamp: string;
	name: string;
}

/** An entry of a hook. The core keeps it byte for byte and does not read it. */
export interface CustomEntry {
	type: string;
	timestamp?: string | number;
	[field: string]: unknown;
}

/** Stands in place of a line that cannot be read, so that later indices stay true. Never written. */
export interface OpaqueEntry {
	type: "opaque";
	/** Why the line could not be read. */
	reason: string;
}

/** Entries that the core itself writes and reads. */
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

/** One line of a session, known by its index; index 0 is the header. */
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

export function isSessionHeader(entry: SessionEntry | undefined): entry is SessionHeader {
	return entry?.type === "session";
}

export function isMessageEntry(entry: SessionEntry | undefined): entry is MessageEntry {
	return entry?.type === "message";
}

export function isCompactionEntry(entry: SessionEntry | undefined): entry is CompactionEntry {
	return entry?.type === "compaction";
}

export function isContextUndoEntry(entry: SessionEntry | undefined): entry is ContextUndoEntry {
	return entry?.type === "context_undo";
}

export function isContextFreezeEntry(entry: SessionEntry | undefined): entry is ContextFreezeEntry {
	return entry?.type === "context_freeze";
}

export function isModelChangeEntry(entry: SessionEntry | undefined): entry is ModelChangeEntry {
	return entry?.type === "model_change";
}

export function isThinkingLevelChangeEntry(entry: SessionEntry | undefined): entry is ThinkingLevelChangeEntry {
	return entry?.type === "thinking_level_change";
}

export function isSystemItemEntry(entry: SessionEntry | undefined): entry is SystemItemEntry {
	return entry?.type === "system_item";
}

export function isSessionInfoEntry(entry: SessionEntry | undefined): entry is SessionInfoEntry {
	return entry?.type === "session_info";
}

export function isOpaqueEntry(entry: SessionEntry | undefined): entry is OpaqueEntry {
	return entry?.type === "opaque";
}

/** True for an entry whose message the user wrote: where a turn of the conversation begins. */
export function isUserMessageEntry(entry: SessionEntry | undefined): entry is MessageEntry & { message: UserMessage } {
	return isMessageEntry(entry) && entry.message.role === "user";
}

/** The plain text of a message's content, text blocks joined by newlines; other blocks left out. */
export function messageText(message: AppMessage): string {
	if (message.role === "bashExecution") return message.output;
	if (typeof message.content === "string") return message.content;
	return message.content
		.filter((block) => block.type === "text")
		.map((block) => block.text)
		.join("\n");
}

/** True for a reply that has ended well and has neither a text nor a tool call. */
export function saysNothing(message: AssistantMessage): boolean {
	const hasCalls = message.content.some(({ type }) => type === "toolCall");
	return message.stopReason === "stop" && !hasCalls && messageText(message).trim() === "";
}

/** What the user typed to make this entry; undefined when it is none of theirs. */
export function promptOfEntry(entry: SessionEntry | undefined): string | undefined {
	if (!isMessageEntry(entry)) return undefined;
	const { message } = entry;
	if (message.role === "user") return messageText(message);
	return message.role === "bashExecution" ? `${message.excludeFromContext ? "!!" : "!"}${message.command}` : undefined;
}

/** An ISO timestamp for an entry written now. */
export function entryTimestamp(): string {
	return new Date().toISOString();
}
