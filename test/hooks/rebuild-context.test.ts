import { describe, expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { text, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { hook, share } from "./support.js";

/** Adds the number of marks in the log as the first message, so that the context differs with each saved one. */
const COUNT_MARKS = `
	pi.entry("mark");
	pi.on("context", ({ entries, messages }) => {
		globalThis.__computed();
		const count = entries.filter(({ type }) => type === "mark").length;
		return count === 0 ? undefined : { messages: [{ role: "user", content: count + " marked", timestamp: 0 }, ...messages] };
	});
	const first = (ctx) => { const { role, content } = ctx.messages[0] ?? {}; return role === "user" ? content : role; };
	const mark = async (ctx) => { await ctx.saveEntry({ type: "mark" }); await ctx.rebuildContext(); return first(ctx); };
	const list = { type: "object", properties: {} };`;

interface Marked extends TestSession {
	/** What the handlers passed to `globalThis.__seen`. */
	seen: unknown[];
	/** How often the context was computed. */
	computed(): number;
}

/** A session with a hook that counts marks; `body` uses `mark` and `first`. */
async function start(body: string, options: TestSessionOptions = {}): Promise<Marked> {
	const seen: unknown[] = [];
	let computed = 0;
	share("__seen", (fact: unknown) => void seen.push(fact));
	share("__computed", () => void computed++);
	const started = await startSession({ ...options, hooks: { "marks.ts": hook(COUNT_MARKS + body), ...options.hooks } });
	return { ...started, seen, computed: () => computed };
}

async function verify({ agentDir, cwd, session }: TestSession) {
	const place = { agentDir, cwd, session: session.sessionFile ?? "" };
	return (await run({ name: "context", verify: true }, place)).stdout.trim();
}

const SAVED = { session: { kind: "new" } } as const;

describe("ctx.rebuildContext", () => {
	test("computes the context now in a tool, whose call has no result yet", async () => {
		const started = await start(
			`pi.tool({ name: "note", description: "d", parameters: list, async run(_, { ctx }) {
				globalThis.__seen([await mark(ctx), ctx.messages.at(-1).role]);
				return { content: [{ type: "text", text: "noted" }] };
			} });`,
			SAVED,
		);
		const { session, provider, sent, notices, seen } = started;
		provider.reply([toolCall("note", {})], "done");
		await session.prompt("go");
		expect(seen).toEqual([["1 marked", "assistant"]]);
		expect(sent(2).slice(0, 2)).toEqual(["user: 1 marked", "user: go"]);
		expect(sent(2).at(-1)).toBe("tool: noted");
		expect(notices()).toEqual([]);
		expect(await verify(started)).toBe("All 2 requests match the recorded ones");
	});

	test("computes the context now in tools that run at the same time, each with its own entries", async () => {
		const started = await start(
			`pi.tool({ name: "note", description: "d", parameters: list, async run(_, { ctx }) {
				const before = ctx.entries.filter(({ type }) => type === "mark").length;
				globalThis.__seen(Number.parseInt(await mark(ctx)) > before);
				return { content: [{ type: "text", text: "noted" }] };
			} });`,
			SAVED,
		);
		const { session, provider, sent, notices, seen } = started;
		provider.reply([toolCall("note", {}), toolCall("note", {}), toolCall("note", {})], "done");
		await session.prompt("go");
		expect(seen).toEqual([true, true, true]);
		expect(sent(2)[0]).toBe("user: 3 marked");
		expect(notices()).toEqual([]);
		expect(await verify(started)).toBe("All 2 requests match the recorded ones");
	});

	test("in before_request computes the context now, and the request that is sent is the new one", async () => {
		const started = await start(
			`pi.on("before_request", async (event, ctx) => { globalThis.__seen([event.messageCount, await mark(ctx)]); });`,
			SAVED,
		);
		const { session, provider, sent, seen } = started;
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		expect(seen).toEqual([
			[1, "1 marked"],
			[4, "2 marked"],
		]);
		expect([sent(1), sent(2)[0]]).toEqual([["user: 1 marked", "user: go"], "user: 2 marked"]);
		expect(await verify(started)).toBe("All 2 requests match the recorded ones");
	});

	test("an entry that before_request saves without it counts from the next request on", async () => {
		const started = await start(
			`pi.on("before_request", async (_, ctx) => { await ctx.saveEntry({ type: "mark" }); });`,
			SAVED,
		);
		const { session, provider, sent } = started;
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		expect([sent(1), sent(2)[0]]).toEqual([["user: go"], "user: 1 marked"]);
		expect(await verify(started)).toBe("All 2 requests match the recorded ones");
	});

	test("a request that a handler of before_request makes too large for the model is not sent", async () => {
		const { session, provider, notices } = await start(
			`pi.on("context", ({ entries, messages }) => entries.some(({ type }) => type === "mark")
				? { messages: [{ role: "user", content: "word ".repeat(20000), timestamp: 0 }, ...messages] } : undefined);
			pi.on("before_request", async (_, ctx) => { await mark(ctx); });`,
			{ modelOptions: { contextWindow: 8000 }, userSettings: { compaction: { enabled: false } } },
		);
		provider.reply("never");
		await session.prompt("go");
		expect(provider.requests).toEqual([]);
		expect(notices().at(-1)).toMatch(/window|tokens/);
	});

	test.each(["payload", "response"])("in %s computes the context now; the request stays as it was", async (event) => {
		const started = await start(`pi.on("${event}", async (_, ctx) => { globalThis.__seen(await mark(ctx)); });`, SAVED);
		const { session, provider, sent, seen } = started;
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		expect(seen).toEqual(["1 marked", "2 marked"]);
		expect([sent(1), sent(2)[0]]).toEqual([["user: go"], "user: 1 marked"]);
		expect(await verify(started)).toBe("All 2 requests match the recorded ones");
	});

	test.each(["tool_call", "tool_result"])("in %s waits for the next request and returns at once", async (event) => {
		const started = await start(`pi.on("${event}", async (_, ctx) => { globalThis.__seen(await mark(ctx)); });`, SAVED);
		const { session, provider, sent, seen, computed } = started;
		const before = computed();
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		expect(seen).toEqual(["go"]);
		expect(computed() - before).toBe(2);
		expect(sent(2)[0]).toBe("user: 1 marked");
		expect(await verify(started)).toBe("All 2 requests match the recorded ones");
	});

	test.each([
		["the same", "await ctx.rebuildContext();", (tokens: number) => expect(tokens).toBe(1000)],
		["another", "await mark(ctx);", (tokens: number) => expect(tokens).not.toBe(1000)],
	])(
		"a provider's count belongs to what it counted, also if a hook computes %s context then",
		async (_, body, check) => {
			const { session, provider } = await start(`pi.on("response", async (_, ctx) => { ${body} });`);
			provider.reply({ content: [text("an answer")], usage: { input: 900, output: 100 } });
			await session.prompt("go");
			check(session.contextUsage().tokens);
		},
	);
});
