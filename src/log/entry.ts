import type { ImageContent, JsonValue, TextContent, Usage, UserMessage } from "@mariozechner/pi-ai";
import type { ContextRecord } from "./context-record.js";
import type { ApprovalEntry, GateRecord, LoggedMessage, ThinkingLevel } from "./message.js";

export type * from "./context-record.js";
export * from "./message.js";

/** First line of a session file. */
export interface SessionHeader {
	type: "session";
	version: 1;
	id: string;
	/** ISO 8601. */
	timestamp: string;
	cwd: string;
	/** The git branch of the directory when the session began, or the start of a commit; absent outside a repository. */
	branch?: string;
	/** Path of the session from which this one was branched, or of the file from which it was imported. */
	branchedFrom?: string;
	/** The session of another program from which this one was made. */
	importedFrom?: { program: string; id: string };
}

/** What a session was made from. */
export type SessionOrigin = Pick<SessionHeader, "branchedFrom" | "importedFrom">;

/** A message of the conversation. */
export interface MessageEntry {
	type: "message";
	timestamp: string;
	message: LoggedMessage;
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
	/** For tool results: the files that the call changed, as far as pi can tell. */
	files?: readonly FileChange[];
}

/**
 * The content of a file: the SHA-256 digest (hex) under which it is kept; null: the file did not exist; `unknown`: it was not
 * kept, because it is too large or could not be read.
 */
export type FileContent = string | null;

/** What a tool call, or an undo, did to a file. */
export interface FileChange {
	/** Absolute path on the machine, all links resolved. */
	path: string;
	before: FileContent;
	after: FileContent;
	/** Name of the machine, if it does not have the files of the machine where pi runs. */
	on?: string;
	/** The file could be executed before. Known only of files that git tracks. */
	executable?: true;
}

/** The changes of several tool calls to one file, as one. */
export interface FoldedChange extends FileChange {
	/** Something else changed the file between two of the calls. */
	isInterrupted: boolean;
}

/** Entries `[from, to)`. */
export interface EntryRange {
	from: number;
	to: number;
}

/** The files that an undo restored, and those that it left as they are. */
export interface UndoneFiles extends EntryRange {
	/** `isDeleted`: the file did not exist before. */
	restored: readonly { path: string; isDeleted: boolean }[];
	/** `reason`: a clause, such as "it changed since". */
	left: readonly { path: string; reason: string }[];
	/** Why changes of shell commands are not known; null if they are, or if there were no commands. */
	unknownCommands: string | null;
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
	native?: NativeCompaction;
}

/**
 * What a provider made of the entries of a compaction, in a form that only it can read. Its models get it instead of the summary, which
 * is for people and for all other models.
 */
export interface NativeCompaction {
	/** Wire format, such as `openai-responses`. */
	api: string;
	provider: string;
	/** What stands in the request's conversation. */
	items: readonly Readonly<Record<string, unknown>>[];
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

/** The form that answers have from here on. */
export interface OutputSchemaEntry {
	type: "output_schema";
	timestamp: string;
	/** JSON Schema (2020-12) of the answer; null: answers have no form anymore. */
	schema: Readonly<Record<string, unknown>> | null;
	/** Name of the tool that the model calls to answer; absent: the provider is asked for the form. */
	tool?: string;
}

/** The user undid the changes of the entries `[from, to)` to files. */
export interface FilesRestoredEntry extends EntryRange {
	type: "files_restored";
	timestamp: string;
	/** What the undo did: `before` is what it replaced, which is kept, too. */
	files: readonly FileChange[];
	/** Files that it left as they were. */
	left: readonly string[];
}

/** The user reviewed changes of tools: kept some, or reverted them. */
export interface ChangesReviewedEntry {
	type: "changes_reviewed";
	timestamp: string;
	/** Index of the entry from which on changes were reviewed. */
	from: number;
	/** Files with kept changes: later reviews from the same entry compare with `after`. */
	kept: readonly FileChange[];
	/** What was reverted: `before` is what it replaced. */
	reverted: readonly FileChange[];
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

/** Who calls a tool, if not the model. */
export interface ToolCaller {
	/** Name of the hook. */
	hook: string;
	/** The call of a tool in which this one runs, the outermost one; absent for a call from a command or an event. */
	toolCallId?: string;
}

/** A call of a tool that a hook has made, once it has ended. It is not part of any context. */
export interface HookToolCallEntry {
	type: "hook_tool_call";
	timestamp: string;
	/** Name of the hook. */
	hook: string;
	/** Unique; calls of the model have other ids. */
	toolCallId: string;
	/** As `ToolCaller.toolCallId`. */
	parent?: string;
	toolName: string;
	/** The arguments that the tool received; those of the hook if the call was not run. */
	input: Readonly<Record<string, unknown>>;
	content: readonly (TextContent | ImageContent)[];
	details?: JsonValue;
	isError: boolean;
	gate?: GateRecord;
	/** As in `MessageEntry`. */
	files?: readonly FileChange[];
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
	| HookToolCallEntry
	| ApprovalEntry
	| FilesRestoredEntry
	| ChangesReviewedEntry
	| OutputSchemaEntry
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
	"hook_tool_call",
	"approval",
	"files_restored",
	"changes_reviewed",
	"output_schema",
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
export const isHookToolCallEntry = isEntry<HookToolCallEntry>("hook_tool_call");
export const isApprovalEntry = isEntry<ApprovalEntry>("approval");
export const isFilesRestoredEntry = isEntry<FilesRestoredEntry>("files_restored");
export const isChangesReviewedEntry = isEntry<ChangesReviewedEntry>("changes_reviewed");
export const isOutputSchemaEntry = isEntry<OutputSchemaEntry>("output_schema");
export const isSystemItemEntry = isEntry<SystemItemEntry>("system_item");
export const isSessionInfoEntry = isEntry<SessionInfoEntry>("session_info");
export const isOpaqueEntry = isEntry<OpaqueEntry>("opaque");

/** True for an entry with a user message. */
export function isUserMessageEntry(entry: SessionEntry | undefined): entry is MessageEntry & { message: UserMessage } {
	return isMessageEntry(entry) && entry.message.role === "user";
}

/** True for a number that can be the index of an entry. */
export function isIndex(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The current time as an ISO timestamp for an entry. */
export function entryTimestamp(): string {
	return new Date().toISOString();
}
