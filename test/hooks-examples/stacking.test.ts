import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { estimateTokens, type SessionEntry } from "../../src/hooks/index.js";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import type { SelectOption } from "../../src/hooks/types.js";
import { httpError, text, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("stacking.ts");

async function say({ session }: TestSession, ...prompts: string[]): Promise<void> {
	for (const prompt of prompts) await session.prompt(prompt);
}

function types(entries: readonly SessionEntry[]): string {
	return entries.map(({ type }) => (type === "message" ? "m" : type)).join(" ");
}

/** Answers `select` with one of the options and records the options. */
function choosing(pick: (options: SelectOption[]) => SelectOption | undefined) {
	const offered: SelectOption[][] = [];
	const select = async (_: string, options: readonly SelectOption[]) => {
		offered.push([...options]);
		return pick([...options])?.value ?? null;
	};
	return { offered, ui: { select: select as SessionUI["select"] } };
}

describe("/pop", () => {
	test.each([true, false])("a turn with an approval is popped and restored; allowed: %s", async (allowed) => {
		const gate = 'export default (pi) => pi.on("tool_call", () => ({ ask: "Run it?" }));';
		const approve = async () => (allowed ? { allowed, choice: -1 } : { allowed });
		const started = await startSession({ hookFiles: [HOOK], hooks: { "gate.ts": gate }, ui: { approve } as never });
		const { session, provider, sent } = started;
		provider.reply("a1", { content: [toolCall("bash", { command: "echo hi" })] }, "a2", "Said hi.", "a3", "a4");
		await say(started, "u1", "u2");
		expect(types(session.entries)).toContain("approval");
		await say(started, "/pop 2", "u3");
		expect(sent(5)).toEqual(["user: u1", "assistant: a1", expect.stringContaining("Said hi."), "user: u3"]);
		await say(started, "/unpop", "u4");
		const [, , prompt, call, result, ...rest] = sent(6);
		expect([prompt, call]).toEqual(["user: u2", expect.stringContaining("assistant:")]);
		expect(result).toMatch(allowed ? /^tool: hi/ : /^tool: .*refused/);
		expect(rest).toEqual(["assistant: a2", "user: u3", "assistant: a3", "user: u4"]);
	});

	test.each([
		["Restore them", "old\n"],
		["Leave them as they are", "new\n"],
	])("asks whether to restore the files of the popped turns: %s", async (answer, content) => {
		const titles: string[] = [];
		const select = async (title: string) => {
			titles.push(title);
			return answer as never;
		};
		const started = await startSession({ hookFiles: [HOOK], files: { "a.txt": "old\n" }, ui: { select } });
		const { session, provider, cwd } = started;
		const call = toolCall("write", { path: "a.txt", content: "new\n" });
		provider.reply("a1", { content: [call] }, "a2", "Wrote a.txt.", "a3");
		await say(started, "u1", "u2", "/pop 2");
		expect(titles).toEqual(["Restore the files that these turns changed?"]);
		expect(readFileSync(`${cwd}/a.txt`, "utf8")).toBe(content);
		await session.prompt("u3");
		const told = JSON.stringify(provider.requests.at(-1)?.messages).includes("The user undid your changes to: ");
		expect(told).toBe(answer === "Restore them");
		const unpopped = JSON.stringify(await session.prompt("/unpop"));
		expect(unpopped.includes("The files stay as /pop restored them")).toBe(answer === "Restore them");
	});

	test("replaces the work since a turn with a summary, and /unpop restores it", async () => {
		const test = await startSession({ hookFiles: [HOOK], modelOptions: { headers: { "x-team": "blue" } } });
		const { session, provider, sent, notices } = test;
		provider.reply("a1", "a2", "a3", "Renamed x to y.", "a4", "a5");
		await say(test, "u1", "u2", "u3");

		const popped = await session.prompt("/pop 2");
		expect(popped).toEqual({ kind: "command", status: expect.stringMatching(/^Popped to turn 2: \d+ → \d+ tokens$/) });
		expect(sent(4)).toEqual([
			expect.stringContaining("[User]\nu2\n\n[Assistant]\na2\n\n[User]\nu3\n\n[Assistant]\na3\n"),
		]);
		expect(provider.requests[3]?.headers["x-team"]).toBe("blue");
		expect(session.entries.at(-1)).toEqual({
			type: "stack_pop",
			backToIndex: 3,
			turnNumber: 2,
			summary: "Renamed x to y.",
			tokensBefore: session.entries.slice(3, 7).reduce((sum, entry) => sum + tokensOf(entry), 0),
			tokensAfter: 8,
			timestamp: expect.any(String),
		});

		await say(test, "u4");
		expect(sent(5)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nRenamed x to y.", "user: u4"]);

		expect(await session.prompt("/unpop")).toEqual({ kind: "command", status: "Undid the pop to turn 2" });
		await say(test, "u5");
		const talk = [1, 2, 3, 4].flatMap((n) => [`user: u${n}`, `assistant: a${n}`]);
		expect(sent(6)).toEqual([...talk, "user: u5"]);
		expect(types(session.entries)).toBe("session m m m m m m request_usage stack_pop m m stack_unpop m m");
		expect(await session.prompt("/unpop")).toEqual({ kind: "command", status: "There is no pop to undo" });
		expect(notices()).toHaveLength(3);
	});

	test("offers the turns newest first, with messages and tokens, and does nothing if canceled", async () => {
		const { offered, ui } = choosing(() => undefined);
		const test = await startSession({ hookFiles: [HOOK], ui, files: { "a.txt": "x".repeat(6000) } });
		const { session, provider } = test;
		provider.reply("a1", [toolCall("read", { path: "a.txt" })], "a2");
		await say(test, "what is\n this?", `read ${"it ".repeat(40)}`);
		const before = session.entries;
		expect(await session.prompt("/pop")).toEqual({ kind: "command", status: null });
		expect(offered).toEqual([
			[
				{
					label: `2  read ${"it ".repeat(40).slice(0, 55)}…`,
					value: "2",
					description: expect.stringMatching(/^4 messages · 1\.\dk$/),
				},
				{ label: "1  what is this?", value: "1", description: "2 messages · 13" },
			],
		]);
		expect(session.entries).toEqual(before);
		expect(provider.requests).toHaveLength(3);
	});

	test("pops to the chosen turn", async () => {
		const { ui } = choosing((options) => options.at(-1));
		const test = await startSession({ hookFiles: [HOOK], ui });
		test.provider.reply("a1", "a2", "S", "a3");
		await say(test, "u1", "u2", "/pop", "u3");
		expect(test.sent(4)).toEqual(["user: [Summary]\n\nS", "user: u3"]);
	});

	test("summarizes tool calls as text, which any model accepts", async () => {
		const test = await startSession({ hookFiles: [HOOK], files: { "a.txt": "hello" } });
		test.provider.reply([text("look"), toolCall("read", { path: "a.txt" })], "a1", "S", "a2");
		await say(test, "u1", "/pop 1", "u2");
		expect(test.sent(3)).toEqual([expect.stringContaining('(calls read {"path":"a.txt"})')]);
		expect(test.provider.requests[2]?.body).not.toHaveProperty("tools");
		expect(test.sent(4)).toEqual(["user: [Summary]\n\nS", "user: u2"]);
	});

	test.each([
		["/pop 3", "There is no turn 3 · turns: 2, 1"],
		["/pop nonsense", "There is no turn nonsense · turns: 2, 1"],
		["/pop", "Specify a turn: /pop <turn> · turns: 2, 1"],
	])("without a screen, %s says what turns there are", async (command, status) => {
		const test = await startSession({ hookFiles: [HOOK] });
		test.provider.reply("a1", "a2");
		await say(test, "u1", "u2");
		expect(await test.session.prompt(command)).toEqual({ kind: "command", status });
		expect(types(test.session.entries)).toBe("session m m m m");
	});

	test("reports that there is nothing to pop", async () => {
		const { session } = await startSession({ hookFiles: [HOOK] });
		expect(await session.prompt("/pop")).toEqual({ kind: "command", status: "There is no turn to pop to yet" });
	});

	test.each([
		[
			"an error",
			httpError(400, {}, "no such luck"),
			/^Nothing was popped: Scripted returned no summary \(.*no such luck/,
		],
		["an empty reply", { content: [] }, /^Nothing was popped: Scripted returned no summary \(its reply has no text\)$/],
	])("saves no pop when the model answers with %s", async (_, reply, status) => {
		const test = await startSession({ hookFiles: [HOOK] });
		test.provider.reply("a1", reply);
		await say(test, "u1");
		expect(await test.session.prompt("/pop 1")).toEqual({ kind: "command", status: expect.stringMatching(status) });
		expect(types(test.session.entries)).toMatch(/^session m m( request_usage)?$/);
	});

	test("saves nothing if the user aborts during the summary", async () => {
		const test = await startSession({ hookFiles: [HOOK] });
		const { session, provider } = test;
		provider.reply("a1", { content: [text("half a summary")], fault: { kind: "stall", at: 1 } });
		await say(test, "u1");
		const popping = session.prompt("/pop 1");
		const request = await provider.request(2);
		await session.abort();
		expect(await popping).toEqual({ kind: "command", status: null });
		expect(await request.closed).toBe(false);
		expect(types(session.entries)).toBe("session m m");
	});

	test("is rejected while the agent is running: a range never ends between a tool call and its result", async () => {
		const test = await startSession({ hookFiles: [HOOK] });
		const { session, provider } = test;
		let release = () => {};
		const hold = new Promise<void>((resolve) => {
			release = resolve;
		});
		provider.reply("a1", { content: [text("busy")], hold });
		await say(test, "u1");
		const run = session.prompt("u2");
		await provider.request(2);
		expect(await session.prompt("/pop 1")).toEqual({
			kind: "command",
			status: "Wait until the agent is done, then run /pop",
		});
		release();
		await run;
	});

	test("the size of a turn counts what hooks and pi added to it", async () => {
		const files = { "lib/AGENTS.md": `Rules. ${"Be kind. ".repeat(50)}`, "lib/a.txt": "x" };
		const test = await startSession({ hookFiles: [HOOK], files });
		test.provider.reply([toolCall("read", { path: "lib/a.txt" })], "a1", "S");
		await say(test, "u1");
		expect(types(test.session.entries)).toContain("system_item");
		const [turn] = await test.session.completeArguments("pop", "");
		await say(test, "/pop 1");
		const { tokensBefore } = Object(test.session.entries.at(-1));
		expect(turn?.description).toBe(`5 messages · ${tokensBefore}`);
	});

	test("completes its argument with the turns", async () => {
		const test = await startSession({ hookFiles: [HOOK] });
		test.provider.on(() => "a");
		for (let number = 1; number <= 11; number++) await say(test, `u${number}`);
		const values = async (prefix: string) =>
			(await test.session.completeArguments("pop", prefix)).map(({ value }) => value);
		expect(await values("")).toEqual(["11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1"]);
		expect(await values("1")).toEqual(["11", "10", "1"]);
		expect((await test.session.completeArguments("pop", "2"))[0]).toEqual({
			value: "2",
			label: "2  u2",
			description: "2 messages · 10",
		});
		expect(test.session.palette().find(({ name }) => name === "pop")).toMatchObject({ argumentHint: "[turn]" });
	});
});

describe("pops on pops and compactions", () => {
	test("a pop to an earlier turn covers an older pop and includes its summary", async () => {
		const test = await startSession({ hookFiles: [HOOK] });
		const { session, provider, sent } = test;
		provider.reply("a1", "a2", "a3", "S1", "a4", "S2", "a5", "a6");
		await say(test, "u1", "u2", "u3", "/pop 3", "u4", "/pop 2");
		expect(sent(6)[0]).toContain("[User]\nu2\n\n[Assistant]\na2\n\n[User]\n[Summary]\n\nS1\n\n[User]\nu4");
		await say(test, "u5");
		expect(sent(7)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nS2", "user: u5"]);

		// Undoing the later pop restores the context with the earlier one.
		await say(test, "/unpop", "u6");
		expect(sent(8).slice(0, 7)).toEqual([
			"user: u1",
			"assistant: a1",
			"user: u2",
			"assistant: a2",
			"user: [Summary]\n\nS1",
			"user: u4",
			"assistant: a4",
		]);
		expect(session.context.problems).toEqual([]);
	});

	test("a pop past a compaction: both sides get a summary, and the next compaction includes them", async () => {
		const test = await startSession({
			hookFiles: [HOOK],
			userSettings: { compaction: { enabled: false, keepRecentTokens: 8 } },
		});
		const { session, provider, sent } = test;
		provider.reply("b1", "b2", "b3", "C1", "b4", "P1", "S1", "b5", "C2", "b6");
		await say(test, "msg1", "msg2", "msg3");
		await session.compact();
		await say(test, "msg4", "/pop 2");
		expect(session.entries.at(-1)).toMatchObject({ backToIndex: 3, prePopSummary: "P1", summary: "S1" });
		expect(sent(6)[0]).toContain("[User]\nmsg1\n\n[Assistant]\nb1\n");
		expect(sent(6)[0]).not.toContain("msg2");
		expect(sent(7)[0]).toContain("[User]\nmsg2\n");
		await say(test, "msg5");
		expect(sent(8)).toEqual(["user: [Summary]\n\nP1", "user: [Summary]\n\nS1", "user: msg5"]);

		await session.compact();
		expect(sent(9)[0]).toContain("[Summary]\n\nS1");
		expect(sent(9)[0]).not.toContain("msg2");
		await say(test, "msg6");
		expect(sent(10)[0]).toContain("<summary>\nC2\n</summary>");
		expect(sent(10).join("\n")).not.toContain("S1");
		expect(await session.prompt("/unpop")).toEqual({
			kind: "command",
			status: "This pop cannot be undone: a compaction has summarized it",
		});
	});

	test("a pop that a compaction has summarized is active again if the compaction is undone", async () => {
		const test = await startSession({
			hookFiles: [HOOK],
			userSettings: { compaction: { enabled: false, keepRecentTokens: 8 } },
		});
		const { session, provider, sent } = test;
		provider.reply("b1", "b2", "S1", "b3", "C1", "b4");
		await say(test, "msg1", "msg2", "/pop 2", "msg3");
		await session.compact();
		await say(test, "/uncompact", "msg4");
		expect(sent(6)).toEqual([...sent(4), "assistant: b3", "user: msg4"]);
		expect(sent(6)).toContain("user: [Summary]\n\nS1");
	});

	test("a pop after a compaction does not change the compaction's summary", async () => {
		const test = await startSession({
			hookFiles: [HOOK],
			userSettings: { compaction: { enabled: false, keepRecentTokens: 8 } },
		});
		const { session, provider, sent } = test;
		provider.reply("b1", "b2", "C1", "b3", "b4", "S1", "b5");
		await say(test, "msg1", "msg2");
		await session.compact();
		await say(test, "msg3", "msg4", "/pop 4", "msg5");
		expect(sent(7)).toEqual([...sent(5).slice(0, -1), "user: [Summary]\n\nS1", "user: msg5"]);
		expect(session.context.messages[0]?.origin).toEqual({ kind: "compaction", entryIndex: 5 });
	});

	test("a session branched after a pop includes the pop", async () => {
		const test = await startSession({ hookFiles: [HOOK] });
		const { session, provider, sent } = test;
		provider.reply("a1", "a2", "S", "a3", "a4");
		await say(test, "u1", "u2", "/pop 2", "u3");
		await session.branch(7);
		await say(test, "u4");
		expect(sent(5)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nS", "user: u4"]);
	});
});

describe("with other hooks", () => {
	// Loads before stacking.ts, which must keep its changes.
	const SHOUT = `export default (pi) => pi.on("context", ({ messages }) => ({
		messages: [
			...messages.map((item) =>
				item.message.role === "user" ? { ...item, message: { ...item.message, content: "LOUD" } } : item),
			{ role: "user", content: "a reminder", timestamp: 0 },
		],
	}));`;
	// Replaces the entries 3 and 4 with a message.
	const FOLD = `export default (pi) => pi.on("context", ({ messages }) => ({
		messages: messages.flatMap((item) =>
			item.entryIndex === 3 ? [{ role: "user", content: "FOLDED", timestamp: 0 }] : item.entryIndex === 4 ? [] : [item]),
	}));`;
	const source = readFileSync(HOOK, "utf8");

	test("keeps changes of previous hooks to messages that no pop covers", async () => {
		const test = await startSession({ hooks: { "a-shout.ts": SHOUT, "stacking.ts": source } });
		test.provider.reply("a1", "a2", "S", "a3");
		await say(test, "u1", "u2", "/pop 2", "u3");
		expect(test.sent(4)).toEqual([
			"user: LOUD",
			"assistant: a1",
			"user: [Summary]\n\nS",
			"user: LOUD",
			"user: a reminder",
		]);
	});

	test("keeps a replacement of entries that no pop covers, and drops one whose entries are all popped", async () => {
		const test = await startSession({ hooks: { "a-fold.ts": FOLD, "stacking.ts": source } });
		test.provider.reply("a1", "a2", "a3", "S1", "a4", "S2", "a5");
		await say(test, "u1", "u2", "u3", "/pop 3", "u4");
		expect(test.sent(5)).toEqual(["user: u1", "assistant: a1", "user: FOLDED", "user: [Summary]\n\nS1", "user: u4"]);
		await say(test, "/pop 2", "u5");
		expect(test.sent(7)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nS2", "user: u5"]);
	});
});

test("entries are rendered as text", async () => {
	const { session } = await startSession({ hookFiles: [HOOK] });
	const theme = PLAIN_THEME;
	const render = session.entryRenderer("stack_pop");
	const entry = { type: "stack_pop", backToIndex: 3, summary: "Fixed it.", tokensBefore: 14_210, tokensAfter: 41 };
	expect(render?.({ ...entry, turnNumber: 2 }, theme, { expanded: true })).toBe(
		"◇ popped to turn 2 · /unpop restores it",
	);
	// Saved before pops had the number of their turn.
	expect(render?.(entry, theme, { expanded: true })).toBe("◇ popped · /unpop restores it");
	expect(render?.({ type: "stack_pop", backToIndex: "3" }, theme, { expanded: true })).toBe("invalid pop");
});

function tokensOf(entry: SessionEntry): number {
	return entry.type === "message" && "message" in entry
		? estimateTokens(entry.message as Parameters<typeof estimateTokens>[0])
		: 0;
}
