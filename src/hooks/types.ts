import type { Api, AssistantMessage, ImageContent, Model, TextContent, ToolResultMessage } from "@mariozechner/pi-ai";
import type { RequestAuth } from "../config/credentials.js";
import type { ContextMessage } from "../context/context-message.js";
import type { AppMessage, CompactionEntry, SessionEntry, ThinkingLevel } from "../log/entry.js";
import type {
	BashToolDetails,
	EditToolDetails,
	FindToolDetails,
	GrepToolDetails,
	LsToolDetails,
	ReadToolDetails,
	WriteToolDetails,
} from "../tools/tool.js";
import type { ExecOptions, ExecResult } from "../util/process.js";
import type { HostHandleName, SystemItem, SystemItemsHandle } from "./handles.js";

export type { ExecOptions, ExecResult, HostHandleName, RequestAuth, SystemItem, SystemItemsHandle };

/** A file attached to a prompt. */
export interface Attachment {
	id: string;
	type: "image" | "document";
	fileName: string;
	mimeType: string;
	/** Bytes. */
	size: number;
	/** Base64. */
	content: string;
	extractedText?: string;
	/** Base64 of a smaller image. */
	preview?: string;
}

/** Last argument of every dialog. */
export interface DialogOptions {
	/** Cancels the dialog. */
	signal?: AbortSignal;
	/** ms after which the dialog is canceled. */
	timeout?: number;
}

/** Last argument of `ui.input`. */
export interface InputOptions extends DialogOptions {
	/** Initial text, which the user can edit. */
	initial?: string;
}

/** An option of `ui.select` with a label of its own. */
export interface SelectOption<T = unknown> {
	label: string;
	value: T;
	description?: string;
}

/** Dialogs. They queue if several are open; each settles exactly once. Without a screen each is canceled at once. */
export interface HookUI {
	/** Lets the user choose. @returns the option itself, or the `value` of a `SelectOption`; null if canceled */
	select<T extends string>(title: string, options: readonly T[], dialog?: DialogOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: DialogOptions): Promise<T | null>;
	/** Asks a yes/no question. @returns false if canceled */
	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
	/** Asks for a line of text. @returns null if canceled */
	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null>;
	/** Shows a line without waiting. */
	notify(message: string, type?: "info" | "warning" | "error"): void;
}

/** Second argument of every handler. Members read current state, and throw once the session or hook is gone. */
export interface HookEventContext {
	/** Runs a program without a shell. A failure of the program does not reject. */
	exec(command: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
	readonly ui: HookUI;
	/** True if a person can answer on the screen; false in print, JSON and RPC mode. */
	readonly hasUI: boolean;
	readonly cwd: string;
	/** null with `--no-session`. */
	readonly sessionFile: string | null;
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	/** All entries; index 0 is the header. Frozen. */
	readonly entries: readonly SessionEntry[];
	/** The current context after all hooks. Frozen. */
	readonly messages: readonly AppMessage[];
	findModel(provider: string, id: string): Model<Api> | null;
	/** Models with a known API key. */
	availableModels(): Promise<Model<Api>[]>;
	/** API key for a model, from OAuth (refreshed), auth file, models file or environment, in this order. */
	resolveApiKey(model: Model<Api>): Promise<string | undefined>;
	/**
	 * API key for a model and the headers of its provider in models.json, as options for `complete` and `stream`.
	 * @returns undefined if no key is known
	 */
	requestAuth(model: Model<Api>): Promise<RequestAuth | undefined>;
	/**
	 * Appends an entry of your own type.
	 * @returns its index, after it is written
	 * @throws PiError `entry_refused`, writing nothing, for a reserved or missing type or a value that JSON cannot represent
	 */
	saveEntry(entry: { type: string; [field: string]: unknown }): Promise<number>;
	/** Appends several entries in one write: after a crash the log has all of them or none. @returns their indices */
	saveEntries(entries: readonly { type: string; [field: string]: unknown }[]): Promise<number[]>;
	/** Computes the context again from the entries; in tool events this happens before the next request. */
	rebuildContext(): Promise<void>;
	/** Adds texts to the context; undefined unless the user has granted it to this hook. See `HookAPI.requires`. */
	readonly systemItems?: SystemItemsHandle;
	/** Aborted when the run or operation that this handler belongs to is canceled, or when the handler times out. */
	readonly signal: AbortSignal;
}

/** Argument of a command handler. */
export interface CommandContext extends HookEventContext {
	/** Arguments, split like a shell does: quotes and backslash; an unbalanced quote is literal. */
	readonly args: string[];
	/** Everything after the command name and one space. */
	readonly argsRaw: string;
	setModel(model: Model<Api>): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	/** Replaces the text in the editor; a no-op without a screen. */
	setEditorText(text: string): void;
}

/** Answer of a command: a prompt for the agent, or a line to show. */
export type CommandResult = string | { prompt: string; attachments?: Attachment[] } | { status: string };

/** One suggestion for a command's arguments. */
export interface CompletionItem {
	value: string;
	label?: string;
	description?: string;
}

/** Second argument of `pi.command`. */
export interface CommandOptions {
	description?: string;
	/** Shown after the name in the palette, such as `[turn]`. */
	argumentHint?: string;
	/** Suggests arguments. `prefix` is the text after the command name. */
	complete?(prefix: string, ctx: HookEventContext): CompletionItem[] | Promise<CompletionItem[]>;
	handler(ctx: CommandContext): CommandResult | undefined | void | Promise<CommandResult | undefined | void>;
}

/** Text styles for entries that a hook renders. */
export interface EntryTheme {
	accent(text: string): string;
	dim(text: string): string;
	bold(text: string): string;
	success(text: string): string;
	warning(text: string): string;
	error(text: string): string;
}

/** A component returned by a hook's renderer; each line has at most `width` columns. */
export interface EntryComponent {
	render(width: number): string[];
	invalidate(): void;
}

/** Second argument of `pi.entry`. */
export interface EntryOptions {
	/** Renders an entry in the transcript: text, which pi wraps, or a component. */
	render?(entry: SessionEntry, theme: EntryTheme): string | EntryComponent;
}

interface SessionEventBase {
	type: "session";
	readonly entries: readonly SessionEntry[];
	/** null with `--no-session`. */
	sessionFile: string | null;
	/** The previous session file, after a switch, branch or clear; null otherwise. */
	previousSessionFile: string | null;
}

/** The position of a compaction in the log. */
export interface CutPoint {
	firstKeptEntryIndex: number;
	/** The cut is inside a turn: its beginning is summarized, its end kept. */
	isSplitTurn: boolean;
}

/** The session starts, changes or ends. `before_…` can be canceled. */
export type SessionEvent = SessionEventBase &
	(
		| { reason: "start" | "before_switch" | "switch" | "before_clear" | "clear" | "shutdown" }
		/** `targetTurnIndex` is the entry index of the user message to branch from. */
		| { reason: "before_branch" | "branch"; targetTurnIndex: number }
		| {
				reason: "before_compact";
				cutPoint: CutPoint;
				/** The context before the cut. */
				messagesToSummarize: readonly AppMessage[];
				messagesToKeep: readonly AppMessage[];
				/** Summary of the previous compaction. */
				previousSummary?: string;
				tokensBefore: number;
				model: Model<Api>;
				apiKey: string | undefined;
				resolveApiKey(model: Model<Api>): Promise<string | undefined>;
				customInstructions?: string;
				signal: AbortSignal;
		  }
		| { reason: "compact"; compactionEntry: CompactionEntry; tokensBefore: number; fromHook: boolean }
	);

/** The reason of a `session` event. */
export type SessionReason = SessionEvent["reason"];

/** Answer to a `session` event; ignored unless the reason is `before_…`. */
export interface SessionEventResult {
	/** Stops a switch, clear, branch or compaction. */
	cancel?: boolean;
	/** `before_branch`: the new session keeps all entries, so the conversation is unchanged. */
	skipConversationRestore?: boolean;
	/** `before_compact`: replaces the summary by the model. */
	compactionEntry?: CompactionEntry;
}

/** A run starts. */
export interface AgentStartEvent {
	type: "agent_start";
}

/** A run has ended. */
export interface AgentEndEvent {
	type: "agent_end";
	/** New messages of this run. */
	messages: readonly AppMessage[];
}

/** A turn starts. */
export interface TurnStartEvent {
	type: "turn_start";
	/** From 0 in each run. */
	turnIndex: number;
	/** ms since the epoch. */
	timestamp: number;
}

/** A turn has ended; its response and tool results are in the log. */
export interface TurnEndEvent {
	type: "turn_end";
	turnIndex: number;
	message: AssistantMessage;
	toolResults: readonly ToolResultMessage[];
}

/** The context is computed and about to be sent. Runs before every request, including retries. */
export interface BeforeRequestEvent {
	type: "before_request";
	readonly model: Readonly<{ provider: string; id: string }>;
	/** Number of messages in the context, after all hooks. */
	messageCount: number;
	/** Tokens of these messages: counted by the provider if known, else estimated. */
	tokens: number;
	/** Index of the turn, from 0 in each run. */
	turnIndex: number;
}

/** Answer to `before_request`. The first `stop` ends the run: nothing is sent, and pi shows the reason. */
export type BeforeRequestEventResult = { action: "continue" } | { action: "stop"; reason: string };

/** A tool is about to run. */
export interface ToolCallEvent {
	type: "tool_call";
	toolName: string;
	toolCallId: string;
	/** Validated arguments, a frozen copy. */
	input: Readonly<Record<string, unknown>>;
}

/** Answer to `tool_call`; without an answer the call runs. The first block wins. */
export interface ToolCallEventResult {
	block?: boolean;
	/** Sent to the model as the tool result. */
	reason?: string;
}

interface ToolResultEventBase {
	type: "tool_result";
	toolCallId: string;
	input: Readonly<Record<string, unknown>>;
	content: readonly (TextContent | ImageContent)[];
	isError: boolean;
}

export interface BashToolResultEvent extends ToolResultEventBase {
	toolName: "bash";
	details: BashToolDetails | undefined;
}
export interface ReadToolResultEvent extends ToolResultEventBase {
	toolName: "read";
	details: ReadToolDetails | undefined;
}
export interface EditToolResultEvent extends ToolResultEventBase {
	toolName: "edit";
	details: EditToolDetails | undefined;
}
export interface WriteToolResultEvent extends ToolResultEventBase {
	toolName: "write";
	details: WriteToolDetails | undefined;
}
export interface GrepToolResultEvent extends ToolResultEventBase {
	toolName: "grep";
	details: GrepToolDetails | undefined;
}
export interface FindToolResultEvent extends ToolResultEventBase {
	toolName: "find";
	details: FindToolDetails | undefined;
}
export interface LsToolResultEvent extends ToolResultEventBase {
	toolName: "ls";
	details: LsToolDetails | undefined;
}
/** A tool that is not built in. */
export interface CustomToolResultEvent extends ToolResultEventBase {
	toolName: string;
	details: unknown;
}

/** A tool has run. Handlers chain: each receives the result of the one before it. */
export type ToolResultEvent =
	| BashToolResultEvent
	| ReadToolResultEvent
	| EditToolResultEvent
	| WriteToolResultEvent
	| GrepToolResultEvent
	| FindToolResultEvent
	| LsToolResultEvent
	| CustomToolResultEvent;

/** Answer to `tool_result`: each given field replaces that of the tool result. */
export interface ToolResultEventResult {
	content?: (TextContent | ImageContent)[];
	details?: unknown;
	isError?: boolean;
}

/** The context is being computed. Handlers must not cause effects. */
export interface ContextEvent {
	type: "context";
	readonly entries: readonly SessionEntry[];
	/** The messages computed from the entries, after the hooks before this one. */
	readonly messages: readonly ContextMessage[];
}

/** Answer to `context`: the list that replaces `event.messages`. */
export interface ContextEventResult {
	messages: readonly (ContextMessage | AppMessage)[];
}

/** Every event by name. */
export interface HookEvents {
	session: SessionEvent;
	agent_start: AgentStartEvent;
	agent_end: AgentEndEvent;
	turn_start: TurnStartEvent;
	turn_end: TurnEndEvent;
	before_request: BeforeRequestEvent;
	tool_call: ToolCallEvent;
	tool_result: ToolResultEvent;
	context: ContextEvent;
}

/** Answers by event, for the events that read one. */
export interface HookAnswers {
	session: SessionEventResult;
	before_request: BeforeRequestEventResult;
	tool_call: ToolCallEventResult;
	tool_result: ToolResultEventResult;
	context: ContextEventResult;
}

/** Allowed return values by event: an answer if the event reads one, or nothing. */
export type HookResults = {
	[N in HookEventName]: (N extends keyof HookAnswers ? HookAnswers[N] : never) | undefined | void;
};

export type HookEventName = keyof HookEvents;

/** A function that a hook registers for an event. Sync or async. */
export type HookHandler<N extends HookEventName> = (
	event: HookEvents[N],
	ctx: HookEventContext,
) => HookResults[N] | Promise<HookResults[N]>;

/** Argument of a hook's default export. */
export interface HookAPI {
	/** Runs `handler` at each `event`. With an unknown name the hook does not load. */
	on<N extends HookEventName>(event: N, handler: HookHandler<N>): void;
	/** Adds a slash command. */
	command(name: string, options: CommandOptions): void;
	/** Sends a prompt: queues it while the agent runs, else starts a run. Not supported in print mode. */
	send(text: string, attachments?: Attachment[]): void;
	/** Declares an entry type of this hook. */
	entry(type: string, options?: EntryOptions): void;
	/** Requires handles. The hook does not load unless the user has granted all of them. */
	requires(...handles: HostHandleName[]): void;
}

/** The default export of a hook file. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;
