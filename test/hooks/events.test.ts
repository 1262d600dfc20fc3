import { describe, expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { hook } from "./support.js";

describe("events", () => {
	const RECORD = hook(`
		for (const name of ["agent_start", "agent_end", "turn_start", "turn_end", "tool_call", "tool_result", "context"])
			pi.on(name, (event, ctx) => { globalThis.__seen.push(name + (event.turnIndex ?? "")); });
		pi.on("session", (event) => { globalThis.__seen.push("session:" + event.reason); });
	`);

	test("run in life cycle order", async () => {
		const seen: string[] = [];
		Reflect.set(globalThis, "__seen", seen);
		const { session, provider } = await startSession({ hooks: { "r.ts": RECORD } });
		provider.reply([toolCall("bash", { command: "true" })], "done");
		await session.prompt("go");
		await session.newSession();
		await session.dispose();
		expect(seen).toEqual([
			"context",
			"session:start",
			"agent_start",
			"turn_start0",
			"context",
			"tool_call",
			"tool_result",
			"turn_end0",
			"turn_start1",
			"context",
			"turn_end1",
			"agent_end",
			"session:before_clear",
			"context",
			"session:clear",
			"session:shutdown",
		]);
	});

	test("tool_call blocks: the first block wins, the model receives the reason, and tool_result does not run", async () => {
		const { session, provider, sent } = await startSession({
			hooks: {
				"a.ts": hook(
					'pi.on("tool_call", (e) => e.input.command === "rm x" ? { block: true, reason: "not today" } : undefined);',
				),
				"b.ts": hook('pi.on("tool_call", () => { throw new Error("never asked"); });'),
				"c.ts": hook('pi.on("tool_result", () => ({ content: [{ type: "text", text: "changed" }] }));'),
			},
		});
		provider.reply([toolCall("bash", { command: "rm x" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("tool: not today");
	});

	test("tool_call input is a frozen copy", async () => {
		const { session, provider, sent } = await startSession({
			hooks: { "a.ts": `"use strict"; ${hook('pi.on("tool_call", (e) => { e.input.command = "echo other"; });')}` },
		});
		provider.reply([toolCall("bash", { command: "echo mine" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toMatch(/Blocked: hook a failed.*read.only/);
	});

	test("tool_result handlers chain, also for errors; invalid answers are rejected", async () => {
		const { session, provider, sent, notices } = await startSession({
			hooks: {
				"a.ts": hook(
					'pi.on("tool_result", (e) => ({ content: [{ type: "text", text: "A(" + e.content[0].text + ")" }], isError: false }));',
				),
				"b.ts": hook(
					'pi.on("tool_result", (e) => ({ content: [{ type: "text", text: "B(" + e.content[0].text + ")" + e.isError }] }));',
				),
				"c.ts": hook('pi.on("tool_result", () => ({ content: "text" }));'),
				"d.ts": hook('pi.on("tool_result", () => ({ content: [{ type: "image", data: "AA==" }] }));'),
			},
		});
		provider.reply([toolCall("read", { path: "missing.txt" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toMatch(/^tool: B\(A\(.*missing\.txt.*\)\)false$/s);
		const refused = expect.stringContaining("content must be a list");
		expect(notices()).toEqual([refused, refused]);
	});

	test("an open dialog pauses the time limit", async () => {
		const { session, provider, notices } = await startSession({
			userSettings: { hookTimeout: 40 },
			hooks: { "t.ts": hook('pi.on("turn_start", async (e, ctx) => { await ctx.ui.confirm("sure?", ""); });') },
			// Longer than the time limit.
			ui: { confirm: () => new Promise((resolve) => setTimeout(() => resolve(true), 120)) },
		});
		provider.reply("done");
		await session.prompt("go");
		expect(notices()).toEqual([]);
	});

	test("before_compact can provide the summary, and compact reports that", async () => {
		const { session, provider, sent, notices } = await startSession({
			userSettings: { compaction: { enabled: false, keepRecentTokens: 5 } },
			hooks: {
				"c.ts": hook(`pi.on("session", (e, ctx) => {
					if (e.reason === "before_compact") return { compactionEntry: { type: "compaction", timestamp: new Date().toISOString(),
						summary: e.messagesToSummarize.length + " messages", firstKeptEntryIndex: e.cutPoint.firstKeptEntryIndex, tokensBefore: e.tokensBefore } };
					if (e.reason === "compact") ctx.ui.notify("fromHook " + e.fromHook);
				});`),
			},
		});
		provider.reply("a1", "a2", "a3");
		await session.prompt("one");
		await session.prompt("two");
		await session.compact();
		await session.prompt("three");
		expect(sent(3)[0]).toContain("<summary>\n3 messages\n</summary>");
		expect(sent(3).slice(1)).toEqual(["user: two", "assistant: a2", "user: three"]);
		expect(notices()).toEqual([]);
	});

	test.each([
		["before_clear", "/new", "Hook c canceled the new session"],
		["before_branch", "/branch 1", "Hook c canceled the branch"],
	])("%s can be canceled", async (reason, command, status) => {
		const { session, provider } = await startSession({
			hooks: { "c.ts": hook(`pi.on("session", (e) => e.reason === "${reason}" ? { cancel: true } : undefined);`) },
		});
		provider.reply("a1");
		await session.prompt("one");
		expect(await session.prompt(command)).toMatchObject({ status });
		expect(session.entries.length).toBe(3);
	});

	test("skipConversationRestore creates a branch with all entries", async () => {
		const { session, provider } = await startSession({
			hooks: {
				"c.ts": hook(
					'pi.on("session", (e) => e.reason === "before_branch" ? { skipConversationRestore: true } : undefined);',
				),
			},
		});
		provider.reply("a1", "a2");
		await session.prompt("one");
		await session.prompt("two");
		expect(await session.branch(3)).toBe("two");
		expect(session.entries.length).toBe(5);
		expect(await session.prompt("/branch 3")).toMatchObject({
			status: "New session with all entries: a hook kept those from 3 on",
		});
	});
});
