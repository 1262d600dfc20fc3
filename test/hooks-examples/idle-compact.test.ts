import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { pays } from "../../hooks-examples/idle-compact.js";
import { run } from "../cli/subcommands/run.js";
import { httpError, type ReplyStep, text, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("idle-compact.ts");
/** USD per million tokens, as for Claude Sonnet. */
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

/** A session whose first run ends with a request of `tokens` tokens. */
async function start({ tokens = 150_000, ...options }: TestSessionOptions & { tokens?: number } = {}) {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
	onTestFinished(() => void vi.useRealTimers());
	const test = await startSession({
		hookFiles: [HOOK],
		model: "loopback-anthropic/scripted",
		modelOptions: { cost: COST, contextWindow: 10_000_000, reasoning: true },
		userSettings: { compaction: { keepRecentTokens: 1 } },
		files: { "a.txt": "alpha" },
		...options,
	});
	const usage = { input: tokens, output: 1 };
	const say = async (prompt: string, ...replies: ReplyStep["content"][]) => {
		test.provider.reply(...replies.map((content) => ({ content, usage })));
		await test.session.prompt(prompt);
	};
	/** Lets almost the complete lifetime of the cache pass, and what happens then. */
	const idle = () => vi.advanceTimersByTimeAsync(280_000);
	return { ...test, say, idle };
}

function types({ session }: Pick<TestSession, "session">): string[] {
	return session.entries.map(({ type }) => type).filter((type) => !["message", "session"].includes(type));
}

/** A request without its marks of what to cache: a message without a mark may be written as plain text. */
function unmarked(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value), (key, field) => {
		if (key === "content" && typeof field === "string") return [{ type: "text", text: field }];
		return key === "cache_control" ? undefined : field;
	});
}

test("compacts a long context before it expires, with a request that begins like the last one", async () => {
	const test = await start({ session: { kind: "new" } });
	const { session, provider, say, idle, sent, agentDir, cwd } = test;
	await say("look", [toolCall("read", { path: "a.txt" })], [text("seen")]);
	await say("and again", [text("again")]);
	provider.reply({ content: [text("WARM SUMMARY")], usage: { input: 1, output: 1 } });
	await idle();
	await vi.waitFor(() => expect(types(test)).toContain("compaction"));
	await vi.waitFor(() => expect(session.activity.state).toBe("idle"));
	expect(types(test)).toEqual(["idle_compact", "request_usage", "compaction"]);
	const [before, after] = provider.requests.slice(2).map(({ body }) => unmarked(body) as Record<string, unknown>);
	const { messages: earlier, ...parameters } = before ?? {};
	const { messages: later, ...same } = after ?? {};
	expect(same).toEqual(parameters);
	expect((later as unknown[]).slice(0, (earlier as unknown[]).length)).toEqual(earlier);
	expect(JSON.stringify((later as unknown[]).at(-1))).toContain("about to be compacted");

	await say("go on", [text("on it")]);
	expect(sent(5).join("\n")).toMatch(/WARM SUMMARY[\s\S]*user: go on/);
	expect(sent(5).join("\n")).not.toContain("alpha");
	const file = session.sessionFile ?? "";
	await session.dispose();
	const verified = await run({ name: "context", verify: true }, { agentDir, cwd, session: file, hooks: [HOOK] });
	expect(verified.stdout).toBe("All 4 requests match the recorded ones\n");
});

test.each([
	["a short context", { tokens: 110_000 }],
	["a model without prices", { modelOptions: { contextWindow: 200_000 } }],
])("does nothing for %s", async (_, options) => {
	const test = await start(options);
	await test.say("look", [text("seen")]);
	await test.idle();
	expect(types(test)).toEqual([]);
	expect(test.provider.requests).toHaveLength(1);
});

test("does nothing after a prompt came in time, and counts the time from its request", async () => {
	const test = await start();
	await test.say("look", [text("seen")]);
	await vi.advanceTimersByTimeAsync(200_000);
	await test.say("more", [text("seen")]);
	await vi.advanceTimersByTimeAsync(200_000);
	expect(types(test)).toEqual([]);
	expect(test.provider.requests).toHaveLength(2);
});

test("a failed request changes nothing but counts, at most five times in a session", async () => {
	const test = await start();
	await test.say("begin", [text("seen")]);
	for (let turn = 0; turn < 7; turn++) {
		await test.say("look", [text("seen")]);
		if (turn < 5) test.provider.reply(httpError(400, {}, "no"));
		await test.idle();
		const failed = () => test.events.filter((event) => event.type === "auto_compaction_end" && event.errorMessage);
		await vi.waitFor(() => expect(failed()).toHaveLength(Math.min(turn + 1, 5)));
		await vi.waitFor(() => expect(test.session.activity.state).toBe("idle"));
	}
	expect(types(test)).toEqual(Array(5).fill("idle_compact"));
	expect(test.provider.requests).toHaveLength(13);
});

test("leaves other compactions to pi", async () => {
	const test = await start();
	await test.say("look", [text("seen")]);
	test.provider.reply("PLAIN");
	await test.session.prompt("/compact anyway");
	expect(JSON.stringify(test.provider.requests.at(-1)?.body)).not.toContain("about to be compacted");
});

test("pays only if half of what is saved at the next prompt is more than what is spent now", () => {
	const price = fc.double({ min: 0, max: 100, noNaN: true });
	const costs = fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price });
	fc.assert(
		fc.property(
			fc.integer({ min: 0, max: 1_000_000 }),
			fc.constantFrom(0, 128_000, 200_000),
			costs,
			(tokens, contextWindow, cost) => {
				const saved = (tokens - 22_000) * (cost.cacheWrite === 0 ? cost.input : cost.cacheWrite);
				const spent = tokens * cost.cacheRead + 3000 * cost.output;
				const isLong = tokens >= 120_000 || tokens >= 0.6 * contextWindow;
				expect(pays(tokens, { cost, contextWindow })).toBe(isLong && saved / 2 > spent);
			},
		),
	);
	expect(pays(120_000, { cost: COST, contextWindow: 200_000 })).toBe(true);
	expect(pays(119_999, { cost: COST, contextWindow: 200_000 })).toBe(false);
	expect(pays(80_000, { cost: COST, contextWindow: 128_000 })).toBe(true);
	expect(pays(120_000, { cost: { ...COST, cacheRead: 3 }, contextWindow: 200_000 })).toBe(false);
});
