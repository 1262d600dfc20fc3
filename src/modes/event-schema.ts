import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";

/** Version of the events of JSON mode: a new field or event raises the minor version, any other change the major one. */
export const EVENTS_VERSION = "1.3";

/** An object without other fields. */
const exact = <P extends TProperties>(properties: P, description?: string) =>
	Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) });
const oneOf = <const N extends string[]>(...names: N) => Type.Enum(names);
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const optional = Type.Optional;
const text = Type.String();
const flag = Type.Boolean();
const count = Type.Integer({ minimum: 0 });
const anything = Type.Unknown();
/** Arguments of a tool call, details of a result: whatever the model, the tool or the hook made. */
const record = Type.Record(Type.String(), Type.Unknown());
const time = Type.Number({ description: "ms since the epoch" });

const Text = exact({ type: Type.Literal("text"), text, textSignature: optional(text) });
const Image = exact({
	type: Type.Literal("image"),
	data: Type.String({ description: "base64" }),
	mimeType: text,
	original: optional(
		exact(
			{ width: count, height: count, mimeType: text, bytes: count, path: nullable(text) },
			"the image before it was scaled or converted",
		),
	),
});
const Thinking = exact({
	type: Type.Literal("thinking"),
	thinking: text,
	thinkingSignature: optional(text),
	redacted: optional(flag),
});
/** While it streams, clients of providers keep fields of their own in it. */
const ToolCall = Type.Object({
	type: Type.Literal("toolCall"),
	id: text,
	name: text,
	arguments: record,
	thoughtSignature: optional(text),
	namespace: optional(text),
});
const Cost = exact({
	input: Type.Number(),
	output: Type.Number(),
	cacheRead: Type.Number(),
	cacheWrite: Type.Number(),
	total: Type.Number(),
});
const Usage = exact(
	{
		input: Type.Number(),
		output: Type.Number(),
		cacheRead: Type.Number(),
		cacheWrite: Type.Number(),
		cacheWrite1h: optional(Type.Number()),
		reasoning: optional(Type.Number()),
		totalTokens: Type.Number(),
		cost: Cost,
	},
	"tokens, and US dollars",
);
const UserMessage = exact({
	role: Type.Literal("user"),
	content: Type.Union([text, Type.Array(Type.Union([Text, Image]))]),
	timestamp: time,
});
const AssistantMessage = exact({
	role: Type.Literal("assistant"),
	content: Type.Array(Type.Union([Text, Thinking, ToolCall])),
	api: text,
	provider: text,
	model: text,
	responseModel: optional(text),
	responseId: optional(text),
	diagnostics: optional(Type.Array(Type.Unknown())),
	usage: Usage,
	/** `pending` while the reply arrives. */
	stopReason: oneOf("pending", "stop", "length", "toolUse", "error", "aborted", "deferred"),
	rawStopReason: optional(text),
	providerThinkingLevel: optional(text),
	endTurn: optional(flag),
	deferred: optional(Type.Unknown()),
	errorMessage: optional(text),
	timestamp: time,
});
const ChangedInput = exact({ by: Type.Array(text), from: record, to: record });
const ToolResultMessage = exact(
	{
		role: Type.Literal("toolResult"),
		toolCallId: text,
		toolName: text,
		content: optional(Type.Array(Type.Union([Text, Image]))),
		details: optional(anything),
		gate: optional(exact({ blockedBy: optional(text), changed: optional(ChangedInput) })),
		isError: flag,
		timestamp: time,
	},
	"without content and details: those of the tool_execution_end event, or the earlier message, with this toolCallId",
);
const BashExecution = exact({
	role: Type.Literal("bashExecution"),
	command: text,
	output: text,
	exitCode: nullable(Type.Integer()),
	cancelled: flag,
	truncated: flag,
	fullOutputPath: optional(text),
	job: optional(text),
	excludeFromContext: optional(flag),
	timestamp: time,
});
const Message = Type.Union([UserMessage, AssistantMessage, ToolResultMessage, BashExecution]);
const Result = exact({
	content: Type.Array(Type.Union([Text, Image])),
	details: optional(anything),
	isError: optional(flag),
});
const Entry = Type.Object({ type: text }, { description: "an entry of the session file" });
const Compaction = Type.Object(
	{ type: Type.Literal("compaction"), summary: text, firstKeptEntryIndex: count, tokensBefore: Type.Number() },
	{ description: "an entry of the session file" },
);
const Problem = exact({ hook: nullable(text), rule: text, position: count, detail: optional(text) });
const Kind = oneOf("run", "compacting", "shell", "prompting", "command", "dialog", "switching", "closing");
const Phase = nullable(oneOf("requesting", "streaming", "tools", "retrying", "ending"));
const Activity = exact({
	state: Type.Union([Type.Literal("idle"), Kind]),
	phase: Phase,
	operations: Type.Array(exact({ id: count, kind: Kind, name: text, phase: Phase })),
});
const Job = exact({
	id: text,
	command: text,
	isRunning: flag,
	durationMs: Type.Number(),
	exitCode: nullable(Type.Integer()),
	endedBy: optional(text),
	failure: optional(text),
	leftRunning: optional(flag),
	lastLine: text,
	outputPath: optional(text),
});
const index = { contentIndex: count };
const MessageEvent = Type.Union([
	exact({ type: Type.Literal("start") }),
	exact({ type: oneOf("text_start", "thinking_start", "toolcall_start"), ...index }),
	exact({ type: oneOf("text_delta", "thinking_delta", "toolcall_delta"), ...index, delta: text }),
	exact({ type: oneOf("text_end", "thinking_end"), ...index, content: text, contentSignature: optional(text) }),
	exact({ type: Type.Literal("toolcall_end"), ...index, toolCall: ToolCall }),
	exact({ type: Type.Literal("done"), reason: oneOf("stop", "length", "toolUse"), message: AssistantMessage }),
	exact({ type: Type.Literal("error"), reason: oneOf("aborted", "error"), error: AssistantMessage }),
]);
const call = { toolCallId: text, toolName: text };
/** Of a call that a hook makes. */
const by = {
	caller: optional(
		exact(
			{ hook: text, toolCallId: optional(text) },
			"the hook that calls the tool, and the call in which it runs; absent for calls of the model",
		),
	),
};
/** New text = kept part of the text so far, all of it without `keep`, and `delta`. */
const delta = {
	delta: text,
	keep: optional(
		Type.Array(count, {
			minItems: 2,
			maxItems: 2,
			description:
				"start and end of the part of the text so far that delta continues, in UTF-16 units; absent: all of it",
		}),
	),
};

/** The fields of every event of JSON mode in addition to `type`, by type. */
const FIELDS = {
	agent_start: {},
	agent_end: { messages: Type.Array(Message), structured: optional(anything), isAborted: optional(Type.Literal(true)) },
	turn_start: { turnIndex: count, timestamp: time },
	turn_end: { turnIndex: count, message: AssistantMessage, toolResults: Type.Array(ToolResultMessage) },
	message_start: { message: Message },
	message_update: { assistantMessageEvent: MessageEvent },
	message_end: { message: Message, entryIndex: count, isRetried: optional(Type.Literal(true)) },
	tool_execution_start: { ...call, args: record, ...by },
	tool_execution_update: { toolCallId: text, ...delta },
	tool_input_changed: { ...call, args: record, changed: ChangedInput, ...by },
	tool_execution_end: { ...call, result: Result, isError: flag, blockedBy: optional(text), ...by },
	auto_retry_start: { attempt: count, maxAttempts: count, delayMs: Type.Number(), errorMessage: text },
	auto_retry_end: { success: flag, attempt: count, finalError: optional(text) },
	session_changed: { reason: oneOf("start", "switch", "clear", "branch") },
	registrations_changed: {},
	entry_appended: { entryIndex: count, entry: Entry },
	context_changed: { messages: count, hidden: count, problems: Type.Array(Problem) },
	cache_lost: {
		by: Type.Union([exact({ kind: oneOf("compaction", "other") }), exact({ kind: Type.Literal("hook"), hook: text })]),
		changed: Type.Union([
			exact({ kind: oneOf("tools", "message") }),
			exact({ kind: Type.Literal("section"), id: text }),
		]),
		cause: optional(
			Type.Union([
				exact({ kind: oneOf("compaction", "freeze", "undo") }),
				exact({ kind: Type.Literal("hook"), hook: text }),
			]),
		),
		resent: Type.Number(),
	},
	activity_changed: { activity: Activity },
	queue_changed: { queue: exact({ steering: Type.Array(text), followUps: Type.Array(text) }) },
	queue_returned: { texts: Type.Array(text) },
	model_changed: {},
	thinking_level_changed: {},
	auto_compaction_start: { reason: oneOf("threshold", "overflow", "manual") },
	auto_compaction_end: { result: nullable(Compaction), aborted: flag, errorMessage: optional(text) },
	hook_error: {
		hookPath: text,
		event: text,
		error: text,
		stack: optional(text),
		rule: optional(text),
		file: optional(text),
		line: optional(count),
		column: optional(count),
	},
	hook_running: { hookPath: text, event: text, ms: Type.Number() },
	hook_done: { hookPath: text, event: text },
	notice: { level: oneOf("info", "warning", "error"), message: text, waits: optional(Type.Literal(true)) },
	command_start: { name: text },
	command_end: { name: text },
	bash_start: { command: text, excludeFromContext: optional(flag) },
	bash_update: delta,
	bash_done: { message: BashExecution },
	bash_end: { entryIndex: count },
	job_start: { job: Job },
	job_end: { job: Job },
	error: { message: text, code: optional(text) },
} as const satisfies Record<string, TProperties>;

/** The schema of each event of JSON mode, by type. */
export const JSON_EVENTS: Readonly<Record<string, TSchema>> = Object.fromEntries(
	Object.entries<TProperties>(FIELDS).map(([name, fields]) => [name, exact({ type: Type.Literal(name), ...fields })]),
);

/** Schemas that `eventsSchema` writes once. */
const DEFINITIONS: Readonly<Record<string, TSchema>> = {
	Text,
	Image,
	Thinking,
	ToolCall,
	Usage,
	UserMessage,
	AssistantMessage,
	ToolResultMessage,
	BashExecution,
	Message,
	ChangedInput,
	Activity,
	Job,
};

/** The JSON Schema of one event of JSON mode, as schemas/events.json contains it. */
export function eventsSchema(): object {
	const names = new Map(Object.entries(DEFINITIONS).map(([name, schema]) => [schema, name]));
	const refer = (value: unknown, isDefinition = false): unknown => {
		if (typeof value !== "object" || value === null) return value;
		if (Array.isArray(value)) return value.map((item) => refer(item));
		const name = isDefinition ? undefined : names.get(value);
		if (name !== undefined) return { $ref: `#/$defs/${name}` };
		return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, refer(member)]));
	};
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		$id: `urn:pi-coding-agent:events:${EVENTS_VERSION}`,
		title: "An event of pi --mode json",
		description: "One line of stdout, except the first one, which is the header of the session.",
		anyOf: Object.values(JSON_EVENTS).map((schema) => refer(schema)),
		$defs: Object.fromEntries(Object.entries(DEFINITIONS).map(([name, schema]) => [name, refer(schema, true)])),
	};
}

type DeepReadonly<T> = T extends readonly (infer I)[]
	? readonly DeepReadonly<I>[]
	: T extends object
		? { readonly [K in keyof T]: DeepReadonly<T[K]> }
		: T;

type Fields = typeof FIELDS;

/** One event of JSON mode. */
export type JsonEvent = {
	[N in keyof Fields]: DeepReadonly<{ type: N } & Static<TObject<Fields[N]>>>;
}[keyof Fields];
