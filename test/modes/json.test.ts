import { Type } from "typebox";
import { expect, test } from "vitest";
import { estimateTokens } from "../../src/context/tokens.js";
import { runJson } from "../../src/modes/json.js";
import { defineTool } from "../../src/tools/tool.js";
import { assistantMessage } from "../helpers/entries.js";
import { checkEvents } from "../helpers/event-schema.js";
import { noise } from "../helpers/images.js";
import { isObject, type JsonObject } from "../helpers/json.js";
import { type Reply, toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";

/** Runs prompts in JSON mode, and checks every event against the schema. */
async function run(replies: readonly Reply[], options: TestSessionOptions = {}, prompts: readonly string[] = ["hi"]) {
	const { session, provider, cwd } = await startSession(options);
	provider.reply(...replies);
	const io = recordIO();
	const [first = "", ...rest] = prompts;
	const code = await runJson(session, { first: { text: first, images: [] }, rest }, io);
	const stdout = io.stdout();
	checkEvents(["--mode", "json"], stdout);
	const events: JsonObject[] = stdout
		.trimEnd()
		.split("\n")
		.slice(1)
		.map((line) => JSON.parse(line));
	return {
		session,
		provider,
		cwd,
		code,
		stdout,
		events,
		ofType: (type: string) => events.filter((event) => event.type === type),
	};
}

const copies = (text: string, part: string) => text.split(part).length - 1;

test("each result of a tool is printed once, and later events refer to it by its call", async () => {
	const { stdout, ofType } = await run(
		[
			[toolCall("read", { path: "a.txt" }), toolCall("ls", {})],
			[toolCall("grep", { pattern: "MARK", path: "a.txt" })],
			"done",
			[toolCall("read", { path: "b.txt" })],
			"done again",
		],
		{ files: { "a.txt": "the MARKED text\n", "b.txt": "another REMARK here\n" } },
		["hi", "and now b"],
	);
	// By read and by grep.
	expect(copies(stdout, "the MARKED text")).toBe(2);
	expect(copies(stdout, "another REMARK here")).toBe(1);
	const call = ofType("tool_execution_end").find(({ toolName }) => toolName === "read");
	const id = call?.toolCallId;
	expect(call).toMatchObject({
		toolName: "read",
		result: { content: [{ type: "text", text: expect.stringContaining("MARKED") }] },
	});
	const reference = {
		role: "toolResult",
		toolCallId: id,
		toolName: "read",
		isError: false,
		timestamp: expect.any(Number),
	};
	const messages = ["message_start", "message_end"]
		.flatMap(ofType)
		.flatMap(({ message }) => (isObject(message) ? [message] : []));
	expect(messages.filter(({ toolCallId }) => toolCallId === id)).toEqual([reference, reference]);
	expect(ofType("turn_end")[0]?.toolResults).toEqual([reference, expect.objectContaining({ toolName: "ls" })]);
	expect(ofType("agent_end")[0]?.messages).toContainEqual(reference);
});

test("an image in a result is printed once", async () => {
	const image = noise(2000, 40);
	const shoot = defineTool({
		name: "shoot",
		description: "Takes a picture",
		parameters: Type.Object({}),
		run: async () => ({ content: [image] }),
	});
	const { stdout, ofType } = await run([[toolCall("shoot", {})], "done"], {
		extraTools: [shoot],
		modelOptions: { input: ["text", "image"] },
	});
	expect(copies(stdout, '"type":"image"')).toBe(1);
	expect(JSON.stringify(ofType("agent_end")).length).toBeLessThan(5000);
});

test("a result without an end event, such as that of an aborted call, is printed once with its message", async () => {
	const stop = defineTool({
		name: "stop",
		description: "Stops the run",
		parameters: Type.Object({}),
		run: async () => {
			void started.session.abort();
			return { content: [{ type: "text", text: "stopped" }] };
		},
	});
	const started = await startSession({ extraTools: [stop] });
	started.provider.reply([toolCall("stop", {}), toolCall("stop", {})]);
	const io = recordIO();
	await runJson(started.session, { first: { text: "hi", images: [] }, rest: [] }, io);
	checkEvents(["--mode", "json"], io.stdout());
	expect(copies(io.stdout(), "aborted: the user stopped")).toBe(1);
});

test("updates of tools have only new text, and together they are the output so far", async () => {
	const lines = Array.from({ length: 6 }, (_, at) => `line ${at}`);
	const steps = defineTool({
		name: "steps",
		description: "Runs in steps",
		parameters: Type.Object({}),
		async run(_, { onUpdate }) {
			for (let end = 1; end <= lines.length; end++) {
				const content = [{ type: "text" as const, text: lines.slice(Math.max(0, end - 4), end).join("\n") }];
				onUpdate?.({ content, details: { end } });
				onUpdate?.({ content, details: { end } });
			}
			return { content: [{ type: "text", text: "all steps" }] };
		},
	});
	const { stdout, ofType } = await run([[toolCall("steps", {})], "done"], { extraTools: [steps] });
	const updates = ofType("tool_execution_update");
	expect(updates.map(({ delta }) => delta)).toEqual([
		"line 0",
		"\nline 1",
		"\nline 2",
		"\nline 3",
		"\nline 4",
		"\nline 5",
	]);
	expect(updates.map(({ keep }) => keep)).toEqual([undefined, undefined, undefined, undefined, [7, 27], [7, 27]]);
	expect(Object.keys(updates[0] ?? {})).toEqual(["type", "toolCallId", "delta"]);
	for (const line of lines) expect(copies(stdout, line)).toBe(1);
});

test("a command with much output costs its deltas, one result and no more", async () => {
	const { stdout, ofType } = await run([
		[toolCall("bash", { command: "for i in 1 2 3 4 5 6; do seq $((i*1000)) $((i*1000+999)); sleep 0.15; done" })],
		"done",
	]);
	expect(ofType("tool_execution_update").length).toBeGreaterThan(2);
	const deltas = ofType("tool_execution_update").reduce((sum, { delta }) => sum + String(delta).length, 0);
	const [end] = ofType("tool_execution_end");
	// 6000 lines of 5 characters, of which the result has the last 2000.
	expect(deltas).toBeLessThan(32_000);
	expect(stdout.length).toBeLessThan(1.3 * (deltas + JSON.stringify(end).length) + 15_000);
});

test("a failure is the last event", async () => {
	const { code, events } = await run([
		[toolCall("read", { path: "missing.txt" })],
		{ fault: { kind: "http", status: 400, message: "no" } },
	]);
	expect(code).toBe(1);
	expect(events.at(-1)).toMatchObject({
		type: "error",
		message: expect.stringContaining("400"),
		code: "request_failed",
	});
});

test("the schema refuses what is not an event", () => {
	const refuse = (event: object) => expect(() => checkEvents(["--mode", "json"], `{}\n${JSON.stringify(event)}\n`));
	refuse({ type: "agent_start" }).not.toThrow();
	refuse({ type: "agent_start", extra: 1 }).toThrow(/Not an event/);
	refuse({ type: "agent_strat" }).toThrow(/Not an event/);
	refuse({ type: "message_start", message: { role: "user", content: [{ type: "text" }], timestamp: 1 } }).toThrow();
	refuse({ type: "notice", level: "loud", message: "" }).toThrow();
	refuse({ type: "tool_execution_update", toolCallId: "a", delta: "b", keep: [1] }).toThrow();
});

test("a change of the start names the hook, the cause and the tokens that are sent again", async () => {
	const { ofType, session } = await run(
		["a1", "a2"],
		{
			hooks: {
				"mark.ts": `export default (pi) => pi.on("agent_end", (event, ctx) => ctx.saveEntry({ type: "mark" }));`,
				"short.ts": `export default (pi) => pi.on("context", ({ entries, messages }) =>
					entries.some(({ type }) => type === "mark") && messages.length > 2
						? { messages: [{ role: "user", content: "short", timestamp: 0 }, ...messages.slice(1)] } : undefined);`,
			},
		},
		["u1", "u2"],
	);
	const pathOf = (name: string) => session.loaded.hooks.find(({ path }) => path.endsWith(name))?.path;
	expect(ofType("cache_lost")).toEqual([
		{
			type: "cache_lost",
			by: { kind: "hook", hook: pathOf("short.ts") },
			cause: { kind: "hook", hook: pathOf("mark.ts") },
			changed: { kind: "message" },
			resent: estimateTokens(assistantMessage("a1")),
		},
	]);
});
