import type { Api, Model } from "@mariozechner/pi-ai";
import type { XStatic } from "typebox/schema";
import type { MessageChange } from "../../agent/message-changes.js";
import type { BranchTarget, PaletteItem, SessionStats } from "../../commands/command.js";
import type { ContextProblem } from "../../context/context-message.js";
import type { ContextReport } from "../../context/ledger.js";
import type { PiErrorCode } from "../../errors.js";
import type { AppMessage, ThinkingLevel } from "../../log/entry.js";
import { RPC_OPERATIONS, type RpcAnswers, type RpcOperations } from "../../operations/index.js";
import type { AgentSessionEvent } from "../../session/events.js";

const NO_INPUT = { type: "object", properties: {} } as const;

/** The fields of every command in addition to `type` and `id`, by command name. Other fields are ignored. */
export const RPC_COMMANDS = {
	...(Object.fromEntries(Object.entries(RPC_OPERATIONS).map(([name, { input }]) => [name, input])) as {
		[N in keyof RpcOperations]: object;
	}),
	get_state: NO_INPUT,
	/** Returns the messages of the next request. */
	get_messages: NO_INPUT,
	get_available_models: NO_INPUT,
	get_session_stats: NO_INPUT,
	get_branch_messages: NO_INPUT,
	get_last_assistant_text: NO_INPUT,
	get_commands: NO_INPUT,
	get_context: NO_INPUT,
} as const satisfies Record<string, object>;

export type RpcCommandName = keyof typeof RPC_COMMANDS;

/** The fields of each command in addition to `type` and `id`. */
export type RpcParams = {
	[N in RpcCommandName]: N extends keyof RpcOperations ? XStatic<RpcOperations[N]["input"]> : Record<never, never>;
};

/** A command of the client. The answer repeats its `id`. */
export type RpcCommand<N extends RpcCommandName = RpcCommandName> = {
	[C in N]: { type: C; id?: unknown } & RpcParams[C];
}[N];

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

/** `data` of the answers to the commands that read something. */
interface RpcQueryResults {
	get_state: RpcState;
	get_messages: { messages: readonly AppMessage[] };
	get_available_models: { models: Model<Api>[] };
	get_session_stats: SessionStats;
	get_branch_messages: { messages: BranchTarget[] };
	get_last_assistant_text: { text: string | null };
	get_commands: { commands: PaletteItem[] };
	get_context: ContextReport;
}

export type RpcQueryName = keyof RpcQueryResults;

/** `data` of the answer to each command; null for commands without a result. */
export type RpcResults = RpcQueryResults & RpcAnswers;

/** The answer to one line. `command` is `parse` for a line that is not a command, `code` that of the `PiError`. */
export type RpcResponse =
	| { id?: unknown; type: "response"; command: string; success: true; data?: unknown }
	| { id?: unknown; type: "response"; command: string; success: false; error: string; code?: PiErrorCode };

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
	/** A request of the run has failed for good. Precedes `agent_end`. */
	| { type: "error"; message: string; code?: PiErrorCode }
	| HookUIRequest
	/** A dialog was closed before it was answered: its run was aborted, or it timed out. */
	| { type: "hook_ui_closed"; id: string };

/** An update without the partial message, which the event contains as `message`. */
export type RpcMessageEvent = MessageChange;
