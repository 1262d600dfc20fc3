import type { AssistantMessage, Tool, ToolResultMessage, Usage, UserMessage } from "@mariozechner/pi-ai";

/** How much a model thinks before it answers; `off` sends no reasoning request. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** All thinking levels, least first. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** A shell command that the user ran with `!`; the model sees it as text. */
export interface BashExecutionMessage {
	role: "bashExecution";
	command: string;
	output: string;
	/** 128 + the number of the signal that ended the command; 126 or 127 if it did not start; null if it was canceled. */
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

/** The result of a tool call. */
export interface SessionToolResult extends ToolResultMessage {
	/** Absent if no hook blocked or changed the call. Not sent to the model. */
	gate?: GateRecord;
}

/** A message in a session: the types of pi-ai, and pi's own roles. */
export type AppMessage = UserMessage | AssistantMessage | SessionToolResult | BashExecutionMessage;

/** Record of the context that the model received before it wrote an assistant message. */
export interface ContextRecord {
	/** SHA-256, hex, of the messages as sent. */
	digest: string;
	messages: number;
	tokens: number;
	/** Estimated tokens of the complete request before calibration, from which the next estimates are calibrated. */
	estimate?: number;
	/** True if a subscription paid for the request: the `usage.cost` of the reply is its price without one. */
	subscription?: true;
	/** The messages of the request. Present only if hooks changed the request. */
	shape?: RecordedRequest;
	/** SHA-256, hex, of the system prompt as sent. Absent in records of older versions, like `tools` and `preamble`. */
	system?: string;
	/** SHA-256, hex, of the names, descriptions and parameters of the offered tools. */
	tools?: string;
	/** The system prompt and the tools, before and after hooks. */
	preamble?: RecordedPreamble;
}

/** A section of the system prompt. */
export interface PromptSection {
	/** `base`, `tools`, `context-files`, `skills`, `environment`, or `<hook>:<name>` for a section of a hook. */
	readonly id: string;
	readonly text: string;
}

/** A tool as the model gets it, and its lines in the system prompt. */
export interface ToolInfo {
	readonly name: string;
	readonly description: string;
	/** JSON Schema of the arguments. */
	readonly parameters: Tool["parameters"];
	/** The line in the list of tools; absent: the first sentence of the description. */
	readonly promptLine?: string;
	readonly guidelines?: readonly string[];
	/** Path of the hook that registered it; absent for other tools. */
	readonly hook?: string;
}

/** The system prompt and the tools of a request: those of the record in an earlier reply, or its own. */
export type RecordedPreamble = { readonly reply: number } | OwnPreamble;

/** See `RecordedPreamble`. Sections and tools are written once in a session; lists refer to them. */
export interface OwnPreamble {
	/** The sections and tools that no earlier record has. */
	readonly parts: readonly (PromptSection | ToolInfo)[];
	/** What pi alone would send. */
	readonly core: readonly PartReference[];
	/** What was sent. Present only if hooks changed it. */
	readonly sent?: readonly PartReference[];
	/** Sections that pi generated again for the offered tools, by id; null: omitted. */
	readonly generated?: Readonly<Record<string, PartReference | null>>;
}

/** Position in the `parts` of the same record, or those of the record in an earlier reply. */
export type PartReference = number | readonly [reply: number, part: number];

/**
 * The messages of a request in order, as segments: `[from, to)` is the messages of these entries; `compaction` the
 * summary of that entry, or with `entry` the output that it shortens; `message` a message from a hook, with the index of the entry that it replaces, if any; `part`
 * the message at that position in the record stored with the earlier reply `reply`, so that each is written once.
 */
export type RecordedRequest = readonly RecordedSegment[];

/** See `RecordedRequest`. */
export type RecordedSegment =
	| readonly [from: number, to: number]
	| { compaction: number; entry?: number }
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
	/** What the user typed, if hooks changed the text of the prompt or the shell command. */
	typed?: string;
	/** Names of the hooks that changed the prompt, in the order in which they did. */
	changedBy?: readonly string[];
	/** The parts of a prompt's text that the user pasted, ascending, if they are long: shown folded. */
	pasted?: readonly TextRange[];
	/** The mode that sent a prompt, if nobody could follow it: print or JSON mode. */
	mode?: "print" | "json";
	/** The part of a reply that broke off before its request was sent again. It is not part of any context. */
	retried?: true;
}

/** A part of a text, in UTF-16 units; `end` is not part of it. */
export interface TextRange {
	start: number;
	end: number;
}

/** Earlier entries replaced by a summary in the context. */
export interface CompactionEntry {
	type: "compaction";
	timestamp: string;
	summary: string;
	/** Entries with a lower index are not in the context, except `keptEntries`. */
	firstKeptEntryIndex: number;
	tokensBefore: number;
	/** Prompts before `firstKeptEntryIndex` that stay in the context, by entry index, ascending. */
	keptEntries?: readonly number[];
	/** Kept tool results and shell commands whose output is shortened in the context. */
	shortened?: readonly ShortenedOutput[];
	details?: CompactionDetails;
}

/** An entry whose output is shortened in the context; the log keeps all of it. */
export interface ShortenedOutput {
	entryIndex: number;
	/** Characters that remain, about. */
	characters: number;
}

/** How a summary was made. A hook may write other details. */
export interface CompactionDetails {
	/** Files that the summarized messages read or changed, those of earlier compactions included. */
	readFiles?: readonly string[];
	modifiedFiles?: readonly string[];
	/** The model that wrote the summary, as `provider/id`; null when pi wrote it without a model. */
	model?: string | null;
	/** Why pi wrote the summary without a model. */
	reason?: string;
	/** Requests that the summary took, when the conversation was summarized in more than one part. */
	parts?: number;
}

/** Undoes a compaction, a freeze or an omission of images: the context is computed without it. */
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

/** Images that a provider refused: the context contains a placeholder for each of them. */
export interface ImageOmissionEntry {
	type: "image_omission";
	timestamp: string;
	images: readonly OmittedImage[];
	/** The model whose provider refused them. */
	provider: string;
	modelId: string;
	/** The error of the provider. */
	reason: string;
}

/** An image that is omitted wherever it occurs in the context. */
export interface OmittedImage {
	/** SHA-256, hex, of its base64 data. */
	digest: string;
	/** The entry that contains it; null for an image from a hook. */
	entryIndex: number | null;
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

/** The machine on which tools work from here on. A session without this entry ran where pi runs. */
export interface ToolHostEntry {
	type: "tool_host";
	timestamp: string;
	/** As `--on`; null: where pi runs. */
	on: string | null;
	/** As `ToolHost.name`; empty for null. */
	name: string;
}

/** Usage of a request whose reply is not in the log, such as one for a summary. */
export interface RequestUsageEntry {
	type: "request_usage";
	timestamp: string;
	/** What the request was for, such as `compaction`. */
	purpose: string;
	provider: string;
	modelId: string;
	/** As in a reply. */
	usage: Usage;
	/** As in `ContextRecord`. */
	subscription?: true;
}

/** Text that was added for the model; shown in the transcript and in the context. */
export interface SystemItemEntry {
	type: "system_item";
	timestamp: string;
	/** The hook or feature that added it; for a context file its path, absolute. */
	source: string;
	item: { kind: "task_reminder" | "notification"; text: string } | ContextFileItem;
}

/** The complete content of a context file below the working directory, added when a tool first reached its directory. */
export interface ContextFileItem {
	kind: "context_file";
	text: string;
	/** Set if the file has changed since an earlier entry added it. */
	changed?: true;
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
	| ImageOmissionEntry
	| ModelChangeEntry
	| ThinkingLevelChangeEntry
	| ToolHostEntry
	| RequestUsageEntry
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
	"image_omission",
	"model_change",
	"thinking_level_change",
	"tool_host",
	"request_usage",
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
export const isToolHostEntry = isEntry<ToolHostEntry>("tool_host");
export const isCompactionEntry = isEntry<CompactionEntry>("compaction");
export const isContextUndoEntry = isEntry<ContextUndoEntry>("context_undo");
export const isContextFreezeEntry = isEntry<ContextFreezeEntry>("context_freeze");
export const isImageOmissionEntry = isEntry<ImageOmissionEntry>("image_omission");
export const isModelChangeEntry = isEntry<ModelChangeEntry>("model_change");
export const isThinkingLevelChangeEntry = isEntry<ThinkingLevelChangeEntry>("thinking_level_change");
export const isRequestUsageEntry = isEntry<RequestUsageEntry>("request_usage");
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
	return message.stopReason === "stop" && !hasToolCalls(message) && messageText(message).trim() === "";
}

/** True for a reply with tool calls, after whose results the run continues. */
export function hasToolCalls({ content }: Pick<AssistantMessage, "content">): boolean {
	return content.some(({ type }) => type === "toolCall");
}

/** True for a number that can be the index of an entry. */
export function isIndex(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The current time as an ISO timestamp for an entry. */
export function entryTimestamp(): string {
	return new Date().toISOString();
}
