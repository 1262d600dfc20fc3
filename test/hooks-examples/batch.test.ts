import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isHookToolCallEntry } from "../../src/log/entry.js";
import { subjectText } from "../../src/util/approval.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { example } from "./example.js";

const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };

/** A session in which the model runs a batch. @param hooks other examples */
async function start(calls: unknown, hooks: readonly string[] = [], options: TestSessionOptions = {}) {
	const files = [...hooks, "batch.ts"].map(example);
	const started = await startSession({ files: FILES, hookFiles: files, ...options });
	started.provider.reply([toolCall("batch", { calls })], "done");
	return { ...started, nested: () => started.session.entries.filter(isHookToolCallEntry) };
}

test("runs the calls in order and joins their results with headings, also of what failed", async () => {
	const { session, sent, nested } = await start([
		{ tool: "read", args: { path: "a.txt" } },
		{ tool: "write", args: { path: "c.txt", content: "gamma" } },
		{ tool: "read", args: { path: "c.txt" } },
		{ tool: "reed" },
	]);
	await session.prompt("go");
	expect(sent(2).at(-1)).toMatch(
		/^tool: ## 1\. read\nalpha\s+## 2\. write\n.*c\.txt.*\s## 3\. read\ngamma\s+## 4\. reed \(failed\)\nThere is no tool "reed"$/s,
	);
	expect(nested().map(({ toolName, parent }) => [toolName, typeof parent])).toEqual([
		["read", "string"],
		["write", "string"],
		["read", "string"],
	]);
});

test("limits the output, and refuses to call itself", async () => {
	const { session, sent } = await start(
		[
			{ tool: "bash", args: { command: "seq -f %0200g 2000" } },
			{ tool: "batch", args: { calls: [{ tool: "ls" }] } },
		],
		[],
	);
	await session.prompt("go");
	const [result = ""] = sent(2).slice(-1);
	expect(result.length).toBeLessThan(45_000);
	expect(result).toContain("characters left out: make this call on its own");
	expect(result).toContain("cannot be called from its own run: batch → batch.");
});

describe("guards hold for the calls of a batch", () => {
	const write = { tool: "write", args: { path: "c.txt", content: "x" } };

	test("a tool that a hook hides from the model is not called, and plan mode refuses those of other hooks too", async () => {
		const { session, sent, cwd, provider } = await start(
			[{ tool: "read", args: { path: "a.txt" } }, write],
			["plan-mode.ts"],
		);
		await session.prompt("/plan look around");
		expect(JSON.stringify(provider.requests[0]?.body)).not.toContain('"name":"write"');
		expect(sent(2).at(-1)).toContain("alpha");
		expect(sent(2).at(-1)).toContain('## 2. write (failed)\nThere is no tool "write"');
		expect(existsSync(join(cwd, "c.txt"))).toBe(false);
		const run = `async (_, { ctx }) => ({ content: (await ctx.tools.call("write", ${JSON.stringify(write.args)})).content })`;
		const hooks = {
			"writer.ts": `export default (pi) => pi.tool({ name: "writer", description: "d", parameters: { type: "object" }, run: ${run} });`,
		};
		const other = await startSession({ hooks, hookFiles: [example("plan-mode.ts")] });
		other.provider.reply([toolCall("writer", {})], "done");
		await other.session.prompt("/plan look around");
		expect(existsSync(join(other.cwd, "c.txt"))).toBe(false);
	});

	test("permission-gate asks before a command, and names the caller", async () => {
		const asked: string[] = [];
		const { session, sent, cwd } = await start(
			[{ tool: "bash", args: { command: "rm a.txt" } }],
			["permission-gate.ts"],
			{
				ui: {
					async approve({ subject }) {
						asked.push(subjectText(subject));
						return { allowed: false };
					},
				},
			},
		);
		await session.prompt("go");
		expect(asked).toEqual([expect.stringMatching(/rm a\.txt[\s\S]*called by hook batch/)]);
		expect(existsSync(join(cwd, "a.txt"))).toBe(true);
		expect(sent(2).at(-1)).toContain("The user refused this call");
	});

	test("protected-paths, permissions and redact", async () => {
		const secret = `sk-ant-api03-${"Ab1".repeat(30)}`;
		const { session, sent, nested, cwd } = await start(
			[
				{ tool: "write", args: { path: ".env", content: "x" } },
				{ tool: "bash", args: { command: "touch made" } },
				{ tool: "read", args: { path: "secret.txt" } },
			],
			["protected-paths.ts", "permissions.ts", "redact.ts"],
			{
				files: { ...FILES, "secret.txt": `${secret}\n` },
				ui: { approve: async () => ({ allowed: true, choice: -1 }) },
			},
		);
		await session.prompt("go");
		expect(existsSync(join(cwd, ".env"))).toBe(false);
		expect(nested()[0]?.gate).toEqual({ blockedBy: expect.any(String) });
		expect(JSON.stringify([session.entries, sent(2)])).not.toContain(secret);
	});
});
