import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCompactionEntry, isUserMessageEntry } from "../../src/hooks/index.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("pin.ts");
const SETTINGS = { compaction: { enabled: false, keepRecentTokens: 8 } };

async function say({ session }: TestSession, ...prompts: string[]): Promise<void> {
	for (const prompt of prompts) await session.prompt(prompt);
}

async function talk(count: number, options: Parameters<typeof startSession>[0] = {}): Promise<TestSession> {
	const test = await startSession({ hookFiles: [HOOK], userSettings: SETTINGS, ...options });
	for (let n = 1; n <= count; n++) {
		test.provider.reply(`a${n}`);
		await say(test, `u${n}`);
	}
	return test;
}

/** Compacts the session; the summary is `summary`. */
async function compact(test: TestSession, summary: string): Promise<void> {
	test.provider.reply(summary);
	await test.session.compact();
}

/** The messages of the next request. */
async function sentNow(test: TestSession): Promise<string[]> {
	test.provider.reply("ok");
	await say(test, "now");
	return test.sent(test.provider.requests.length).slice(0, -1);
}

const summary = (text: string) => expect.stringContaining(`<summary>\n${text}\n</summary>`);

describe("a pinned turn", () => {
	test("follows the summary of the compaction that covers it, until it is unpinned", async () => {
		const test = await talk(4);
		expect(await test.session.prompt("/pin 2")).toMatchObject({
			status: expect.stringMatching(/^Turn 2 is pinned: compactions keep its \d+ tokens$/),
		});
		await compact(test, "C");
		expect(await sentNow(test)).toEqual([summary("C"), "user: u2", "assistant: a2", "user: u4", "assistant: a4"]);
		expect(await test.session.prompt("/unpin 2")).toMatchObject({ status: "Turn 2 is no longer pinned" });
		expect((await sentNow(test)).slice(0, 3)).toEqual([summary("C"), "user: u4", "assistant: a4"]);
		expect(test.session.context.problems).toEqual([]);
	});

	test("keeps its position through further compactions", async () => {
		const test = await talk(4);
		await say(test, "/pin 2", "/pin 1");
		await compact(test, "C1");
		await sentNow(test);
		await compact(test, "C2");
		expect(await sentNow(test)).toEqual([
			summary("C2"),
			"user: u1",
			"assistant: a1",
			"user: u2",
			"assistant: a2",
			"user: now",
			"assistant: ok",
		]);
	});

	test("appears once at its original position if the compaction is undone", async () => {
		const test = await talk(3);
		await say(test, "/pin 1");
		await compact(test, "C");
		await say(test, "/uncompact");
		expect(await sentNow(test)).toEqual([
			"user: u1",
			"assistant: a1",
			"user: u2",
			"assistant: a2",
			"user: u3",
			"assistant: a3",
		]);
	});

	test("can be pinned after the compaction too", async () => {
		const test = await talk(3);
		await compact(test, "C");
		await say(test, "/pin 1");
		expect((await sentNow(test)).slice(0, 3)).toEqual([summary("C"), "user: u1", "assistant: a1"]);
	});

	test("includes its tool calls and results", async () => {
		const test = await startSession({ hookFiles: [HOOK], userSettings: SETTINGS, files: { "a.txt": "hello" } });
		const reads = [toolCall("read", { path: "a.txt" }), toolCall("ls", {})];
		test.provider.reply(reads, "a1", "a2", "a3");
		await say(test, "u1", "u2", "u3", "/pin 1");
		await compact(test, "C");
		const sent = await sentNow(test);
		expect(sent.map((message) => message.split(" ")[0])).toEqual([
			"user:",
			"user:",
			"assistant:",
			expect.stringMatching(/^tool/),
			expect.stringMatching(/^tool/),
			"assistant:",
			"user:",
			"assistant:",
		]);
		expect(test.session.context.problems).toEqual([]);
	});

	test("that a compaction has split is complete again, without duplicates", async () => {
		const cut = `export default (pi) => pi.on("session", (event) =>
			event.reason === "before_compact"
				? { compactionEntry: { type: "compaction", summary: "C", firstKeptEntryIndex: 4, tokensBefore: 1 } }
				: undefined);`;
		const test = await startSession({
			hooks: { "cut.ts": cut, "pin.ts": readFileSync(HOOK, "utf8") },
			userSettings: SETTINGS,
			files: { "a.txt": "hello" },
		});
		test.provider.reply([toolCall("read", { path: "a.txt" })], "a1", "a2");
		await say(test, "u1", "u2", "/pin 1");
		await test.session.compact();
		const sent = await sentNow(test);
		expect(sent[0]).toEqual(summary("C"));
		expect(sent[1]).toBe("user: u1");
		expect(sent.slice(4)).toEqual(["assistant: a1", "user: u2", "assistant: a2"]);
		expect(test.session.context.problems).toEqual([]);
	});

	test("does not restore later turns that were summarized", async () => {
		const test = await talk(3, { userSettings: { compaction: { enabled: false, keepRecentTokens: 1000 } } });
		await compact(test, "C");
		await say(test, "/pin 1");
		const first = test.session.entries.findLast(isCompactionEntry)?.firstKeptEntryIndex ?? 0;
		// The later messages are fewer than a compaction keeps; its cut still must not split the pinned turns.
		test.provider.reply("C2");
		await test.session.compact();
		expect(test.session.entries.findLast(isCompactionEntry)?.firstKeptEntryIndex).toBeGreaterThanOrEqual(first);
	});
});

test.each([1, 2, 3])(
	"with fold.ts and stacking.ts every request is valid after any commands (seed %i)",
	async (seed) => {
		const source = (name: string) => readFileSync(example(name), "utf8");
		const hooks = { "fold.ts": source("fold.ts"), "pin.ts": source("pin.ts"), "stacking.ts": source("stacking.ts") };
		const test = await startSession({ hooks, userSettings: SETTINGS, files: { "a.txt": "hello" } });
		const { session, provider } = test;
		let prompted = false;
		// The first reply to a prompt is a tool call; summaries and replies to tool results are text.
		provider.on(() => {
			const reply = prompted ? [toolCall("read", { path: "a.txt" })] : "text";
			prompted = false;
			return reply;
		});
		const names = ["prompt", "prompt", "compact", "pin", "unpin", "fold", "unfold", "pop", "unpop"];
		const step = fc.tuple(fc.constantFrom(...names), fc.nat(), fc.nat());
		for (const [name, a, b] of fc.sample(step, { numRuns: 40, seed })) {
			const turns = Math.max(1, session.entries.filter(isUserMessageEntry).length);
			const [from, to] = [1 + (a % turns), 1 + (b % turns)];
			if (name === "compact")
				await session.compact().catch(() => {}); // there may be nothing to compact
			else if (name === "prompt") {
				prompted = true;
				await say(test, "go on");
			} else await say(test, name === "fold" ? `/fold ${from} ${to} S` : `/${name} ${name === "unpop" ? "" : from}`);
			expect(session.context.problems).toEqual([]);
		}
		expect(provider.violations).toEqual([]);
	},
);

describe("/pin", () => {
	test("offers the turns newest first and pins the chosen one", async () => {
		const offered: string[][] = [];
		const select = async (_: string, options: readonly { label: string; value: string }[]) => {
			offered.push(options.map(({ label }) => label));
			return options[1]?.value ?? null;
		};
		const test = await talk(2, { ui: { select: select as never } });
		await say(test, "/pin");
		expect(offered).toEqual([["2  u2", "1  u1"]]);
		expect(test.session.entries.at(-1)).toMatchObject({ type: "pin", turn: 1 });
		expect(await test.session.completeArguments("pin", "")).toEqual([{ value: "2", label: "2  u2" }]);
		expect(await test.session.completeArguments("unpin", "")).toEqual([{ value: "1", label: "1  u1" }]);
	});

	test.each([
		["/pin", "Specify a turn: /pin <turn> · turns: 1, 2"],
		["/pin 3", "No turn 3 to pin · turns: 1, 2"],
		["/unpin 1", "There is no turn to unpin"],
	])("without a screen, %s says what turns there are", async (command, status) => {
		const test = await talk(2);
		expect(await test.session.prompt(command)).toEqual({ kind: "command", status });
	});
});
