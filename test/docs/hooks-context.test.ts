import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { isObject, objects } from "../helpers/json.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { HookPage } from "./hook-page.js";

const page = new HookPage("hooks-context.md");

afterEach(() => void vi.useRealTimers());

page.testCode({
	async "forget.ts"() {
		const { session, provider, sent } = await page.startSession("forget.ts", { files: { "a.txt": "a" } });
		provider.reply("a1", [toolCall("read", { path: "a.txt" })], "a2", "a3");
		await session.prompt("u1");
		await session.prompt("u2");
		expect(await session.prompt("/forget 2")).toMatchObject({ status: expect.stringContaining("Specify the entry") });
		expect(await session.prompt("/forget 3")).toMatchObject({ status: "Turn 3 is hidden from the model" });
		await session.prompt("u3");
		expect(sent(4)).toEqual(["user: u1", "assistant: a1", "user: u3"]);
		expect(session.context.problems).toEqual([]);
	},
	async "cold.ts"() {
		const { session, provider, sent } = await page.startSession("cold.ts", {
			files: { "a.txt": "x".repeat(46_000) },
			modelOptions: { contextWindow: 15_500 },
			userSettings: { compaction: { enabled: false } },
		});
		provider.reply([toolCall("read", { path: "a.txt" })], "a1", "a2");
		await session.prompt("u1");
		await session.prompt("u2");
		expect(sent(3).join("\n")).toContain("xxxx");
		vi.setSystemTime(Date.now() + 400_000);
		provider.reply("a3");
		await session.prompt("u3");
		expect(sent(4).join("\n")).not.toContain("xxxx");
		expect(session.context.problems).toEqual([]);
	},
	async "look-only.ts"() {
		const { session, provider } = await page.startSession("look-only.ts", { tools: ["read", "bash"] });
		provider.reply("a1", [toolCall("bash", { command: "ls" })], "a2", "a3");
		const toolsOf = (request: number) =>
			objects(provider.requests[request - 1]?.body.tools).map((tool) => isObject(tool.function) && tool.function.name);
		await session.prompt("u1");
		expect(await session.prompt("/look-only")).toMatchObject({
			status: "The system prompt has the sections base, tools, environment, look-only:rule",
		});
		await session.prompt("u2");
		expect([toolsOf(1), toolsOf(2)]).toEqual([["read", "bash"], ["read"]]);
		expect(provider.requests[1]?.messages[0]?.text).toMatch(/You can only read files here.*making them\.$/s);
		expect(provider.requests[2]?.messages.at(-1)?.text).toBe('There is no tool "bash". The tools are: read.');
		await session.prompt("/look-only off");
		await session.prompt("u3");
		expect(toolsOf(4)).toEqual(["read", "bash"]);
		expect(session.context.problems).toEqual([]);
	},
	async "replace.ts"() {
		const { session, provider, sent } = await page.startSession("replace.ts");
		provider.reply("a1", "a2", "a3");
		await session.prompt("u1");
		await session.prompt("/replace We met.");
		await session.prompt("u2");
		expect(sent(2)).toEqual(["user: [Summary]\n\nWe met.", "user: u2"]);
		await session.prompt("/replace We talked.");
		await session.prompt("u3");
		expect(sent(3)).toEqual(["user: [Summary]\n\nWe talked.", "user: u3"]);
	},
});

test("the table of sections lists those of pi", () => {
	const source = readFileSync(new URL("../../src/context/preamble-answer.ts", import.meta.url), "utf8");
	const [, ids = ""] = /CORE_IDS: [^=]* = new Set\(\[(.*?)\]\)/.exec(source) ?? [];
	const listed = page.tableAfter("| section | content |").map(([id = ""]) => id.replaceAll("`", ""));
	expect(listed).toEqual([...[...ids.matchAll(/"([\w-]+)"/g)].map(([, id]) => id), "<hook>:<name>"]);
});
