import type { Api, Model } from "@mariozechner/pi-ai";
import { type Static, type TSchema, Type } from "typebox";
import type { MessageChange } from "../../agent/message-changes.js";
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
	Type.Literal("max"),
]);
const PromptFields = Type.Object({
	message: Type.String(),
	attachments: Type.Optional(Type.Array(Attachment)),
	images: Type.Optional(Type.Array(Image)),
});
const Nothing = Type.Object({});
const Switch = Type.Object({ enabled: Type.Boolean() });

/** The fields of every command in addition to `type` and `id`, by command name. Other fields are ignored. */
export const RPC_COMMANDS = {
	/** Sends a prompt or runs a slash command. */
	prompt: PromptFields,
	/** Sends a prompt, during a run after the current tool calls. Does not run slash commands. */
	queue_message: PromptFields,
	abort: Nothing,
	reset: Nothing,
	get_state: Nothing,
	/** Returns the messages of the next request. */
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
	/** Runs a shell command for the user; `excludeFromContext` hides it from the model. */
	bash: Type.Object({ command: Type.String(), excludeFromContext: Type.Optional(Type.Boolean()) }),
	abort_bash: Nothing,
	get_session_stats: Nothing,
	export_html: Type.Object({ outputPath: Type.Optional(Type.String()) }),
	/** `sessionPath`: a path, an id or the start of an id. */
	switch_session: Type.Object({ sessionPath: Type.String() }),
	branch: Type.Object({ entryIndex: Type.Integer() }),
	get_branch_messages: Nothing,
	get_last_assistant_text: Nothing,
	get_commands: Nothing,
	get_context: Nothing,
} as const satisfies Record<string, TSchema>;

export type RpcCommandName = keyof typeof RPC_COMMANDS;

/** The fields of each command in addition to `type` and `id`. */
export type RpcParams = { [N in RpcCommandName]: Static<(typeof RPC_COMMANDS)[N]> };

/** A command of the client. The answer repeats its `id`. */
export type RpcCommand<N extends RpcCommandName = RpcCommandName> = {
	[C in N]: { type: C; id?: unknown } & RpcParams[C];
}[N];

/** Result of a prompt: its run has begun, it is queued, a hook has handled it, or it was a slash command and has finished. */
export type PromptAnswer =
	| { outcome: "started" }
	| { outcome: "queued" }
	/** A hook has handled it: nothing is sent. */
	| { outcome: "handled"; hook: string }
	/** `status`: status line of the command, or null. */
	| { outcome: "command"; status: string | null };

/** Answer to `get_state`. */
export interface RpcState {
	model: Model<Api> | null;
	thinkingLevel: ThinkingLevel;
	isStreaming: boolean;
	isCompacting: boolean;
	queueMode: "one-at-a-time" | "all";
	/** null for a session in memory. */
	sessionFile: string | null;
	sessionId: string;
	autoCompactionEnabled: boolean;
	autoRetryEnabled: boolean;
	/** Number of messages in the next request. */
	messageCount: number;
	queuedMessageCount: number;
	/** Number of background commands that run. */
	jobCount: number;
}

/** Answer to `bash`. */
export interface RpcBashResult {
	output: string;
	/** null when the command was aborted. */
	exitCode: number | null;
	cancelled: boolean;
	truncated: boolean;
	fullOutputPath?: string;
	entryIndex: number;
}

/** `data` of the answer to each command; null for commands without a result. */
export interface RpcResults {
	prompt: PromptAnswer;
	queue_message: PromptAnswer;
	/** The prompts removed from the queue. */
	abort: { queued: string[] };
	reset: { cancelled: boolean };
	get_state: RpcState;
	get_messages: { messages: readonly AppMessage[] };
	set_model: Model<Api>;
	/** null when no other model is available. */
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
	/** `text`: the user message at `entryIndex`, for an editor; empty when a hook canceled the branch. */
	branch: { text: string; cancelled: boolean };
	get_branch_messages: { messages: BranchTarget[] };
	get_last_assistant_text: { text: string | null };
	get_commands: { commands: PaletteItem[] };
	get_context: ContextReport;
}

/** The answer to one line. `command` is `parse` for a line that is not a command. */
export type RpcResponse =
	| { id?: unknown; type: "response"; command: string; success: true; data?: unknown }
	| { id?: unknown; type: "response"; command: string; success: false; error: string };

/** `select` asks for one option, or with `multiple` for any number of them; `initial` lists those chosen at first. */
export interface SelectRequest {
	method: "select";
	title: string;
	options: string[];
	descriptions?: (string | null)[];
	multiple?: true;
	filter?: boolean;
	initial?: string[];
	timeout?: number;
}

/** A dialog, which expects an answer. */
export type HookDialogRequest =
	| SelectRequest
	| { method: "confirm"; title: string; message: string; timeout?: number }
	| { method: "input"; title: string; placeholder?: string; initial?: string; timeout?: number }
	| { method: "editor"; title: string; initial: string; timeout?: number };

/** Something to show, which expects no answer. Without the optional field, what the hook has set before is removed. */
export type HookScreenRequest =
	| { method: "notify"; message: string; notifyType: "info" | "warning" | "error" }
	| { method: "setStatus"; statusKey: string; statusText?: string }
	| {
			method: "setWidget";
			widgetKey: string;
			widgetLines?: string[];
			widgetPlacement: "aboveEditor" | "belowEditor";
	  }
	| { method: "setTitle"; title?: string }
	| { method: "setWorkingMessage"; message?: string }
	| { method: "set_editor_text"; text: string };

/** A request of a hook to the user interface. `hook`: name of the hook. */
export type HookUIRequest = { type: "hook_ui_request"; id: string; hook?: string } & (
	| HookDialogRequest
	| HookScreenRequest
);

/** Answers a dialog: `value` for select, input and editor (a list for `multiple`), `confirmed` for confirm. */
export interface HookUIResponse {
	type: "hook_ui_response";
	id: string;
	value?: string | string[];
	confirmed?: boolean;
	cancelled?: boolean;
}

/** Events of the session, and dialogs. */
export type RpcEvent =
	| Exclude<AgentSessionEvent, { type: "context_changed" | "message_update" }>
	/** The context was computed: numbers of messages and hidden entries. `get_context` returns all of it. */
	| { type: "context_changed"; messages: number; hidden: number; problems: readonly ContextProblem[] }
	/** At most about ten per second. Deltas of the same block in between are joined; `message` is complete so far. */
	| { type: "message_update"; message: AppMessage; assistantMessageEvent: RpcMessageEvent }
	| HookUIRequest
	/** A dialog was closed before it was answered: its run was aborted, or it timed out. */
	| { type: "hook_ui_closed"; id: string };

/** An update without the partial message, which the event contains as `message`. */
export type RpcMessageEvent = MessageChange;
