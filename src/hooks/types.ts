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
import type { HookUI } from "./ui-types.js";

export type * from "./ui-types.js";
export type { ExecOptions, ExecResult, HostHandleName, RequestAuth, SystemItem, SystemItemsHandle };

/** A file that goes with a prompt. */
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

/** What every handler gets beside its event. Always reads current state; throws once its session or hook is gone. */
export interface HookEventContext {
	/** Runs a program without a shell. Never rejects because of what the program does. */
	exec(command: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
	readonly ui: HookUI;
	/** True where a person sits at the screen; false in print, JSON and RPC mode. */
	readonly hasUI: boolean;
	readonly cwd: string;
	/** null with `--no-session`. */
	readonly sessionFile: string | null;
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	/** All entries, index 0 is the header; frozen. */
	readonly entries: readonly SessionEntry[];
	/** The current context after all hooks; frozen. */
	readonly messages: readonly AppMessage[];
	findModel(provider: string, id: string): Model<Api> | null;
	/** Models for which a key is known. */
	availableModels(): Promise<Model<Api>[]>;
	/** Key for a model: OAuth (refreshed), auth file, models file, environment. */
	resolveApiKey(model: Model<Api>): Promise<string | undefined>;
	/**
	 * What a request to a model needs: its key, and the headers that models.json adds for its provider. Goes with the
	 * options of `complete` and `stream`.
	 * @returns undefined when no key is known
	 */
	requestAuth(model: Model<Api>): Promise<RequestAuth | undefined>;
	/**
	 * Appends an entry of your own type.
	 * @returns its index, once it is written
	 * @throws PiError `entry_refused` for a reserved or missing type and for what JSON cannot hold; nothing is written
	 */
	saveEntry(entry: { type: string; [field: string]: unknown }): Promise<number>;
	/** Appends several entries as one write: after a crash all are there or none. @returns their indices */
	saveEntries(entries: readonly { type: string; [field: string]: unknown }[]): Promise<number[]>;
	/** Computes the context again from the entries. From tool events it happens before the next request. */
	rebuildContext(): Promise<void>;
	/** Adds what the model is told; undefined unless the user has granted it to this hook. See `HookAPI.requires`. */
	readonly systemItems?: SystemItemsHandle;
	/** Aborted when what this handler belongs to is cancelled. */
	readonly signal: AbortSignal;
}

/** What a command handler gets. */
export interface CommandContext extends HookEventContext {
	/** Arguments split as a shell would: quotes and backslash; an unbalanced quote is taken literally. */
	readonly args: string[];
	/** Everything after the name and one blank. */
	readonly argsRaw: string;
	setModel(model: Model<Api>): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	/** Puts text into the editor; nothing happens without a screen. */
	setEditorText(text: string): void;
}

/** What a command asks for: a prompt for the agent, or a line to show. */
export type CommandResult = string | { prompt: string; attachments?: Attachment[] } | { status: string };

/** One suggestion for a command's arguments. */
export interface CompletionItem {
	value: string;
	label?: string;
	description?: string;
}

/** What `pi.command` registers. */
export interface CommandOptions {
	description?: string;
	/** Shown after the name in the palette, such as `[turn]`. */
	argumentHint?: string;
	/** Suggests arguments. `prefix` is what stands after the name. */
	complete?(prefix: string, ctx: HookEventContext): CompletionItem[] | Promise<CompletionItem[]>;
	handler(ctx: CommandContext): CommandResult | undefined | void | Promise<CommandResult | undefined | void>;
}

/** Text styles for entries that a hook draws itself. */
export interface EntryTheme {
	accent(text: string): string;
	dim(text: string): string;
	bold(text: string): string;
	success(text: string): string;
	warning(text: string): string;
	error(text: string): string;
}

/** A component that a hook's renderer may return: lines of at most `width` columns. */
export interface EntryComponent {
	render(width: number): string[];
	invalidate(): void;
}

/** What `pi.entry` declares. */
export interface EntryOptions {
	/** Draws an entry in the transcript: text, which is wrapped, or a component. */
	render?(entry: SessionEntry, theme: EntryTheme): string | EntryComponent;
}

interface SessionEventBase {
	type: "session";
	readonly entries: readonly SessionEntry[];
	/** null with `--no-session`. */
	sessionFile: string | null;
	/** The file left by a switch, branch or clear; null otherwise. */
	previousSessionFile: string | null;
}

/** Where a compaction cuts. */
export interface CutPoint {
	firstKeptEntryIndex: number;
	/** The cut falls inside a turn: its beginning is summarized, its end kept. */
	isSplitTurn: boolean;
}

/** The session begins, changes or ends. `before_…` can be cancelled. */
export type SessionEvent = SessionEventBase &
	(
		| { reason: "start" | "before_switch" | "switch" | "before_clear" | "clear" | "shutdown" }
		/** `targetTurnIndex` is the index of the user message that is branched from. */
		| { reason: "before_branch" | "branch"; targetTurnIndex: number }
		| {
				reason: "before_compact";
				cutPoint: CutPoint;
				/** What the model was seeing before the cut. */
				messagesToSummarize: readonly AppMessage[];
				messagesToKeep: readonly AppMessage[];
				/** Summary of the compaction before this one. */
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

/** Why a `session` event comes. */
export type SessionReason = SessionEvent["reason"];

/** Answer to a `session` event; only `before_…` reasons read it. */
export interface SessionEventResult {
	/** Stops a switch, clear, branch or compaction. */
	cancel?: boolean;
	/** `before_branch`: the new session gets all entries, the conversation stays as it is. */
	skipConversationRestore?: boolean;
	/** `before_compact`: use this in place of a summary by the model. */
	compactionEntry?: CompactionEntry;
}

/** A run begins. */
export interface AgentStartEvent {
	type: "agent_start";
}

/** A run has ended. */
export interface AgentEndEvent {
	type: "agent_end";
	/** New messages of this run. */
	messages: readonly AppMessage[];
}

/** A turn begins. */
export interface TurnStartEvent {
	type: "turn_start";
	/** From 0 in each run. */
	turnIndex: number;
	/** ms since the epoch. */
	timestamp: number;
}

/** A turn has ended: response and tool results are in the log. */
export interface TurnEndEvent {
	type: "turn_end";
	turnIndex: number;
	message: AssistantMessage;
	toolResults: readonly ToolResultMessage[];
}

/** The context is computed and about to be sent. Runs before every request of a run, repeated ones too. */
export interface BeforeRequestEvent {
	type: "before_request";
	readonly model: Readonly<{ provider: string; id: string }>;
	/** Messages of the context, after all hooks. */
	messageCount: number;
	/** Of these messages: as the provider counted them where it did, else estimated. */
	tokens: number;
	/** Of the turn that the request belongs to, from 0 in each run. */
	turnIndex: number;
}

/** Answer to `before_request`. The first `stop` ends the run; nothing is sent, and the user reads the reason. */
export type BeforeRequestEventResult = { action: "continue" } | { action: "stop"; reason: string };

/** A tool is about to run. */
export interface ToolCallEvent {
	type: "tool_call";
	toolName: string;
	toolCallId: string;
	/** Validated arguments, a frozen copy. */
	input: Readonly<Record<string, unknown>>;
}

/** Answer to `tool_call`: nothing lets the call through; the first block wins. */
export interface ToolCallEventResult {
	block?: boolean;
	/** Told to the model. */
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

/** A tool has run; handlers chain, each sees the content that the one before it left. */
export type ToolResultEvent =
	| BashToolResultEvent
	| ReadToolResultEvent
	| EditToolResultEvent
	| WriteToolResultEvent
	| GrepToolResultEvent
	| FindToolResultEvent
	| LsToolResultEvent
	| CustomToolResultEvent;

/** Answer to `tool_result`: what is given replaces what the tool returned. */
export interface ToolResultEventResult {
	content?: (TextContent | ImageContent)[];
	details?: unknown;
	isError?: boolean;
}

/** The context is being computed. Handlers must not cause effects. */
export interface ContextEvent {
	type: "context";
	readonly entries: readonly SessionEntry[];
	/** What the core made of the entries, changed by the hooks before this one. */
	readonly messages: readonly ContextMessage[];
}

/** Answer to `context`: the list that takes the place of `event.messages`. */
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

/** Answers of handlers, of the events that read one. */
export interface HookAnswers {
	session: SessionEventResult;
	before_request: BeforeRequestEventResult;
	tool_call: ToolCallEventResult;
	tool_result: ToolResultEventResult;
	context: ContextEventResult;
}

/** What a handler of each event may return: its answer where one is read, or nothing. */
export type HookResults = {
	[N in HookEventName]: (N extends keyof HookAnswers ? HookAnswers[N] : never) | undefined | void;
};

export type HookEventName = keyof HookEvents;

/** A function in a hook file. Sync or async. */
export type HookHandler<N extends HookEventName> = (
	event: HookEvents[N],
	ctx: HookEventContext,
) => HookResults[N] | Promise<HookResults[N]>;

/** What a hook's default export receives. */
export interface HookAPI {
	/** Runs `handler` at each `event`. An unknown name fails the load. */
	on<N extends HookEventName>(event: N, handler: HookHandler<N>): void;
	/** Adds a slash command. */
	command(name: string, options: CommandOptions): void;
	/** Sends a prompt: queued while the agent runs, else it starts a run. Not supported in print mode. */
	send(text: string, attachments?: Attachment[]): void;
	/** Declares an entry type as this hook's own. */
	entry(type: string, options?: EntryOptions): void;
	/** Says which handles the hook cannot do without. One that the user has not granted fails the load. */
	requires(...handles: HostHandleName[]): void;
}

/** The default export of a hook file. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;
