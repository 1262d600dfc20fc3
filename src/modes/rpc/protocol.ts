import type { Api, AssistantMessageEvent, Model } from "@mariozechner/pi-ai";
import { type Static, type TSchema, Type } from "typebox";
import type { BranchTarget, PaletteItem, SessionStats } from "../../commands/command.js";
import type { ContextProblem } from "../../context/context-message.js";
import type { ContextReport } from "../../context/ledger.js";
import type { AppMessage, ThinkingLevel } from "../../log/entry.js";
import type { AgentSessionEvent } from "../../session/events.js";

const Attachment = Type.Object({
	id: Type.String(),
	type: Type.Union([Type.Literal("image"), Type.Literal("document")]),
	fileName: Type.String(),
	mimeType: Type.String(),
	size: Type.Number(),
	content: Type.String({ description: "base64" }),
	extractedText: Type.Optional(Type.String()),
	preview: Type.Optional(Type.String()),
});
const Image = Type.Object({ type: Type.Literal("image"), data: Type.String(), mimeType: Type.String() });
const Level = Type.Union([
	Type.Literal("off"),
	Type.Literal("minimal"),
	Type.Literal("low"),
	Type.Literal("medium"),
	Type.Literal("high"),
	Type.Literal("xhigh"),
]);
const Said = Type.Object({
	message: Type.String(),
	attachments: Type.Optional(Type.Array(Attachment)),
	images: Type.Optional(Type.Array(Image)),
});
const Nothing = Type.Object({});
const Switch = Type.Object({ enabled: Type.Boolean() });

/** Every command by its `type`, with the fields it takes beside `type` and `id`. Fields that are not named are ignored. */
export const RPC_COMMANDS = {
	/** A line of the user; a slash command runs. */
	prompt: Said,
	/** Said after the current tool calls of a run; a slash means nothing. Without a run it starts one. */
	queue_message: Said,
	abort: Nothing,
	reset: Nothing,
	get_state: Nothing,
	/** The messages that the model sees next. */
	get_messages: Nothing,
	set_model: Type.Object({ provider: Type.String(), modelId: Type.String() }),
	cycle_model: Nothing,
	get_available_models: Nothing,
	set_thinking_level: Type.Object({ level: Level }),
	cycle_thinking_level: Nothing,
	set_queue_mode: Type.Object({ mode: Type.Union([Type.Literal("one-at-a-time"), Type.Literal("all")]) }),
	compact: Type.Object({ customInstructions: Type.Optional(Type.String()) }),
	set_auto_compaction: Switch,
	set_auto_retry: Switch,
	abort_retry: Nothing,
	/** A shell command of the user; `excludeFromContext` keeps it from the model. */
	bash: Type.Object({ command: Type.String(), excludeFromContext: Type.Optional(Type.Boolean()) }),
	abort_bash: Nothing,
	get_session_stats: Nothing,
	export_html: Type.Object({ outputPath: Type.Optional(Type.String()) }),
	/** A path, an id or the start of one. */
	switch_session: Type.Object({ sessionPath: Type.String() }),
	branch: Type.Object({ entryIndex: Type.Integer() }),
	get_branch_messages: Nothing,
	get_last_assistant_text: Nothing,
	get_commands: Nothing,
	get_context: Nothing,
} as const satisfies Record<string, TSchema>;

export type RpcCommandName = keyof typeof RPC_COMMANDS;

/** The fields of each command beside `type` and `id`. */
export type RpcParams = { [N in RpcCommandName]: Static<(typeof RPC_COMMANDS)[N]> };

/** A line that a client sends: a command. `id` is echoed as it is. */
export type RpcCommand<N extends RpcCommandName = RpcCommandName> = {
	[C in N]: { type: C; id?: unknown } & RpcParams[C];
}[N];

/** What became of a prompt: a run has begun, it waits for its moment, or it was a command and is done. */
export type PromptAnswer =
	| { outcome: "started" }
	| { outcome: "queued" }
	/** `status`: what the command said; null for nothing. */
	| { outcome: "command"; status: string | null };

/** Answer to `get_state`. */
export interface RpcState {
	model: Model<Api> | null;
	thinkingLevel: ThinkingLevel;
	isStreaming: boolean;
	isCompacting: boolean;
	queueMode: "one-at-a-time" | "all";
	/** null when the session is kept in memory. */
	sessionFile: string | null;
	sessionId: string;
	autoCompactionEnabled: boolean;
	autoRetryEnabled: boolean;
	/** Of the messages that the model sees next. */
	messageCount: number;
	queuedMessageCount: number;
}

/** Answer to `bash`. */
export interface RpcBashResult {
	output: string;
	/** null when the command was cancelled. */
	exitCode: number | null;
	cancelled: boolean;
	truncated: boolean;
	fullOutputPath?: string;
	/** Where it is in the log. */
	entryIndex: number;
}

/** `data` of the answer to each command; null for commands that answer nothing. */
export interface RpcResults {
	prompt: PromptAnswer;
	queue_message: PromptAnswer;
	/** The prompts that waited. */
	abort: { queued: string[] };
	reset: { cancelled: boolean };
	get_state: RpcState;
	get_messages: { messages: readonly AppMessage[] };
	set_model: Model<Api>;
	/** null when there is no other. */
	cycle_model: { model: Model<Api>; thinkingLevel: ThinkingLevel } | null;
	get_available_models: { models: Model<Api>[] };
	set_thinking_level: null;
	cycle_thinking_level: { level: ThinkingLevel };
	set_queue_mode: null;
	/** Tokens are estimates. */
	compact: { summary: string; tokensBefore: number; tokensAfter: number };
	set_auto_compaction: null;
	set_auto_retry: null;
	abort_retry: null;
	bash: RpcBashResult;
	abort_bash: null;
	get_session_stats: SessionStats;
	export_html: { path: string };
	switch_session: { cancelled: boolean };
	/** The text of the message that was branched from, for an editor; empty when a hook cancelled it. */
	branch: { text: string; cancelled: boolean };
	get_branch_messages: { messages: BranchTarget[] };
	get_last_assistant_text: { text: string | null };
	get_commands: { commands: PaletteItem[] };
	get_context: ContextReport;
}

/** The answer to one line. `command` is `parse` for a line that is no command. */
export type RpcResponse =
	| { id?: unknown; type: "response"; command: string; success: true; data?: unknown }
	| { id?: unknown; type: "response"; command: string; success: false; error: string };

/** A dialog, or a line to show: `notify` expects no answer. */
export type HookUIRequest = { type: "hook_ui_request"; id: string } & (
	| { method: "select"; title: string; options: string[]; descriptions?: (string | null)[]; timeout?: number }
	| { method: "confirm"; title: string; message: string; timeout?: number }
	| { method: "input"; title: string; placeholder?: string; initial?: string; timeout?: number }
	| { method: "notify"; message: string; notifyType: "info" | "warning" | "error" }
);

/** Answers a dialog: `value` for select and input, `confirmed` for confirm. */
export interface HookUIResponse {
	type: "hook_ui_response";
	id: string;
	value?: string;
	confirmed?: boolean;
	cancelled?: boolean;
}

/** What happens, as lines: the events of the session, and dialogs. */
export type RpcEvent =
	| Exclude<AgentSessionEvent, { type: "context_changed" | "message_update" }>
	/** The context is not what it was with something added: ask for it with `get_context`. */
	| { type: "context_changed"; messages: number; hidden: number; problems: readonly ContextProblem[] }
	/** At most about ten a second. Deltas of the same block in between come as one; `message` is the whole so far. */
	| { type: "message_update"; message: AppMessage; assistantMessageEvent: RpcMessageEvent }
	| HookUIRequest
	/** A dialog was closed before it was answered: its run was stopped, or its time is up. */
	| { type: "hook_ui_closed"; id: string };

/** An update without the message so far: that is beside it. */
export type RpcMessageEvent = AssistantMessageEvent extends infer E
	? E extends { partial: unknown }
		? Omit<E, "partial">
		: E
	: never;
