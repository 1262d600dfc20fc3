import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { TaskStatus } from "../../src/features/tasks.js";
import { isSystemItemEntry } from "../../src/log/entry.js";
import { type Reply, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeHook } from "../helpers/temp.js";

const ON = { features: { tasks: true } };
const start = (options: TestSessionOptions = {}) => startSession({ userSettings: ON, ...options });
const write = (...tasks: [text: string, status: TaskStatus][]) =>
	toolCall("tasks", { tasks: tasks.map(([text, status]) => ({ text, status })) });

/** A session whose model sends these replies and then keeps listing files, in runs of `steps` requests. */
async function working(first: Reply[], steps: number, options: TestSessionOptions = {}) {
	const test = await start(options);
	test.provider.on(({ index }) => {
		const scripted = first[index];
		if (scripted) return scripted;
		return (index + 1) % steps === 0 ? "done" : [toolCall("ls", {})];
	});
	const reminders = () => test.session.entries.filter(isSystemItemEntry).map(({ item }) => item.text);
	return { ...test, reminders };
}

describe("the tasks feature", () => {
	test("is off unless features.tasks is set", async () => {
		const { session, provider } = await startSession();
		provider.reply("ok");
		await session.prompt("go");
		expect(JSON.stringify(provider.requests[0]?.body)).not.toContain("tasks");
		expect(session.palette().map(({ name }) => name)).not.toContain("tasks");
		expect(session.loaded.hooks).toEqual([]);
		await expect(startSession({ tools: ["tasks"] })).rejects.toMatchObject({ code: "tool_unknown" });
	});

	test("is loaded like a hook, before the user's hooks, and is listed with them", async () => {
		const { session } = await start({ hooks: { "a.ts": "export default () => {};" } });
		expect(session.loaded.hooks).toEqual([
			{ name: "tasks", path: "built-in/tasks", scope: "builtin" },
			expect.objectContaining({ name: "a", scope: "global" }),
		]);
		await session.reload();
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["tasks", "a"]);
		expect(session.loaded.warnings).toEqual([]);
	});

	test("has neither command nor reminder without its tool", async () => {
		const { session } = await start({ tools: ["read"] });
		expect(session.loaded.hooks).toEqual([]);
		const other = await start({ tools: ["read", "tasks"] });
		expect(other.session.loaded.hooks.length).toBe(1);
	});

	test("is replaced by a tool of the same name from the user", async () => {
		const own = `export default { name: "tasks", description: "Mine", parameters: { type: "object", properties: {} }, run() {} };`;
		const path = writeHook(tempDir(), "mine.ts", own);
		const { session, provider } = await start({ customTools: [path] });
		expect(session.loaded.hooks).toEqual([]);
		provider.reply("ok");
		await session.prompt("go");
		const names = JSON.stringify(provider.requests[0]?.body.tools).match(/"name":"tasks"/g);
		expect(names).toEqual(['"name":"tasks"']);
	});

	test("uses only the hook API and the tools API", () => {
		const source = readFileSync(new URL("../../src/features/tasks.ts", import.meta.url), "utf8");
		const imports = [...source.matchAll(/from "([^"]+)"/g)].map(([, specifier]) => specifier);
		expect(imports).toEqual(["../hooks/index.js", "../tools/tool.js"]);
	});
});

describe("the task list", () => {
	test("is replaced by each call and shown by /tasks", async () => {
		const { session, provider, sent } = await start();
		expect(await session.prompt("/tasks")).toMatchObject({ status: "There are no tasks" });
		provider.reply(
			[write(["look", "in_progress"], ["change\n  it", "pending"])],
			[write(["look", "done"], ["change it", "in_progress"], ["test", "pending"])],
			"done",
		);
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("tool: 0 of 2 tasks done");
		expect(sent(3).at(-1)).toBe("tool: 1 of 3 tasks done");
		expect(await session.prompt("/tasks")).toMatchObject({
			status: "Tasks 1/3 · 1 in progress\n[x] look\n[~] change it\n[ ] test",
		});
	});

	test("survives resume, and a branch has the list of its starting point", async () => {
		const agentDir = tempAgentDir();
		const sessionDir = tempDir();
		const first = await start({ agentDir, sessionDir, session: { kind: "new" } });
		first.provider.reply([write(["one", "pending"])], "ok", [write(["two", "done"])], "ok");
		await first.session.prompt("go");
		const turn = first.session.entries.length;
		await first.session.prompt("on");
		await first.session.dispose();
		const { session } = await start({ agentDir, sessionDir, session: { kind: "continue" } });
		expect(await session.prompt("/tasks")).toMatchObject({ status: "Tasks 1/1\n[x] two" });
		await session.branch(turn);
		expect(await session.prompt("/tasks")).toMatchObject({ status: "Tasks 0/1\n[ ] one" });
	});

	test("is unchanged after a call that is invalid, is blocked, or has no list", async () => {
		const { session, provider, sent } = await start({
			hooks: {
				"a.ts": `export default (pi) => {
					pi.on("tool_call", (e) => e.input.tasks?.[0]?.text === "blocked" ? { block: true } : undefined);
					pi.on("tool_result", (e) => e.input.tasks?.[0]?.text === "odd" ? { details: { tasks: [{ text: 1 }] } } : undefined);
				};`,
			},
		});
		provider.reply(
			[write(["one", "pending"])],
			[toolCall("tasks", { tasks: [{ text: "two", status: "started" }] })],
			[write(["blocked", "done"])],
			[write(["odd", "done"])],
			"ok",
		);
		await session.prompt("go");
		expect(sent(3).at(-1)).toMatch(/status/);
		expect(await session.prompt("/tasks")).toMatchObject({ status: "Tasks 0/1\n[ ] one" });
	});
});

describe("the reminder", () => {
	test("is part of the request after ten without a use of the tool, and again ten later", async () => {
		const { session, sent, reminders } = await working([[write(["look", "done"], ["test", "pending"])]], 25);
		await session.prompt("go");
		const text = [
			"The task list was last updated 10 or more replies ago:",
			"[x] look",
			"[ ] test",
			"Update it if it is out of date, and continue with the open tasks.",
		].join("\n");
		expect(reminders()).toEqual([text, text]);
		const message = `user: <task_reminder source="tasks">\n${text}\n</task_reminder>`;
		const having = Array.from({ length: 25 }, (_, i) => sent(i + 1).filter((line) => line === message).length);
		// The first request writes the list, ten follow, and the twelfth has the reminder.
		expect(having).toEqual([...Array(11).fill(0), ...Array(10).fill(1), ...Array(4).fill(2)]);
		expect(sent(12).at(-1)).toBe(message);
	});

	test("counts across runs and resume", async () => {
		const agentDir = tempAgentDir();
		const sessionDir = tempDir();
		const first = await working([[write(["test", "pending"])]], 8, { agentDir, sessionDir, session: { kind: "new" } });
		await first.session.prompt("go");
		await first.session.dispose();
		expect(first.reminders()).toEqual([]);
		const second = await working([], 5, { agentDir, sessionDir, session: { kind: "continue" } });
		await second.session.prompt("on");
		expect(second.reminders().length).toBe(1);
		// Seven replies of the first run and three of the second came after the list.
		expect(second.sent(3).join()).not.toContain("task_reminder");
		expect(second.sent(4).at(-1)).toContain("task_reminder");
	});

	test("is not sent when everything is done", async () => {
		const { session, reminders } = await working([[write(["test", "done"])]], 25);
		await session.prompt("go");
		expect(reminders()).toEqual([]);
	});

	test("mentions the tool once if it was never used", async () => {
		const { session, sent, reminders } = await working([], 25);
		await session.prompt("go");
		expect(reminders()).toEqual([expect.stringMatching(/^The tasks tool has not been used\./)]);
		expect(sent(11).at(-1)).toContain("has not been used");
	});
});
