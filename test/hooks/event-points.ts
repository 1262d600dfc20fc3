import { onTestFinished, vi } from "vitest";
import type { HookEventName, SessionReason } from "../../src/hooks/types.js";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { text, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";

/** A point where handlers run: how to trigger it, and how to read the effect of answers from the session. */
export interface EventPoint {
	event: HookEventName;
	reason?: SessionReason;
	/** Prompts sent before, each with a reply. */
	prompts?: readonly string[];
	/** Triggers the point. */
	happen(test: TestSession): Promise<unknown>;
	/** The observable state afterwards. */
	result(test: TestSession): unknown;
	/** The result if no handler changes anything. */
	passed: unknown;
	/** Source of an answer, and the result if it has an effect; equal to `passed` if no answer is read. */
	answer: string;
	heeded: unknown;
	/** For a gate: source of an answer that changes something, and the result. */
	change?: { answer: string; heeded: unknown };
	/** Source of an answer that is not one of this event, and the report about it. */
	malformed: { answer: string; report: RegExp };
	/** The result if the session is aborted while the handler runs; absent if an abort does not concern the point. */
	aborted?: unknown;
}

/** All fields that any event reads: they must have no effect on events that read none. */
const EVERYTHING = `{ cancel: true, skipConversationRestore: true, block: true, action: "stop", reason: "stopped", isError: true,
	messages: [], handled: true, stop: "stopped", input: {}, ask: "sure?", command: "echo changed", content: [{ type: "text", text: "changed" }],
	compactionEntry: { type: "compaction", timestamp: "", summary: "changed", firstKeptEntryIndex: 1, tokensBefore: 1 } }`;

const RAN = ["user: go", "assistant: ", "toolResult: ran", "assistant: done"];

const messages = ({ session }: TestSession) =>
	session.entries.flatMap((entry) =>
		isMessageEntry(entry) ? [`${entry.message.role}: ${messageText(entry.message).trim()}`] : [],
	);

/** What arrow functions return by accident. */
const INCIDENTAL = "({ stdout: 7, cancel: 1 })";

const UNREAD = { answer: EVERYTHING, report: /^no answer is read here: cancel, skipConversationRestore, .* \d+ more/ };

/** A prompt with one tool call. */
const run = (
	event: HookEventName,
	{ answer = INCIDENTAL, heeded = RAN, ...rest }: Partial<EventPoint> = {},
): EventPoint => ({
	event,
	happen({ session, provider }) {
		provider.reply([toolCall("bash", { command: "echo ran" })], "done");
		return session.prompt("go").catch(() => {});
	},
	result: messages,
	passed: RAN,
	answer,
	heeded,
	malformed: UNREAD,
	...rest,
});

/** A change of the session that nothing waits for, before a prompt. */
const notices = (event: HookEventName, change: (test: TestSession) => unknown): EventPoint => {
	const point = run(event);
	return {
		...point,
		async happen(test) {
			await change(test);
			await point.happen(test);
		},
	};
};

/** A tool result of `RAN` with another text. */
const resulting = (text: string) => [...RAN.slice(0, 2), `toolResult: ${text}`, ...RAN.slice(3)];

const length = ({ session }: TestSession) => session.entries.length;

/** Actions of a session, observed through its entries. */
const SESSION = {
	reload: { happen: ({ session }) => session.reload(), result: length },
	dispose: { happen: ({ session }) => session.dispose(), result: length },
	clear: { prompts: ["one"], happen: ({ session }) => session.newSession(), result: length },
	switch: {
		prompts: ["one", "/name one", "/new"],
		happen: ({ session }) => session.prompt("/resume one"),
		result: length,
	},
	branch: { prompts: ["one", "two"], happen: ({ session }) => session.branch(3), result: length },
	compact: {
		prompts: ["one", "two"],
		happen({ session, provider }) {
			provider.reply("summary");
			return session.compact().catch(() => {});
		},
		// The cost of a summary is written after it.
		result: ({ session }) => session.entries.findLast(({ type }) => type !== "request_usage")?.type,
	},
} satisfies Record<string, Pick<EventPoint, "prompts" | "happen" | "result">>;

/** Every event except `session`. A new event without a row here is a compile error. */
export const EVENT_POINTS: Record<Exclude<HookEventName, "session">, EventPoint> = {
	agent_start: run("agent_start"),
	agent_end: run("agent_end"),
	turn_start: run("turn_start"),
	turn_end: run("turn_end"),
	agent_settled: run("agent_settled"),
	cache_expiring: {
		...run("cache_expiring"),
		async happen(test) {
			vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
			onTestFinished(() => void vi.useRealTimers());
			const usage = { input: 1000, output: 1 };
			test.provider.reply({ content: [toolCall("bash", { command: "echo ran" })], usage });
			test.provider.reply({ content: [text("done")], usage });
			await test.session.prompt("go").catch(() => {});
			await vi.advanceTimersByTimeAsync(300_000);
		},
	},
	response: run("response"),
	message_update: run("message_update"),
	tool_update: run("tool_update"),
	prompt: run("prompt", {
		answer: '{ stop: "stopped" }',
		heeded: [],
		aborted: [],
		change: { answer: '{ text: "changed" }', heeded: ["user: changed", ...RAN.slice(1)] },
		malformed: { answer: '{ txt: "changed" }', report: /^unknown field "txt"; an answer has text, / },
	}),
	before_request: run("before_request", {
		answer: '{ action: "stop", reason: "stopped" }',
		heeded: ["user: go"],
		malformed: {
			answer: '{ action: "pause" }',
			report: /^action must be "continue" or "stop"; the answer was ignored$/,
		},
	}),
	payload: {
		...run("payload"),
		result: ({ provider }) => provider.requests[0]?.body.user ?? "nobody",
		passed: "nobody",
		answer: '{ payload: { ...event.payload, user: "changed" } }',
		heeded: "changed",
		malformed: { answer: "{ payload: 5 }", report: /^payload must be an object; the answer was ignored$/ },
	},
	tool_call: run("tool_call", {
		answer: '{ block: true, reason: "stopped" }',
		heeded: resulting("stopped"),
		change: { answer: '{ input: { command: "echo changed" } }', heeded: resulting("changed") },
		malformed: { answer: "{ blocked: true }", report: /^unknown field "blocked"; .*; the call is blocked$/ },
	}),
	tool_result: run("tool_result", {
		answer: '{ content: [{ type: "text", text: "changed" }] }',
		heeded: resulting("changed"),
		malformed: { answer: '{ content: "changed" }', report: /^content must be a list of text and image blocks; / },
	}),
	user_bash: {
		event: "user_bash",
		happen: ({ session }) => session.runBash("echo ran", { excludeFromContext: true }).catch(() => {}),
		result: ({ session }) =>
			session.entries.flatMap((entry) =>
				isMessageEntry(entry) && entry.message.role === "bashExecution"
					? [`${entry.message.command}: ${entry.message.output}`]
					: [],
			),
		passed: ["echo ran: ran"],
		answer: '{ block: true, reason: "stopped" }',
		heeded: [],
		aborted: ["echo ran: "],
		change: { answer: '{ command: "echo changed" }', heeded: ["echo changed: changed"] },
		malformed: {
			answer: "{ command: 5 }",
			report: /^command must be a text that is not empty; the answer was ignored$/,
		},
	},
	model_changed: notices("model_changed", async ({ session }) => {
		const { model } = session;
		const other = (await session.controls.availableModels()).find(({ provider }) => provider !== model?.provider);
		if (model === null || other === undefined) throw new Error("no second model");
		await session.setModel(other);
		await session.setModel(model);
	}),
	thinking_level_changed: notices("thinking_level_changed", ({ session }) => session.setThinkingLevel("high")),
	session_named: notices("session_named", ({ session }) => session.setName("trial")),
	context: {
		event: "context",
		happen({ session, provider }) {
			provider.reply("done");
			return session.prompt("go");
		},
		result: ({ sent }) => sent(1),
		passed: ["user: go"],
		answer: '{ messages: [{ role: "user", content: "changed", timestamp: 0 }] }',
		heeded: ["user: changed"],
		malformed: { answer: "{ message: [] }", report: /dropped/ },
	},
};

/** A reason that only notifies: answers are ignored, and an abort does not undo the change. */
const notifies = (reason: SessionReason, change: keyof typeof SESSION, passed: unknown): EventPoint => ({
	...{ event: "session", reason, ...SESSION[change] },
	...{ answer: INCIDENTAL, passed, heeded: passed, aborted: passed, malformed: UNREAD },
});

/** A reason that can be canceled: then, and after an abort, the session is unchanged. */
const asks = (reason: SessionReason, change: keyof typeof SESSION, passed: unknown, kept: unknown): EventPoint => ({
	...notifies(reason, change, passed),
	...{ answer: "{ cancel: true }", heeded: kept, aborted: kept },
	malformed: {
		answer: "{ cancelled: true }",
		report: /^unknown field "cancelled"; an answer has cancel.*; the answer was ignored$/,
	},
});

/** Every reason of `session`. */
export const SESSION_POINTS: Record<SessionReason, EventPoint> = {
	start: notifies("start", "reload", 1),
	before_clear: asks("before_clear", "clear", 1, 3),
	clear: notifies("clear", "clear", 1),
	before_switch: asks("before_switch", "switch", 4, 1),
	switch: notifies("switch", "switch", 4),
	before_branch: asks("before_branch", "branch", 3, 5),
	branch: notifies("branch", "branch", 3),
	before_compact: asks("before_compact", "compact", "compaction", "message"),
	compact: notifies("compact", "compact", "compaction"),
	shutdown: notifies("shutdown", "dispose", 1),
};

/** Records of the handlers of a point. */
export interface MomentTrace {
	/** Names of the called hooks, in order, until the point is over. */
	called: string[];
	/** The input of the last handler, as text. */
	given: string;
	/** The first handler's `ctx.signal`. */
	signal: AbortSignal | null;
	/** Resolves when the first handler runs. */
	running: Promise<void>;
}

/**
 * Starts a session with two hooks that handle a point. The caller triggers it.
 * @param body code of the first handler; the second returns nothing
 */
export async function stage(
	point: EventPoint,
	body: string,
	hookTimeout = 5000,
): Promise<{ test: TestSession; trace: MomentTrace }> {
	let begin = () => {};
	const running = new Promise<void>((resolve) => {
		begin = resolve;
	});
	const trace: MomentTrace = { called: [], given: "", signal: null, running };
	let isArmed = false;
	const enter = (name: string, event: { reason?: string }, ctx: { signal: AbortSignal }): boolean => {
		if (!isArmed || (point.reason !== undefined && event.reason !== point.reason)) return false;
		// Records each hook once: the point may occur again in the same run.
		if (trace.called.includes(name)) return false;
		trace.called.push(name);
		// The names of some events contain what the tests search for.
		trace.given = JSON.stringify({ ...event, type: "" });
		trace.signal ??= ctx.signal;
		begin();
		return true;
	};
	Reflect.set(globalThis, "__enter", enter);
	onTestFinished(() => void Reflect.deleteProperty(globalThis, "__enter"));
	const hook = (name: string, code: string) => `export default (pi) => pi.on("${point.event}", (event, ctx) => {
		if (!globalThis.__enter("${name}", event, ctx)) return undefined;
		${code}
	});`;
	const test = await startSession({
		session: { kind: "new" },
		userSettings: { hookTimeout, compaction: { enabled: false, keepRecentTokens: 1 } },
		hooks: { "a.ts": hook("a", body), "b.ts": hook("b", "") },
	});
	for (const line of point.prompts ?? []) {
		if (!line.startsWith("/")) test.provider.reply(`answer to ${line}`);
		await test.session.prompt(line);
	}
	test.events.length = 0;
	isArmed = true;
	return { test, trace };
}
