import { expect, test } from "vitest";
import { text, thinking, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { hook, share } from "./support.js";

interface Update {
	type: string;
	message: { content: { type: string; text?: string }[] };
	changes: { type: string; delta?: string; contentIndex?: number }[];
	toolCallId: string;
	toolName: string;
	input: unknown;
	content: { text: string }[];
	details: unknown;
}

const errorsOf = ({ events }: TestSession) =>
	events.flatMap((event) => (event.type === "hook_error" ? [`${event.event}: ${event.error}`] : []));

/** A reply that takes a while: deltas of one character. */
const slow = (reply: string, delayMs = 10) => ({ content: [text(reply)], chunkSize: 1, delayMs });

const NOTES = hook(
	`for (const name of ["message_update", "tool_update", "turn_start", "tool_call", "tool_result", "turn_end"])
		pi.on(name, (event, ctx) => globalThis.__note(event, ctx));`,
);

test("message_update has the reply so far and every change since the last call, before tool_call and turn_end", async () => {
	const seen: Update[] = [];
	share("__note", (event: Update) => void seen.push(event));
	const started = await startSession({ hooks: { "n.ts": NOTES } });
	const { session, provider } = started;
	const word = "The quick brown fox jumps over";
	provider
		.reply({ content: [thinking("hm"), text(word), toolCall("ls", {})], chunkSize: 2, delayMs: 15 })
		.reply(slow("done"));
	await session.prompt("go");
	expect(errorsOf(started)).toEqual([]);
	const order = seen.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
	expect(order).toEqual([
		...["turn_start", "message_update", "tool_call", "tool_result", "turn_end"],
		...["turn_start", "message_update", "turn_end"],
	]);
	const replies = [0, 1].map((turn) => {
		const starts = seen.flatMap(({ type }, index) => (type === "turn_start" ? [index] : []));
		return seen.slice(starts[turn], starts[turn + 1]).filter(({ type }) => type === "message_update");
	});
	const changes = replies.map((updates) => updates.flatMap((update) => update.changes));
	expect(changes.map(([first]) => first)).toEqual([{ type: "start" }, { type: "start" }]);
	const written = (type: string) => changes[0]?.map((change) => (change.type === type ? change.delta : "")).join("");
	expect([written("thinking_delta"), written("text_delta"), written("toolcall_delta")]).toEqual(["hm", word, "{}"]);
	// Joined: about ten calls per second, not one for each of 20 deltas.
	expect(replies[0]?.length).toBeGreaterThan(1);
	expect(replies[0]?.length).toBeLessThan(10);
	const last = replies[0]?.at(-1);
	expect(last?.message.content.map(({ type }) => type)).toEqual(["thinking", "text", "toolCall"]);
	const early = replies[0]?.[1]?.message;
	expect(JSON.stringify(early).length).toBeLessThan(JSON.stringify(last?.message).length);
	expect(() => last?.message.content.pop()).toThrow(TypeError);
	expect(() => last?.changes.pop()).toThrow(TypeError);
});

test("tool_update has the partial results of a running tool, frozen, before its tool_result", async () => {
	const seen: Update[] = [];
	share("__note", (event: Update) => void seen.push(event));
	const tool = hook(`pi.tool({ name: "steps", description: "Runs.", parameters: { type: "object", properties: {} },
		async run(args, { onUpdate }) {
			for (const step of [1, 2, 3]) {
				onUpdate({ content: [{ type: "text", text: "step " + step }], details: { step } });
				await new Promise((resolve) => setImmediate(resolve));
			}
			return { content: "ready" };
		} });`);
	const started = await startSession({ hooks: { "n.ts": NOTES, "tool.ts": tool } });
	const { session, provider } = started;
	provider.reply([toolCall("steps", {}, "call_1")], "done");
	await session.prompt("go");
	expect(errorsOf(started)).toEqual([]);
	const updates = seen.filter(({ type }) => type === "tool_update");
	// The second replaces the first that was not delivered yet.
	expect(updates.map(({ content: [block] }) => block?.text)).toEqual(["step 1", "step 3"]);
	expect(updates[0]).toEqual({
		type: "tool_update",
		toolName: "steps",
		toolCallId: "call_1",
		input: {},
		content: [{ type: "text", text: "step 1" }],
		details: { step: 1 },
	});
	expect(Object.isFrozen(updates[0]?.content[0]) && Object.isFrozen(updates[0]?.details)).toBe(true);
	expect(seen.findIndex(({ type }) => type === "tool_result")).toBeGreaterThan(
		seen.findLastIndex(({ type }) => type === "tool_update"),
	);
});

test("a slow handler does not slow the stream down: its next call has all that was written", async () => {
	const deltas: number[] = [];
	const order: string[] = [];
	let endReply = () => {};
	const replyEnds = new Promise<void>((resolve) => {
		endReply = resolve;
	});
	share("__note", async (event: Update) => {
		if (event.type !== "message_update") return;
		const call = deltas.push(event.changes.length);
		await replyEnds;
		await new Promise((resolve) => setImmediate(resolve));
		order.push(`call ${call} ends`);
	});
	const started = await startSession({ hooks: { "n.ts": NOTES } });
	const { session, provider, events } = started;
	provider.reply(slow("0123456789", 5));
	session.subscribe((event) => {
		if (event.type === "message_end" && event.message.role === "assistant") endReply();
		if (event.type === "message_end" || event.type === "agent_end") order.push(event.type);
	});
	await session.prompt("go");
	expect(events.filter(({ type }) => type === "message_update").length).toBeGreaterThan(9);
	expect(deltas).toHaveLength(2);
	// The reply was complete while the first call ran; the turn ended after the second.
	expect(order.slice(-4)).toEqual(["message_end", "call 1 ends", "call 2 ends", "agent_end"]);
	expect(errorsOf(started)).toEqual([]);
});

test.each([
	["throws", 'throw new Error("oops");', "message_update: oops"],
	["never returns", "return new Promise(() => {});", "message_update: timed out after 150 ms"],
	["answers", "return { block: true };", expect.stringContaining("no answer is read here: block")],
])("a handler that %s is reported once in a run; the others and the next run go on", async (_, body, report) => {
	const calls: string[] = [];
	share("__called", (name: string) => void calls.push(name));
	const bad = hook(`pi.on("message_update", () => { globalThis.__called("bad"); ${body} });`);
	const good = hook(`pi.on("message_update", () => globalThis.__called("good"));`);
	const started = await startSession({ hooks: { "a.ts": bad, "b.ts": good }, userSettings: { hookTimeout: 150 } });
	const { session, provider } = started;
	provider.reply(
		{ content: [text("thinking aloud"), toolCall("ls", {})], chunkSize: 1, delayMs: 25 },
		slow("one", 120),
	);
	await session.prompt("go");
	expect(errorsOf(started)).toEqual([report]);
	expect(calls.filter((name) => name === "bad")).toHaveLength(1);
	expect(calls.filter((name) => name === "good").length).toBeGreaterThan(2);
	provider.reply("two");
	await session.prompt("again");
	expect(errorsOf(started)).toEqual([report, report]);
});

test("a reply that is sent again starts again", async () => {
	const starts: number[] = [];
	share("__note", ({ type, changes }: Update) => {
		if (type === "message_update") starts.push(changes.filter((change) => change.type === "start").length);
	});
	const { session, provider } = await startSession({
		hooks: { "n.ts": NOTES },
		userSettings: { retry: { baseDelayMs: 1 } },
	});
	provider.reply({ content: [text("broken off")], chunkSize: 2, fault: { kind: "cut", at: 3 } }, "complete");
	await session.prompt("go");
	expect(starts.reduce((sum, count) => sum + count, 0)).toBe(2);
});
