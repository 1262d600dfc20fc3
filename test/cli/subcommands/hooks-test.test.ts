import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isWellFormed } from "../../../src/hooks/index.js";
import { isMessageEntry } from "../../../src/log/entry.js";
import { eventPoints } from "../../../src/replay/event-points.js";
import { sampleSession } from "../../../src/replay/sample-session.js";
import { createHookTest } from "../../../src/testing/index.js";
import { toolCall } from "../../../src/testing/scripted-model.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

const examples = fileURLToPath(new URL("../../../hooks-examples/", import.meta.url));

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Replays the sample session with a hook given as source. */
async function replayWith(source: string, place: Parameters<typeof run>[1] = {}) {
	const cwd = tempDir("pi-project-");
	writeFiles(cwd, { "hook.ts": source });
	return { ...(await run({ name: "hooks", action: "test", target: "hook.ts" }, { cwd, ...place })), cwd };
}

describe("pi hooks test", () => {
	test("prints each handled event of the sample session with its result, and the context before and after", async () => {
		const { code, stdout, stderr, cwd } = await replayWith(`export default function (pi) {
	pi.on("tool_call", (e) => e.toolName === "bash" && e.input.command.includes("push") ? { block: true, reason: "no push" } : undefined);
	pi.on("tool_result", (e) => e.isError ? { isError: false } : undefined);
	pi.on("context", ({ messages }) => messages.length > 12 ? { messages: [{ role: "user", content: "short", timestamp: 0 }, ...messages.slice(7)] } : undefined);
	pi.command("unused", { handler() {} });
}`);
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout.replace(cwd, ".")).toBe(`./hook.ts on the sample session: 42 events, 17 of them handled, 0 failures

at  event              result
1   context            unchanged: 1 message, about 18 tokens
2   tool_call bash     no result
2   tool_result bash   returned {"isError":false}
2   tool_call read     no result
2   tool_result read   no result
4   context            unchanged: 4 messages, about 86 tokens
5   tool_call edit     no result
5   tool_result edit   no result
6   context            unchanged: 6 messages, about 124 tokens
8   context            unchanged: 8 messages, about 155 tokens
9   tool_call write    no result
9   tool_result write  no result
9   tool_call bash     no result
9   tool_result bash   no result
9   tool_call bash     blocked: no push
12  context            unchanged: 12 messages, about 219 tokens
13  context            13 → 7 messages, about 231 → 101 tokens
                       hides 1, 2, 3, 4, 5, 6, 7
                       adds user, 6 tokens: short

commands not run: /unused
`);
	});

	test("names the line when a handler throws, and the rule when its context is rejected", async () => {
		const source = `export default function (pi) {
	pi.on("turn_end", () => {
		throw new Error("boom");
	});
	pi.on("context", ({ messages }) => ({ messages: messages.slice(-1) }));
}`;
		const { code, stdout } = await replayWith(source);
		expect(code).toBe(1);
		expect(stdout).toContain("failed at hook.ts:3:9: boom");
		expect(stdout).toContain("rejected: the tool result in message 0 answers no earlier tool call: call_2");
		const { stdout: json } = await replayWith(source, { json: true });
		const report = JSON.parse(json);
		expect(report.failures).toBeGreaterThan(5);
		expect(report.events.filter(({ event }: { event: string }) => event === "turn_end")[0]).toEqual({
			at: 4,
			event: "turn_end",
			subject: null,
			answers: [],
			stopped: null,
			effects: [],
			failures: [{ message: "boom", place: { file: report.path, line: 3, column: 9 }, stack: expect.any(String) }],
		});
	});

	test.each(["agent_end", "tool_call"])(
		"a handler of %s that does not settle is a failure after hookTimeout",
		async (event) => {
			const cwd = tempDir("pi-project-");
			const agentDir = tempDir("pi-agent-");
			writeFiles(agentDir, { "settings.json": { hookTimeout: 20 } });
			writeFiles(cwd, { "hook.ts": `export default (pi) => pi.on("${event}", () => new Promise(() => {}));` });
			const { code, stdout } = await run({ name: "hooks", action: "test", target: "hook.ts" }, { cwd, agentDir });
			expect(code).toBe(1);
			expect(stdout).toContain("failed at hook.ts:1:27: timed out after 20 ms");
		},
	);

	test("has no side effects: entries, programs, dialogs, items and prompts are only printed", async () => {
		const agentDir = tempAgentDir({ settings: { hookGrants: { "hook.ts": ["systemItems"] } } });
		const { code, stdout, cwd } = await replayWith(
			`export default function (pi) {
	pi.requires("systemItems");
	pi.on("agent_start", async (_, ctx) => {
		const { code } = await ctx.exec("touch", ["made"]);
		const index = await ctx.saveEntry({ type: "mine", code });
		const sure = await ctx.ui.confirm("Sure?", "really");
		ctx.ui.notify(index + " " + sure + " " + Object.isFrozen(ctx) + " " + ctx.cwd.length + " " + ctx.entries.length);
		ctx.systemItems.append({ kind: "notification", text: "look" });
		await ctx.rebuildContext();
		const result = await ctx.tools.call("read", { path: "made" });
		ctx.ui.notify(result.isError + " " + result.content[0].text);
		pi.send("more");
		pi.send(null);
	});
}`,
			{ agentDir },
		);
		expect(code).toBe(0);
		expect(stdout).toContain(
			[
				"0   agent_start  would run touch made",
				`                 would save {"type":"mine","code":127}`,
				"                 asks (confirm): Sure? really · canceled",
				`                 shows: 1 false true ${cwd.length} 1`,
				"                 would add a system item (notification): look",
				"                 would rebuild the context",
				"                 would call the tool read",
				"                 shows: true not run: this is a replay",
			].join("\n"),
		);
		const sent = "would send: more\nwould start a run without a prompt\n";
		expect(stdout).toContain(sent + sent);
		expect(readdirSync(cwd)).toEqual(["hook.ts"]);
	});

	test("refuses a handle that is not granted, as pi hooks check does", async () => {
		const source = `export default (pi) => pi.requires("systemItems");`;
		const tested = await replayWith(source);
		const checked = await run({ name: "hooks", action: "check", target: "hook.ts" }, { cwd: tested.cwd });
		expect(tested).toMatchObject({ code: 1, stderr: checked.stderr });
		expect(tested.stderr).toContain('it requires "systemItems", which is not granted');
	});

	test("--run runs commands at the end of the session and prints their answers, effects and failures", async () => {
		const source = `export default function (pi) {
	pi.command("budget", { handler: async (ctx) => {
		await ctx.saveEntry({ type: "budget", limit: Number(ctx.args[0]) });
		return { status: "limit " + ctx.args[0] + " after " + ctx.entries.length + " entries" };
	} });
	pi.command("ask", { handler: (ctx) => "Explain " + ctx.argsRaw });
	pi.command("fail", { handler: () => { throw new Error("broke"); } });
	pi.command("other", { handler() {} });
}`;
		const tested = async (runs: string[], json = false) => {
			const cwd = tempDir("pi-project-");
			writeFiles(cwd, { "hook.ts": source });
			return run({ name: "hooks", action: "test", target: "hook.ts", runs }, { cwd, json });
		};
		const { code, stdout } = await tested(["/budget 200", "ask it all", "/fail"]);
		expect(code).toBe(1);
		expect(stdout.split("\n").slice(2)).toEqual([
			"/budget 200",
			"    status: limit 200 after 14 entries",
			'    would save {"type":"budget","limit":200}',
			"",
			"ask it all",
			"    prompt: Explain it all",
			"",
			"/fail",
			"    failed at hook.ts:7:46: broke",
			"",
			"commands not run: /other",
			"",
		]);
		expect(JSON.parse((await tested(["/other"], true)).stdout)).toMatchObject({
			commands: [{ command: "/other", answer: null, effects: [], failures: [] }],
			commandsNotRun: ["budget", "ask", "fail"],
		});
		await expect(tested(["/gone"])).rejects.toMatchObject({ message: "--run /gone: the hook has no command /gone" });
	});

	test("prints a reason of several lines in one row", async () => {
		const { stdout } = await replayWith(
			`export default (pi) => pi.on("tool_call", () => ({ block: true, reason: "not\\n  today" }));`,
		);
		expect(stdout).toMatch(/tool_call \S+ +blocked: not today$/m);
	});

	test("continues after a result that JSON cannot represent", async () => {
		const source = `export default (pi) => pi.on("agent_start", () => { const a = {}; a.a = a; return a; });`;
		const { code, stdout } = await replayWith(source, { json: true });
		expect(code).toBe(0);
		expect(stdout).toContain("not shown: ");
	});

	test("passes the size of the hook's context to before_request", async () => {
		const { stdout } = await replayWith(`export default function (pi) {
	pi.on("context", ({ messages }) => ({ messages: messages.filter(({ message }) => message.role === "user") }));
	pi.on("before_request", ({ messageCount, tokens, turnIndex }) =>
		messageCount === 2 && turnIndex === 1 ? { action: "stop", reason: messageCount + " messages, " + tokens + " tokens" } : undefined);
}`);
		expect(stdout).toMatch(/12 {2}before_request {2}stopped: 2 messages, \d+ tokens/);
	});

	test("gives handlers the messages after the hook, the model, the usage and the flags, as a session does", async () => {
		const { stdout } = await replayWith(
			`export default function (pi) {
	pi.flag("note", { type: "string" });
	pi.on("context", ({ messages }) => ({ messages: messages.filter(({ message }) => message.role === "user") }));
	pi.on("turn_end", (_, ctx) => ctx.saveEntry({ type: "seen", roles: ctx.messages.map(({ role }) => role[0]).join(""),
		model: ctx.model?.id ?? null, tokens: ctx.usage.tokens > 0, note: ctx.flags.note }));
}`,
			{ readFlags: () => ({ values: { note: "hi" }, problem: null }) },
		);
		expect(stdout).toContain('would save {"type":"seen","roles":"uatt","model":null,"tokens":true,"note":"hi"}');
	});

	test("replays prompts and settled runs, and names the events that it cannot replay", async () => {
		const source = `export default function (pi) {
	pi.on("prompt", ({ text, source, delivery }) => text.includes("push") ? { stop: source + " " + delivery } : { txt: "x" });
	pi.on("agent_settled", (_, ctx) => { ctx.ui.setStatus("done", "done"); });
	pi.on("model_changed", () => {});
	pi.on("response", () => {});
	pi.on("message_update", () => {});
	pi.on("tool_update", () => {});
}`;
		const { code, stdout } = await replayWith(source);
		expect(code).toBe(1);
		expect(stdout.split("\n").slice(2)).toEqual([
			"at  event          result",
			'0   prompt         failed at hook.ts:2:5: unknown field "txt"; an answer has text, attachments, handled or stop; the answer was ignored',
			'                   returned {"txt":"x"}',
			"7   agent_settled  no result",
			"7   prompt         stopped: editor start",
			"13  agent_settled  no result",
			"",
			"events not replayed: response, message_update, tool_update, model_changed",
			"",
		]);
		const { stdout: json } = await replayWith(source, { json: true });
		expect(JSON.parse(json)).toMatchObject({
			eventsNotReplayed: ["response", "message_update", "tool_update", "model_changed"],
		});
	});

	test("replays shell commands of the user, with the time limit of a replay", async () => {
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "settings.json": { hookTimeout: 20 } });
		const file = join(agentDir, "bash.jsonl");
		const message = (command: string) => ({
			...{ role: "bashExecution", command, output: "", exitCode: 0, cancelled: false, truncated: false, timestamp: 0 },
		});
		const entries = [
			{ type: "session", version: 1, id: "a", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w" },
			{ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: message("rm x") },
			{ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: message("wait") },
		];
		writeFiles(agentDir, { "bash.jsonl": entries.map((entry) => `${JSON.stringify(entry)}\n`).join("") });
		const source = `export default (pi) => pi.on("user_bash", ({ command }) =>
	command === "rm x" ? { block: true, reason: "no rm" } : new Promise(() => {}));`;
		const { code, stdout } = await replayWith(source, { agentDir, session: file });
		expect(code).toBe(1);
		expect(stdout.split("\n").slice(3)).toEqual([
			"0   user_bash  blocked: no rm",
			expect.stringMatching(/^1 {3}user_bash {2}failed at hook\.ts:1:\d+: timed out after 20 ms$/),
			"",
		]);
	});

	test("rejects an invalid entry as a session would", async () => {
		const { code, stdout } = await replayWith(
			`export default (pi) => pi.on("agent_end", (_, ctx) => ctx.saveEntry({ type: "message" }));`,
		);
		expect(code).toBe(1);
		expect(stdout).toContain("is a type that pi uses");
	});

	test("replays a saved session without changing its file", async () => {
		const sessionDir = tempDir();
		const entries = sampleSession("/w").slice(0, 3);
		const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
		writeFiles(sessionDir, { "s.jsonl": text });
		const session = join(sessionDir, "s.jsonl");
		const source = `export default (pi) => pi.on("context", () => undefined);`;
		const { code, stdout } = await replayWith(source, { session });
		expect(code).toBe(0);
		expect(stdout).toContain(`on ${session}: `);
		expect(readFileSync(session, "utf8")).toBe(text);
		expect(readdirSync(sessionDir)).toEqual(["s.jsonl"]);
	});

	test("reports why a hook does not load, and that a file does not exist", async () => {
		const broken = await replayWith(`export default () => {\n\tthrow new Error("no luck");\n};`);
		expect(broken).toMatchObject({ code: 1, stdout: "" });
		expect(broken.stderr).toContain("hook.ts:2:8 did not load: no luck");
		await expect(run({ name: "hooks", action: "test", target: "gone.ts" })).rejects.toThrow("gone.ts cannot be read");
	});

	test.each(readdirSync(examples).filter((name) => name.endsWith(".ts")))(
		"the example %s goes through the sample session without a failure",
		async (name) => {
			const agentDir = tempAgentDir({ settings: { hookGrants: { "task-reminder.ts": ["systemItems"] } } });
			const result = await run({ name: "hooks", action: "test", target: join(examples, name) }, { agentDir });
			expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("0 failures") });
		},
	);
});

describe("the replayed events of a session", () => {
	test("are the events that hooks received in the running session", async () => {
		const dir = tempDir();
		writeFiles(dir, {
			"log.ts": `export default function (pi) {
	const seen = [];
	const names = ["session", "prompt", "agent_start", "agent_end", "agent_settled", "turn_start", "turn_end", "before_request",
		"tool_call", "tool_result", "user_bash", "thinking_level_changed", "session_named"];
	for (const name of names)
		pi.on(name, (event) => {
			const prompt = event.type === "prompt" ? [event.text, event.delivery, event.attachments.length].join(" ") : undefined;
			const change = event.level === undefined ? undefined : [event.previousLevel, event.level].join(" ");
			seen.push([event.type, event.reason ?? event.toolName ?? event.turnIndex ?? event.messages?.length ?? prompt ?? event.command ?? change ?? event.name ?? ""].join(" "));
			return event.text === "u2" ? { text: "changed" } : event.command === "true" ? { command: "echo changed" } : undefined;
		});
	pi.command("seen", { handler: () => ({ status: seen.join("|") }) });
}`,
		});
		const t = await createHookTest({
			hooks: [join(dir, "log.ts")],
			files: { "a.txt": "a" },
			replies: [
				{
					toolCalls: [toolCall("bash", { command: "true" }), toolCall("read", { path: "a.txt" })].flatMap(
						({ toolCalls = [] }) => toolCalls,
					),
				},
				"a1",
				toolCall("ls", {}),
				"a2",
			],
		});
		try {
			await t.session.setThinkingLevel("low");
			await t.run("u1");
			await t.session.runBash("true", { excludeFromContext: true });
			await t.session.setThinkingLevel("high");
			await t.run("/name trial");
			await t.session.prompt("u2", { images: [{ type: "image", data: PNG, mimeType: "image/png" }] });
			const { status } = await t.run("/seen");
			const points = eventPoints(t.entries, null).map(({ event }) => {
				const what =
					event.type === "session"
						? event.reason
						: "toolName" in event
							? event.toolName
							: "turnIndex" in event
								? event.turnIndex
								: "messages" in event
									? event.messages.length
									: event.type === "prompt"
										? `${event.text} ${event.delivery} ${event.attachments.length}`
										: "command" in event
											? event.command
											: "level" in event
												? `${event.previousLevel} ${event.level}`
												: "name" in event
													? event.name
													: "";
				return `${event.type} ${what}`;
			});
			const received = status?.split("|").filter((line) => line !== "thinking_level_changed medium low");
			expect(points.filter((line) => line !== "context " && line !== "session shutdown")).toEqual(received);
		} finally {
			await t.dispose();
		}
	});

	test("the sample session contains only messages that pi itself could have written", () => {
		const entries = sampleSession("/w");
		const messages = entries.filter(isMessageEntry).map(({ message }) => message);
		expect(messages.every(isWellFormed)).toBe(true);
		expect(messages.length).toBe(entries.length - 1);
	});
});
