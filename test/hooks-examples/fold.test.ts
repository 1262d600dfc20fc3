import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import type { SelectOption } from "../../src/hooks/types.js";
import { httpError, text, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("fold.ts");

async function say({ session }: TestSession, ...prompts: string[]): Promise<void> {
	for (const prompt of prompts) await session.prompt(prompt);
}

/** A session of `count` turns, u1 … and a1 …, whose user messages are the entries 1, 3, 5 … */
async function talk(count: number, options: Parameters<typeof startSession>[0] = {}): Promise<TestSession> {
	const test = await startSession({ hookFiles: [HOOK], ...options });
	for (let n = 1; n <= count; n++) {
		test.provider.reply(`a${n}`);
		await say(test, `u${n}`);
	}
	return test;
}

/** The messages of the next request. */
async function sentNow(test: TestSession): Promise<string[]> {
	test.provider.reply("ok");
	await say(test, "now");
	return test.sent(test.provider.requests.length).slice(0, -1);
}

/** Answers each `select` with the next of `picks`, the start of a label; records options and notices. */
function picking(...picks: string[]) {
	const offered: string[][] = [];
	const notices: string[] = [];
	const select = async (_: string, options: readonly (string | SelectOption)[]) => {
		const pick = picks.shift();
		offered.push(options.map((option) => (typeof option === "string" ? option : option.label)));
		const found = options.find((option) =>
			(typeof option === "string" ? option : option.label).startsWith(pick ?? "nothing"),
		);
		return (typeof found === "object" ? found.value : found) ?? null;
	};
	const ui: Partial<SessionUI> = {
		select: select as SessionUI["select"],
		notify: (message) => void notices.push(message),
	};
	return { offered, notices, ui };
}

describe("/fold", () => {
	test("replaces turns in the middle with a summary, and /unfold restores them", async () => {
		const test = await talk(4);
		test.provider.reply("S");
		expect(await test.session.prompt("/fold 2 3")).toEqual({
			kind: "command",
			status: expect.stringMatching(/^Folded from turn 2: \d+ → \d+ tokens$/),
		});
		const [request] = test.sent(5);
		expect(request).toContain("[User]\nu2\n\n[Assistant]\na2\n\n[User]\nu3\n\n[Assistant]\na3\n");
		expect(request).not.toMatch(/u1|u4/);
		expect(test.session.entries.at(-1)).toMatchObject({ type: "fold", from: 3, to: 7, summary: "S" });
		const rest = ["user: u4", "assistant: a4"];
		expect(await sentNow(test)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nS", ...rest]);

		expect(await test.session.prompt("/unfold 2")).toMatchObject({
			status: "Restored the turns folded from turn 2",
		});
		const all = [1, 2, 3].flatMap((n) => [`user: u${n}`, `assistant: a${n}`]);
		expect((await sentNow(test)).slice(0, 8)).toEqual([...all, ...rest]);
		expect(await test.session.prompt("/unfold")).toMatchObject({ status: "There is no fold to undo" });
		expect(test.session.context.problems).toEqual([]);
	});

	test.each([
		["accepts", (draft: string) => draft, "The draft\n- in two lines"],
		["edits", (draft: string) => draft.replace("The draft", "My own words"), "My own words\n- in two lines"],
	])("folds after the user %s the draft, which is shown once", async (_, edit, summary) => {
		const { offered, notices, ui } = picking("2", "3");
		const drafts: string[] = [];
		const editor = async (_title: string, draft: string) => {
			drafts.push(draft);
			return edit(draft);
		};
		const test = await talk(3, { ui: { ...ui, editor } });
		test.provider.reply("The draft\n- in two lines");
		await say(test, "/fold");
		expect(offered).toEqual([
			["1  u1", "2  u2", "3  u3"],
			["2  u2", "3  u3"],
		]);
		expect(drafts).toEqual(["The draft\n- in two lines"]);
		expect(notices).toEqual([]);
		expect(await sentNow(test)).toEqual(["user: u1", "assistant: a1", `user: [Summary]\n\n${summary}`]);
	});

	test("a summary in the command is used unchanged, without a dialog", async () => {
		const test = await talk(2, { ui: picking().ui });
		await say(test, "/fold 1 2 My own words\nof two lines");
		expect(test.provider.requests).toHaveLength(2);
		expect(await sentNow(test)).toEqual(["user: [Summary]\n\nMy own words\nof two lines"]);
	});

	test.each([[["nothing"]], [["2", "nothing"]], [["2", "2", "nothing"]]])(
		"saves nothing when a dialog is left: %j",
		async (picks) => {
			const test = await talk(2, { ui: picking(...picks).ui });
			test.provider.on(() => "S");
			expect(await test.session.prompt("/fold")).toEqual({ kind: "command", status: null });
			expect(test.session.entries.map(({ type }) => type)).not.toContain("fold");
		},
	);

	test.each([
		["/fold", "Specify two turns: /fold <from> <to> · turns: 1, 2"],
		["/fold 2", "Specify two turns: /fold <from> <to> · turns: 1, 2"],
		["/fold 3 2", "Turn 3 does not exist or cannot be folded · turns: 1, 2"],
		["/fold 1 x", "Turn x does not exist or cannot be folded · turns: 1, 2"],
	])("without a screen, %s says what turns there are", async (command, status) => {
		const test = await talk(2);
		expect(await test.session.prompt(command)).toEqual({ kind: "command", status });
		expect(test.session.entries).toHaveLength(5);
	});

	test("reports that there is nothing to fold", async () => {
		const { session } = await startSession({ hookFiles: [HOOK] });
		expect(await session.prompt("/fold 1 1")).toMatchObject({ status: "There is no turn to fold yet" });
	});

	test("accepts the two turns in either order", async () => {
		const test = await talk(3);
		await say(test, "/fold 3 2 S");
		expect(await sentNow(test)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nS"]);
	});

	test("includes tool calls and results, and sends them to the model as plain text", async () => {
		const test = await startSession({ hookFiles: [HOOK], files: { "a.txt": "hello" } });
		test.provider.reply("a1", [text("look"), toolCall("read", { path: "a.txt" })], "a2", "a3", "S");
		await say(test, "u1", "u2", "u3", "/fold 2 2");
		expect(test.sent(5)).toEqual([expect.stringContaining('(calls read {"path":"a.txt"})')]);
		expect(test.provider.requests[4]?.body).not.toHaveProperty("tools");
		expect(await sentNow(test)).toEqual([
			"user: u1",
			"assistant: a1",
			"user: [Summary]\n\nS",
			"user: u3",
			"assistant: a3",
		]);
	});

	test("saves nothing if the model fails or the user aborts", async () => {
		const test = await talk(1);
		test.provider.reply(httpError(400, {}, "no such luck"));
		expect(await test.session.prompt("/fold 1 1")).toMatchObject({
			status: expect.stringMatching(/^Nothing was folded: Scripted returned no summary \(.*no such luck/),
		});
		test.provider.reply({ content: [text("half")], fault: { kind: "stall", at: 1 } });
		const folding = test.session.prompt("/fold 1 1");
		await test.provider.request(3);
		await test.session.abort();
		expect(await folding).toEqual({ kind: "command", status: null });
		expect(test.session.entries).toHaveLength(3);
	});

	test("completes both turns", async () => {
		const test = await talk(3);
		const values = async (prefix: string) =>
			(await test.session.completeArguments("fold", prefix)).map(({ value }) => value);
		expect(await values("")).toEqual(["1", "2", "3"]);
		expect(await values("2")).toEqual(["2"]);
		expect(await values("2 ")).toEqual(["2 2", "2 3"]);
		expect(await values("2 3")).toEqual(["2 3"]);
		await say(test, "/fold 1 2 S");
		expect(await values("")).toEqual(["1", "3"]);
		expect((await test.session.completeArguments("fold", "1"))[0]).toMatchObject({ label: "1  (folded) S" });
		expect(await test.session.completeArguments("unfold", "")).toEqual([{ value: "1", label: "1  S" }]);
	});
});

describe("folds over folds", () => {
	test("the outer fold summarizes the inner summary, and undoing it restores the inner fold", async () => {
		const test = await talk(4);
		test.provider.reply("inner", "outer");
		await say(test, "/fold 2 2", "/fold 1 3");
		const [request] = test.sent(6);
		expect(request).toContain("[User]\n[Summary]\n\ninner");
		expect(request).not.toContain("u2");
		const rest = ["user: u4", "assistant: a4"];
		expect(await sentNow(test)).toEqual(["user: [Summary]\n\nouter", ...rest]);
		await say(test, "/unfold");
		expect((await sentNow(test)).slice(0, 7)).toEqual([
			"user: u1",
			"assistant: a1",
			"user: [Summary]\n\ninner",
			"user: u3",
			"assistant: a3",
			...rest,
		]);
		await say(test, "/unfold 2");
		expect((await sentNow(test)).slice(0, 4)).toEqual(["user: u1", "assistant: a1", "user: u2", "assistant: a2"]);
	});

	test("a fold that starts inside another one includes it completely", async () => {
		const test = await talk(4);
		await say(test, "/fold 1 2 inner", "/fold 2 3 outer");
		expect(test.session.entries.at(-1)).toMatchObject({ from: 1, to: 7 });
		expect(await sentNow(test)).toEqual(["user: [Summary]\n\nouter", "user: u4", "assistant: a4"]);
	});

	test("several folds can coexist, and /unfold offers all of them", async () => {
		const { offered, ui } = picking("3");
		const test = await talk(4, { ui });
		await say(test, "/fold 1 2 first", "/fold 3 3 second", "/unfold");
		expect(offered).toEqual([["1  first", "3  second"]]);
		expect(await sentNow(test)).toEqual([
			"user: [Summary]\n\nfirst",
			"user: u3",
			"assistant: a3",
			"user: u4",
			"assistant: a4",
		]);
	});

	test("without a screen /unfold asks for one of several folds", async () => {
		const test = await talk(3);
		await say(test, "/fold 1 1 A", "/fold 3 3 B");
		expect(await test.session.prompt("/unfold")).toMatchObject({
			status: "Specify a fold: /unfold <turn> · folds: 1, 3",
		});
		expect(await test.session.prompt("/unfold 2")).toMatchObject({
			status: "No fold starts at turn 2 · folds: 1, 3",
		});
	});

	test("after any folds and unfolds, every turn is in the context exactly once, directly or in one summary", async () => {
		const test = await talk(6);
		const turn = fc.integer({ min: 0, max: 5 });
		const step = fc.oneof(fc.tuple(fc.constant("fold"), turn, turn), fc.tuple(fc.constant("unfold"), turn, turn));
		for (const [command, a, b] of fc.sample(step, { numRuns: 25, seed: 7 })) {
			await say(test, command === "fold" ? `/fold ${a + 1} ${b + 1} S` : `/unfold ${a + 1}`);
			const { messages, problems } = test.session.context;
			const indices = messages.flatMap(({ entryIndex }) => (entryIndex === null ? [] : [entryIndex]));
			expect(indices).toEqual([...new Set(indices)].sort((x, y) => x - y));
			expect(messages.length).toBeGreaterThan(0);
			expect(problems).toEqual([]);
		}
		for (let n = 0; n < 25; n++) await say(test, `/unfold ${(n % 6) + 1}`);
		for (let n = 0; n < 25; n++) {
			const [first] = await test.session.completeArguments("unfold", "");
			if (first) await say(test, `/unfold ${first.value}`);
		}
		expect((await sentNow(test)).slice(0, 12)).toEqual(
			[1, 2, 3, 4, 5, 6].flatMap((n) => [`user: u${n}`, `assistant: a${n}`]),
		);
	});
});

describe("with compactions and other hooks", () => {
	const SETTINGS = { compaction: { enabled: false, keepRecentTokens: 8 } };

	test("a compaction includes the summary of a fold, which then cannot be undone", async () => {
		const test = await talk(3, { userSettings: SETTINGS });
		await say(test, "/fold 1 2 folded");
		test.provider.reply("C");
		await test.session.compact();
		expect(test.sent(4)[0]).toContain("[Summary]\n\nfolded");
		expect(test.sent(4)[0]).not.toContain("u1");
		expect(await sentNow(test)).toEqual([
			expect.stringContaining("<summary>\nC\n</summary>"),
			"user: u3",
			"assistant: a3",
		]);
		expect(await test.session.prompt("/unfold")).toMatchObject({ status: "There is no fold to undo" });
		expect(await test.session.prompt("/fold 1 2 again")).toMatchObject({
			status: expect.stringContaining("Turn 1 does not exist or cannot be folded · turns: 3"),
		});
	});

	test("a fold after a compaction does not move the compaction's summary", async () => {
		const test = await talk(2, { userSettings: SETTINGS });
		test.provider.reply("C", "a3");
		await test.session.compact();
		await say(test, "u3", "/fold 2 3 S");
		expect(await sentNow(test)).toEqual([expect.stringContaining("<summary>\nC\n</summary>"), "user: [Summary]\n\nS"]);
		expect(test.session.context.messages[0]?.origin).toMatchObject({ kind: "compaction" });
	});

	test("is copied to a branch", async () => {
		const test = await talk(3);
		await say(test, "/fold 1 2 S");
		test.provider.reply("a4");
		await say(test, "u4");
		await test.session.branch(8);
		expect(await sentNow(test)).toEqual(["user: [Summary]\n\nS", "user: u3", "assistant: a3"]);
	});

	const fold = readFileSync(HOOK, "utf8");
	const stacking = readFileSync(example("stacking.ts"), "utf8");
	test.each([
		["first", { "a.ts": fold, "b.ts": stacking }],
		["second", { "a.ts": stacking, "b.ts": fold }],
	])("loaded %s, together with stacking.ts, both hooks work", async (_, hooks) => {
		const test = await talk(4, { hookFiles: [], hooks });
		await say(test, "/fold 1 2 folded");
		test.provider.reply("popped");
		await say(test, "/pop 4");
		const both = ["user: [Summary]\n\nfolded", "user: u3", "assistant: a3", "user: [Summary]\n\npopped"];
		expect(await sentNow(test)).toEqual(both);

		// A pop that covers the fold hides its summary; undoing the pop shows it again.
		test.provider.reply("all");
		await say(test, "/pop 1");
		expect(await sentNow(test)).toEqual(["user: [Summary]\n\nall"]);
		await say(test, "/unpop");
		expect((await sentNow(test)).slice(0, 4)).toEqual(both);
		expect(test.session.context.problems).toEqual([]);
	});

	test("keeps changes of previous hooks to turns outside the fold", async () => {
		const shout = `export default (pi) => pi.on("context", ({ messages }) => ({
			messages: [
				...messages.map((item) =>
					item.message.role === "user" ? { ...item, message: { ...item.message, content: "LOUD" } } : item),
				{ role: "user", content: "a reminder", timestamp: 0 },
			],
		}));`;
		const test = await talk(2, { hookFiles: [], hooks: { "a.ts": shout, "fold.ts": fold } });
		await say(test, "/fold 1 1 S");
		test.provider.reply("ok");
		await say(test, "now");
		expect(test.sent(3)).toEqual([
			"user: [Summary]\n\nS",
			"user: LOUD",
			"assistant: a2",
			"user: LOUD",
			"user: a reminder",
		]);
	});
});
