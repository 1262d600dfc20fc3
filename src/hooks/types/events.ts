import type {
	Api,
	AssistantMessage,
	ImageContent,
	Message,
	Model,
	TextContent,
	ToolResultMessage,
} from "@mariozechner/pi-ai";
import type { ContextMessage } from "../../context/context-message.js";
import type { ContextFacts } from "../../context/facts.js";
import type {
	AppMessage,
	CompactionEntry,
	NativeCompaction,
	PromptSection,
	SessionEntry,
	ToolCaller,
	ToolInfo,
} from "../../log/entry.js";
import type {
	BashToolDetails,
	EditToolDetails,
	FindToolDetails,
	GrepToolDetails,
	LsToolDetails,
	ReadToolDetails,
	WriteToolDetails,
} from "../../tools/tool.js";
import type {
	AgentSettledEvent,
	CacheExpiringEvent,
	MessageUpdateEvent,
	ModelChangedEvent,
	ResponseEvent,
	SessionNamedEvent,
	ThinkingLevelChangedEvent,
	ToolUpdateEvent,
} from "./notices.js";
import type { PromptEvent, PromptEventResult, UserBashEvent, UserBashEventResult } from "./user-events.js";

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
		| { reason: "before_switch" | "switch" | "before_clear" | "clear" }
		/** `isReload`: the hook is loaded again, and the session continues. */
		| { reason: "start" | "shutdown"; isReload: boolean }
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
	/** `before_compact`: sent to this provider's models instead of the summary, which pi or a hook writes nevertheless. */
	nativeCompaction?: NativeCompaction;
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

/** A request is about to be sent, in the format of its provider. Runs before every request of a run, including retries. */
export interface PayloadEvent {
	type: "payload";
	readonly model: Readonly<{ provider: string; id: string }>;
	/** The body of the request after the hooks before this one, a frozen copy. */
	readonly payload: Readonly<Record<string, unknown>>;
}

/** Answer to `payload`. */
export interface PayloadEventResult {
	/**
	 * The body to send. Other parameters may differ, but not the model, the instructions, the messages and the tools, which pi
	 * has recorded: `context` changes these.
	 */
	payload?: Readonly<Record<string, unknown>>;
}

/** A tool is about to run. */
export interface ToolCallEvent {
	type: "tool_call";
	toolName: string;
	toolCallId: string;
	/** Validated arguments after the hooks before this one, a frozen copy. */
	input: Readonly<Record<string, unknown>>;
	/** The hook that calls the tool with `ctx.tools.call`; absent for a call of the model. */
	caller?: Readonly<ToolCaller>;
}

/** Answer to `tool_call`; without an answer the call runs, with a malformed one it is blocked. The first block wins. */
export interface ToolCallEventResult {
	block?: boolean;
	/** Sent to the model as the tool result. */
	reason?: string;
	/** With `block`: the run ends after this message's calls, like `terminate` of a tool's result. */
	terminate?: boolean;
	/** New arguments. The call is blocked if the tool's schema does not accept them. Later handlers receive them. */
	input?: Record<string, unknown>;
	/** A question for the user; the call is blocked unless the answer allows it, also if nobody can answer. A text is `{ question }`. */
	ask?: string | ToolApproval;
}

/** A question before a tool call, with more ways to allow it than once. */
export interface ToolApproval {
	/** One line: `Run this command?` */
	question: string;
	/** Ways to allow this call and later ones, shown after "Yes, once", in this order. At most 6. */
	choices?: readonly ApprovalChoice[];
	/** Checked again right before the question opens, which may be after other questions: true allows the call unasked. */
	isAllowed?(): boolean | Promise<boolean>;
}

/** A way to allow a call and later ones. */
export interface ApprovalChoice {
	/** `Yes, for this session` or `Yes, always`. */
	label: string;
	/** A text that the user can edit before it counts, such as the rule `git push *`. */
	rule?: string;
	/** @returns why an edited rule cannot be used; null if it can */
	check?(rule: string): string | null;
	/** Called when the user chose it, before the call runs; a failure blocks the call. `rule` is "" without a rule. */
	chosen(rule: string): void | Promise<void>;
}

interface ToolResultEventBase {
	type: "tool_result";
	toolCallId: string;
	input: Readonly<Record<string, unknown>>;
	content: readonly (TextContent | ImageContent)[];
	isError: boolean;
	/** The hook that has called the tool with `ctx.tools.call`; absent for a call of the model. */
	caller?: Readonly<ToolCaller>;
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
	content?: readonly (TextContent | ImageContent)[];
	details?: unknown;
	isError?: boolean;
}

/** The context is being computed. Handlers must not cause effects. */
export interface ContextEvent {
	type: "context";
	readonly entries: readonly SessionEntry[];
	/** The messages computed from the entries, after the hooks before this one. */
	readonly messages: readonly ContextMessage[];
	/** The sections of the system prompt, after the hooks before this one. */
	readonly systemPrompt: readonly PromptSection[];
	/** The tools offered to the model, after the hooks before this one. */
	readonly tools: readonly ToolInfo[];
	/** The model, the cache and the time of the request. What a handler reads here is recorded with the reply. */
	readonly facts: ContextFacts;
	/**
	 * True for a context that is only tried: with a compaction that is planned or shown, without one that may be undone, or
	 * without a hook in `/context`. The answer must not depend on it, or what pi shows is not what it sends.
	 */
	readonly trial: boolean;
}

/** Something that is added in the middle of the conversation. It has instructions, tools or both. */
export interface ContextAddition {
	/**
	 * Index of the entry after whose message it comes, such as that of the entry with which your hook decided it. It must stay the
	 * same in later requests, or the provider gets everything behind it again.
	 */
	readonly after: number;
	readonly instructions?: string;
	/** Names of tools of the session that the model has from here on, and not before. */
	readonly tools?: readonly string[];
}

/** Answer to `context`: each given field replaces that of the request; an omitted one leaves it unchanged. */
export interface ContextEventResult {
	/** A message with the role `system` is refused: sections of `systemPrompt` are for that. */
	messages?: readonly (ContextMessage | AppMessage | Message)[];
	/** Ids of new sections are `<name of the hook>:<name>`. */
	systemPrompt?: readonly PromptSection[];
	/**
	 * What the model learns in the middle of the conversation, so that the request begins like the one before. A model that cannot
	 * take that, as `facts.appends` says, gets it in the system prompt and the list of tools.
	 */
	append?: readonly ContextAddition[];
	/**
	 * What the provider itself is to do with the request, such as clearing old tool results: fields of the body by wire format, such
	 * as `{ "anthropic-messages": { context_management: … } }`. Other models ignore it. It is recorded with the reply, and adds to
	 * what previous hooks ask. The fields of the conversation are refused. Answers of the provider are not interpreted.
	 */
	provider?: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
	/** Names of the tools to offer, in order. Only tools of the session that the user has not turned off. */
	tools?: readonly string[];
}

/** Every event by name. */
export interface HookEvents {
	session: SessionEvent;
	prompt: PromptEvent;
	agent_start: AgentStartEvent;
	agent_end: AgentEndEvent;
	agent_settled: AgentSettledEvent;
	cache_expiring: CacheExpiringEvent;
	turn_start: TurnStartEvent;
	turn_end: TurnEndEvent;
	message_update: MessageUpdateEvent;
	before_request: BeforeRequestEvent;
	payload: PayloadEvent;
	response: ResponseEvent;
	tool_call: ToolCallEvent;
	tool_update: ToolUpdateEvent;
	tool_result: ToolResultEvent;
	context: ContextEvent;
	user_bash: UserBashEvent;
	model_changed: ModelChangedEvent;
	thinking_level_changed: ThinkingLevelChangedEvent;
	session_named: SessionNamedEvent;
}

/** Answers by event, for the events that read one. */
export interface HookAnswers {
	session: SessionEventResult;
	prompt: PromptEventResult;
	before_request: BeforeRequestEventResult;
	payload: PayloadEventResult;
	tool_call: ToolCallEventResult;
	tool_result: ToolResultEventResult;
	context: ContextEventResult;
	user_bash: UserBashEventResult;
}

/** Allowed return values by event: an answer if the event reads one, or nothing. */
export type HookResults = {
	[N in HookEventName]: (N extends keyof HookAnswers ? HookAnswers[N] : never) | undefined | void;
};

export type HookEventName = keyof HookEvents;
