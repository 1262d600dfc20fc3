import { describe, expect, test } from "vitest";
import { isCompactionEntry, isMessageEntry } from "../../../src/log/entry.js";
import { run } from "../../cli/subcommands/run.js";
import { untilActivity } from "../../helpers/activity.js";
import { LOOPBACK_PROVIDERS, type LoopbackApi, text, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { hook, share } from "../../hooks/support.js";
import { createGate } from "../../operations/states.js";

const KEEP_LITTLE = { compaction: { enabled: false, keepRecentTokens: 1 }, hookTimeout: 500 };

/** A session with two finished turns. The hook's compactions need no model. */
async function start(body: string, options: TestSessionOptions = {}) {
	const seen: unknown[] = [];
	share("__seen", (fact: unknown) => void seen.push(fact));
	const gate = createGate();
	share("__gate", gate);
	const armed = { is: false };
	share("__armed", armed);
	const started = await startSession({
		userSettings: KEEP_LITTLE,
		files: { "a.txt": "one\n" },
		...options,
		hooks: {
			"compact.ts": hook(`
				const told = (result) => result.then(
					({ tokensBefore, tokensAfter }) => globalThis.__seen(tokensAfter < tokensBefore ? "smaller" : "larger"),
					({ code, message, hint }) => globalThis.__seen([code, message, hint].filter(Boolean).join(" · ")),
				);
				let calls = 0;
				const armed = () => globalThis.__armed.is;
				${body}`),
			...options.hooks,
		},
	});
	const { session, provider } = started;
	provider.reply("a long answer ".repeat(200));
	await session.prompt("explain a lot ".repeat(200));
	provider.reply("yes");
	await session.prompt("is that all?");
	armed.is = true;
	return { ...started, seen, gate, compactions: () => session.entries.filter(isCompactionEntry).length };
}

/** Answers the request for a summary, which may come at any point. */
const SUMMARY = "They talked.";

describe("ctx.compact during a run", () => {
	const calls = [toolCall("ls", {})];
	test.each([
		["turn_start", [calls, SUMMARY, "done"]],
		["before_request", [calls, SUMMARY, "done"]],
		["turn_end", [calls, SUMMARY, "done"]],
		["agent_end", [calls, "done", SUMMARY]],
		["agent_start", [SUMMARY, calls, "done"]],
		["agent_settled", [calls, "done", SUMMARY]],
	] as const)("in %s compacts now, and the next request has the summary", async (event, replies) => {
		const { session, provider, sent, seen, notices, compactions } = await start(
			`pi.on("${event}", async ({ turnIndex }, ctx) => {
				if (!armed() || turnIndex === (${event === "turn_end"} ? 1 : 0) || calls++ > 0) return;
				await told(ctx.compact());
				globalThis.__seen(ctx.entries.some(({ type }) => type === "compaction"));
			});`,
		);
		provider.reply(...replies);
		await session.prompt("go");
		provider.reply("last");
		await session.prompt("more");
		expect(notices()).toEqual([]);
		expect(seen).toEqual(["smaller", true]);
		expect(compactions()).toBe(1);
		const next = (replies as readonly unknown[]).indexOf(SUMMARY) + 4;
		expect(sent(next - 2).join()).not.toContain(SUMMARY);
		expect(sent(next)[0]).toContain(SUMMARY);
	});

	test.each(["before_request", "turn_start", "turn_end"])(
		"every request can be computed again after a compaction in %s, with calls of hooks in between",
		async (event) => {
			const { session, provider, agentDir, cwd, notices } = await start(
				`pi.on("${event}", async (_, ctx) => {
					if (!armed() || calls++ !== 1) return;
					await ctx.tools.call("ls");
					await told(ctx.compact());
				});`,
				{ session: { kind: "new" } },
			);
			provider.reply([toolCall("ls", {})], ...(event === "turn_end" ? [[toolCall("ls", {})]] : []), SUMMARY, "done");
			await session.prompt("go");
			expect(notices()).toEqual([]);
			const place = { agentDir, cwd, session: session.sessionFile ?? "" };
			const { stdout } = await run({ name: "context", verify: true }, place);
			expect(stdout.trim()).toMatch(/^All \d requests match the recorded ones$/);
		},
	);

	test("a command waits for the end of the turn, and compact before the next request", async () => {
		const { session, provider, sent, seen, gate, compactions } = await start(`
			pi.command("squeeze", { async handler(ctx) { globalThis.__seen("asked"); await told(ctx.compact()); } });
			pi.tool({ name: "wait", description: "d", parameters: { type: "object", properties: {} }, async run() {
				await globalThis.__gate.opened;
				globalThis.__seen("tool ends");
				return { content: [{ type: "text", text: "waited" }] };
			} });`);
		provider.reply([toolCall("wait", {})], SUMMARY, "done");
		const running = session.prompt("go");
		await untilActivity(session, ({ phase }) => phase === "tools");
		const command = session.prompt("/squeeze");
		await untilActivity(session, ({ operations }) => operations.some(({ kind }) => kind === "command"));
		gate.open();
		await Promise.all([running, command]);
		expect(seen).toEqual(["asked", "tool ends", "smaller"]);
		expect(compactions()).toBe(1);
		expect(sent(5).join("\n")).toContain(SUMMARY);
		expect(sent(5).at(-1)).toBe("tool: waited");
	});

	test.each(["thinking_level_changed", "session_named"])(
		"in %s it waits too, although the turn ends after it",
		async (event) => {
			const { session, provider, seen, notices, sent } = await start(`
			pi.on("${event}", async (_, ctx) => { if (!ctx.isIdle) await told(ctx.compact()); });
			pi.tool({ name: "change", description: "d", parameters: { type: "object", properties: {} }, async run(_, { ctx }) {
				ctx.setSessionName("new");
				ctx.setThinkingLevel("low");
				return { content: [{ type: "text", text: "changed" }] };
			} });`);
			provider.reply([toolCall("change", {})], SUMMARY, "done");
			await session.prompt("go");
			expect(notices().filter((line) => /hook|timed out/.test(line))).toEqual([]);
			expect(seen).toEqual(["smaller"]);
			expect(sent(5).join("\n")).toContain(SUMMARY);
		},
	);

	test.each([
		["tool_call", `pi.on("tool_call", async (_, ctx) => { await told(ctx.compact()); });`],
		["tool_result", `pi.on("tool_result", async (_, ctx) => { await told(ctx.compact()); });`],
		[
			"message_update",
			`pi.on("message_update", async (_, ctx) => { if (armed() && !calls++) await told(ctx.compact()); });`,
		],
		["payload", `pi.on("payload", async (_, ctx) => { if (armed() && !calls++) await told(ctx.compact()); });`],
		[
			"tool ls",
			`pi.tool({ name: "ls", description: "d", parameters: { type: "object", properties: {} }, async run(_, { ctx }) {
				await told(ctx.compact());
				return { content: [{ type: "text", text: "listed" }] };
			} });`,
		],
	])("in %s it is refused, because a call or request is open", async (event, body) => {
		const { session, provider, seen, compactions } = await start(body);
		provider.reply([text("I look."), toolCall("ls", {})], "done");
		await session.prompt("go");
		expect(seen[0]).toMatch(
			new RegExp(`^context_locked · ctx.compact cannot be called from ${event} during a run · .*turn_end`),
		);
		expect(compactions()).toBe(0);
	});

	test("a second one is refused, while the first waits, runs, or tells its hooks", async () => {
		const { session, provider, seen, gate, compactions } = await start(`
			pi.command("squeeze", { async handler(ctx) { await told(ctx.compact()); } });
			pi.on("session", async ({ reason }, ctx) => { if (/compact/.test(reason)) await told(ctx.compact()); });
			pi.tool({ name: "wait", description: "d", parameters: { type: "object", properties: {} }, async run() {
				await globalThis.__gate.opened;
				return { content: [{ type: "text", text: "waited" }] };
			} });`);
		provider.reply([toolCall("wait", {})], SUMMARY, "done");
		const running = session.prompt("go");
		await untilActivity(session, ({ phase }) => phase === "tools");
		const commands = [session.prompt("/squeeze"), session.prompt("/squeeze")];
		await commands[1];
		expect(seen).toEqual(["session_busy · A compaction already waits for the end of the turn"]);
		gate.open();
		await Promise.all([running, ...commands]);
		const busy = "session_busy · A compaction is already running · wait, or stop it first";
		expect(seen.slice(1)).toEqual([busy, busy, "smaller"]);
		expect(compactions()).toBe(1);
	});

	test("an abort of the run ends one that waits, and one that runs; nothing is compacted after it", async () => {
		const { session, provider, seen, compactions } = await start(`
			pi.on("turn_end", async (_, ctx) => { if (armed()) await told(ctx.compact()); });
			pi.command("squeeze", { async handler(ctx) { await told(ctx.compact()); } });`);
		provider.reply({ delayMs: 60_000 } as never);
		const running = session.prompt("go");
		await untilActivity(session, ({ phase }) => phase === "requesting" || phase === "streaming");
		const command = session.prompt("/squeeze");
		await untilActivity(session, ({ operations }) => operations.some(({ kind }) => kind === "command"));
		await session.abort();
		await Promise.all([running, command]);
		expect(new Set(seen)).toEqual(new Set(["compaction_failed · The compaction was canceled"]));
		expect(compactions()).toBe(0);
	});

	test("a spent budget is asked first, and a no refuses", async () => {
		const asked: string[] = [];
		const { session, seen, compactions } = await start(
			'pi.on("agent_start", async (_, ctx) => { if (armed()) await told(ctx.compact()); });',
			{
				userSettings: { ...KEEP_LITTLE, budget: { perSession: 0.1 } },
				modelOptions: { cost: { input: 30_000, output: 0, cacheRead: 0, cacheWrite: 0 } },
				ui: { confirm: async (title: string) => asked.push(title) < 0 },
			},
		);
		asked.length = 0;
		await session.prompt("go");
		// For the compaction, and for the request.
		expect(asked).toEqual(["Continue over budget?", "Continue over budget?"]);
		expect(seen).toEqual([expect.stringMatching(/^compaction_failed · This session has cost .* the budget is/)]);
		expect(compactions()).toBe(0);
	});

	test.each<LoopbackApi>(["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"])(
		"the request after a compaction within a turn is one that %s accepts",
		async (api) => {
			const { session, provider, seen, notices } = await start(
				`pi.on("turn_end", async ({ toolResults }, ctx) => { if (toolResults.length > 0) await told(ctx.compact()); });`,
				{ modelOptions: { apis: [api] }, model: `${LOOPBACK_PROVIDERS[api]}/scripted` },
			);
			const read = () => [text("Look."), toolCall("read", { path: "a.txt" }), toolCall("ls", {})];
			provider.reply(read(), SUMMARY, read(), SUMMARY, [toolCall("ls", {})], SUMMARY, "done");
			const { kind } = await session.prompt("go");
			expect(kind).toBe("run");
			expect(notices()).toEqual([]);
			expect(seen).toHaveLength(3);
			expect(session.entries.findLast(isMessageEntry)?.message).toMatchObject({
				role: "assistant",
				stopReason: "stop",
			});
		},
	);
});
