import { onTestFinished } from "vitest";
import type { HookEventName, SessionReason } from "../../src/hooks/types.js";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
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
	/** Source of an answer, and the result if it has an effect; equal to `passed` if answers are ignored. */
	answer: string;
	heeded: unknown;
	/** The result if the session is aborted while the handler runs; absent if an abort does not concern the point. */
	aborted?: unknown;
}

/** All fields that any event reads: they must have no effect on events that ignore answers. */
const EVERYTHING = `{ cancel: true, skipConversationRestore: true, block: true, action: "stop", reason: "stopped", isError: true,
	messages: [], content: [{ type: "text", text: "changed" }],
	compactionEntry: { type: "compaction", timestamp: "", summary: "changed", firstKeptEntryIndex: 1, tokensBefore: 1 } }`;

const RAN = ["user: go", "assistant: ", "toolResult: ran", "assistant: done"];

/** A prompt with one tool call. */
const run = (event: HookEventName, answer = EVERYTHING, heeded: unknown = RAN): EventPoint => ({
	event,
	happen({ session, provider }) {
		provider.reply([toolCall("bash", { command: "echo ran" })], "done");
		return session.prompt("go");
	},
	result: ({ session }) =>
		session.entries.flatMap((entry) =>
			isMessageEntry(entry) ? [`${entry.message.role}: ${messageText(entry.message).trim()}`] : [],
		),
	passed: RAN,
	answer,
	heeded,
});

const length = ({ session }: TestSession) => session.entries.length;

/** Actions of a session, observed through its entries. */
const SESSION = {
	reload: { happen: ({ session }) => session.reload(), result: length },
	dispose: { happen: ({ session }) => session.dispose(), result: length },
	clear: { prompts: ["one"], happen: ({ session }) => session.lifecycle.newSession(), result: length },
	switch: {
		prompts: ["one", "/name one", "/new"],
		happen: ({ session }) => session.prompt("/resume one"),
		result: length,
	},
	branch: { prompts: ["one", "two"], happen: ({ session }) => session.lifecycle.branch(3), result: length },
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
	before_request: run("before_request", '{ action: "stop", reason: "stopped" }', ["user: go"]),
	tool_call: run("tool_call", '{ block: true, reason: "stopped" }', [
		...RAN.slice(0, 2),
		"toolResult: stopped",
		...RAN.slice(3),
	]),
	tool_result: run("tool_result", '{ content: [{ type: "text", text: "changed" }] }', [
		...RAN.slice(0, 2),
		"toolResult: changed",
		...RAN.slice(3),
	]),
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
	},
};

/** A reason that only notifies: answers are ignored, and an abort does not undo the change. */
const notifies = (reason: SessionReason, change: keyof typeof SESSION, passed: unknown): EventPoint => ({
	...{ event: "session", reason, ...SESSION[change] },
	...{ answer: EVERYTHING, passed, heeded: passed, aborted: passed },
});

/** A reason that can be canceled: then, and after an abort, the session is unchanged. */
const asks = (reason: SessionReason, change: keyof typeof SESSION, passed: unknown, kept: unknown): EventPoint => ({
	...notifies(reason, change, passed),
	...{ answer: "{ cancel: true }", heeded: kept, aborted: kept },
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
		trace.given = JSON.stringify(event);
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
