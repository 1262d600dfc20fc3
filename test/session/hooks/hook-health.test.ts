import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../../src/context/tokens.js";
import { PLAIN_THEME } from "../../../src/hooks/plain-theme.js";
import { drawCall, drawResult, readDrawnText } from "../../../src/hooks/tool-drawing.js";
import { HookHealth } from "../../../src/session/hooks/hook-health.js";
import { assistantMessage } from "../../helpers/entries.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { skipTime } from "../../helpers/skip-time.js";
import { tempAgentDir } from "../../helpers/temp.js";

describe("the figures of a hook", () => {
	test("have the p95 of the draws of components once one took longer than a frame", () => {
		const health = new HookHealth();
		for (let draw = 0; draw < 19; draw++) health.recordDraw("/h.ts", 1);
		expect(health.figures("/h.ts").slowDrawMs).toBeNull();
		health.recordDraw("/h.ts", 40);
		health.recordDraw("/h.ts", 30);
		expect(health.figures("/h.ts").slowDrawMs).toBe(30);
	});

	test("are empty before the first call", () => {
		expect(new HookHealth().figures("/h.ts")).toEqual({
			calls: 0,
			events: {},
			p50Ms: null,
			p95Ms: null,
			timeouts: 0,
			blocks: 0,
			lastError: null,
			lastPlace: null,
			lastStack: null,
			isUnstable: false,
			slowDrawMs: null,
		});
	});

	test("count calls by event and compute percentiles of the last durations", () => {
		const health = new HookHealth();
		for (let ms = 1; ms <= 1000; ms++) {
			health.recordCall({ hookPath: "/h.ts", event: ms % 2 ? "context" : "/go", ms, outcome: "done" });
		}
		health.recordCall({ hookPath: "/h.ts", event: "tool_call", ms: 1001, outcome: "blocked" });
		health.recordCall({ hookPath: "/h.ts", event: "turn_end", ms: 1002, outcome: "timed_out" });
		expect(health.figures("/h.ts")).toMatchObject({
			calls: 1002,
			events: { context: 500, "/go": 500, tool_call: 1, turn_end: 1 },
			p50Ms: 752,
			p95Ms: 977,
			blocks: 1,
			timeouts: 1,
		});
	});
});

const HOOKS = {
	"a-gate.ts": `export default (pi) => pi.on("tool_call", () => ({ block: true, reason: "no" }));`,
	"b-sad.ts": `export default (pi) => { pi.on("turn_end", () => { throw new Error("no luck"); }); pi.entry("mark"); };`,
	"c-slow.ts": `export default (pi) => pi.on("turn_start", () => new Promise(() => {}));`,
	"d-first.ts": `export default (pi) => {
		pi.on("context", ({ messages }) => messages.length > 1 ? { messages: messages.slice(0, 1) } : undefined);
		pi.command("go", { handler: () => ({ status: "went" }) });
		pi.entry("mark");
	};`,
	"e-idle.ts": `export default (pi) => pi.on("tool_result", () => {});`,
};

/** Takes so long that the frame is late. */
const SLOW = `const slow = () => { const end = performance.now() + 20; while (performance.now() < end); return "drawn"; };`;

describe("what counts", () => {
	test("time in dialogs does not", async () => {
		const hooks = {
			"asks.ts": `export default (pi) => {
				pi.on("turn_start", async (_, ctx) => void (await ctx.ui.confirm("Go on?", "")));
				pi.command("ask", { handler: async (ctx) => void (await Promise.all([ctx.ui.input("A"), ctx.ui.input("B")])) });
				pi.tool({ name: "asking", description: "d", parameters: { type: "object" },
					run: async (_, { ctx }) => ({ content: [{ type: "text", text: String(await ctx.ui.confirm("Run?", "")) }] }) });
			};`,
		};
		const late = async <T>(value: T) => {
			await new Promise((resolve) => setImmediate(resolve));
			skipTime(60);
			return value;
		};
		const test = await startSession({ hooks, ui: { confirm: () => late(true), input: () => late("") } });
		test.provider.reply([toolCall("asking", {})], "Done.");
		await test.session.prompt("go");
		await test.session.prompt("/ask");
		const { figures } = statusOf(test, "asks");
		expect(figures.events).toEqual({ turn_start: 2, "tool asking": 1, "/ask": 1 });
		expect(figures.p95Ms).toBeLessThan(60_000);
	});

	test("a refused question does, as a block, and so do invalid arguments", async () => {
		const hooks = {
			"asks.ts": `export default (pi) => pi.on("tool_call", ({ input }) => ({ ask: "Sure?" }));`,
			"breaks.ts": `export default (pi) => pi.on("tool_call", () => ({ input: { command: 7 + {} } }));`,
			"wrong.ts": `export default (pi) => pi.on("tool_call", () => ({ input: {} }));`,
		};
		const answers = [false, true];
		const test = await startSession({ hooks, ui: { confirm: async () => answers.shift() ?? false } });
		test.provider.reply([toolCall("bash", { command: "true" })], [toolCall("bash", { command: "true" })], "Done.");
		await test.session.prompt("go");
		const blocks = ["asks", "breaks", "wrong"].map((name) => statusOf(test, name).figures.blocks);
		expect(blocks).toEqual([1, 0, 1]);
		expect(statusOf(test, "asks").figures.calls).toBe(2);
	});

	test("a handler of tool_call that throws does, as a block and as an error", async () => {
		const hooks = { "throws.ts": `export default (pi) => pi.on("tool_call", () => { throw new Error("no luck"); });` };
		const test = await startSession({ hooks });
		test.provider.reply([toolCall("bash", { command: "true" })], "Done.");
		await test.session.prompt("go");
		expect(statusOf(test, "throws").figures).toMatchObject({ blocks: 1, lastError: "tool_call: no luck" });
	});

	test("drawing tool calls, results and entries slowly does", async () => {
		const tool = (name: string, more: string) =>
			`${SLOW} export default (pi) => pi.tool({ name: "${name}", description: "d", parameters: { type: "object" },
				run: async () => ({ content: [{ type: "text", text: "ran" }] }), ${more} });`;
		const hooks = {
			"call.ts": tool("calling", "renderCall: slow"),
			"result.ts": tool("resulting", "renderResult: () => ({ render: () => [slow()] })"),
			"entry.ts": `${SLOW} export default (pi) => pi.entry("mark", { render: slow });`,
			"quick.ts": tool("quick", 'renderCall: () => "quick"'),
		};
		const test = await startSession({ hooks });
		const { session } = test;
		const result = { content: [{ type: "text" as const, text: "ran" }] };
		const options = { isError: false, expanded: true, isPartial: false };
		for (const name of ["calling", "quick"]) {
			const renderer = session.toolRenderer(name);
			if (renderer) drawCall(renderer, {}, PLAIN_THEME, readDrawnText);
		}
		const renderer = session.toolRenderer("resulting");
		if (renderer) drawResult(renderer, result, options, PLAIN_THEME, readDrawnText);
		session.entryRenderer("mark")?.({ type: "mark", timestamp: "" }, PLAIN_THEME, { expanded: true });
		const slow = ["call", "result", "entry", "quick"].map((name) => statusOf(test, name).figures.slowDrawMs !== null);
		expect(slow).toEqual([true, true, true, false]);
	});
});

function statusOf({ session }: TestSession, name: string) {
	const found = session.inspector.hookStatuses().find((status) => status.name === name);
	if (!found) throw new Error(`No hook ${name}`);
	return found;
}

describe("the hooks of a session", () => {
	test("are reported with calls, blocks, timeouts, errors, tokens and conflicts", async () => {
		const test = await startSession({ hooks: HOOKS, userSettings: { hookTimeout: 20 } });
		test.provider.reply([toolCall("bash", { command: "true" })], "ok");
		await test.session.prompt("u1");
		await test.session.prompt("/go");
		expect(statusOf(test, "a-gate").figures).toMatchObject({ calls: 1, blocks: 1, events: { tool_call: 1 } });
		expect(statusOf(test, "b-sad").figures).toMatchObject({ calls: 2, lastError: "turn_end: no luck" });
		expect(statusOf(test, "c-slow").figures).toMatchObject({ calls: 2, timeouts: 2 });
		const first = statusOf(test, "d-first");
		expect(first.figures.events["/go"]).toBe(1);
		expect(first).toMatchObject({ commands: ["go"], events: ["context"], isEnabled: true, share: { added: 0 } });
		expect(first.share.removed).toBeGreaterThan(0);
		expect(first.conflicts).toEqual([expect.stringMatching(/^entries of type mark are also written by \S+b-sad\.ts$/)]);
		expect(statusOf(test, "e-idle").figures.calls).toBe(0);
	});

	test("have neither handlers nor commands while turned off, even after a reload", async () => {
		const test = await startSession({ hooks: { "d-first.ts": HOOKS["d-first.ts"] } });
		test.provider.reply("a1", "a2");
		await test.session.prompt("u1");
		await test.session.rebuildContext();
		const { path } = statusOf(test, "d-first");
		expect(test.session.context.messages).toHaveLength(1);
		await test.session.inspector.setHookEnabled(path, false);
		expect(test.session.context.messages).toHaveLength(2);
		await expect(test.session.prompt("/go")).rejects.toThrow("Unknown command /go");
		await test.session.reload();
		expect(test.session.context.messages).toHaveLength(2);
		expect(statusOf(test, "d-first").isEnabled).toBe(false);
		await test.session.inspector.setHookEnabled(path, true);
		expect(test.session.context.messages).toHaveLength(1);
		expect(await test.session.prompt("/go")).toMatchObject({ status: "went" });
	});

	test("that fail to load are each shown with their own error, regardless of the files it mentions", async () => {
		const agentDir = tempAgentDir();
		const other = join(agentDir, "hooks", "z.ts");
		const test = await startSession({
			agentDir,
			hooks: {
				"b.ts": `throw new Error(${JSON.stringify(`needs ${other}`)});`,
				"z.ts": 'throw new Error("broken");',
			},
		});
		const problems = test.session.inspector.hookStatuses().map(({ name, problem }) => [name, problem]);
		expect(problems).toEqual([
			["b", expect.stringMatching(/b\.ts:1:7 did not load: needs \S+z\.ts$/)],
			["z", expect.stringMatching(/z\.ts:1:7 did not load: broken$/)],
		]);
		const { status } = (await test.session.prompt("/hooks")) as { status: string };
		expect(status).toMatch(/z\.ts:1:7 did not load: broken/);
	});

	test("that change the start of a request are named with the tokens that are sent again", async () => {
		const test = await startSession({
			hooks: {
				"swap.ts": `export default (pi) => pi.on("context", ({ messages }) => messages.length < 3 ? undefined
					: { messages: [{ role: "user", content: "[Summary]", timestamp: 0 }, ...messages.slice(1)] });`,
			},
		});
		test.provider.reply("a1", "a2", "a3");
		await test.session.prompt("u1");
		expect(test.events.filter(({ type }) => type === "cache_lost")).toEqual([]);
		await test.session.prompt("u2");
		const { path } = statusOf(test, "swap");
		const size = estimateTokens(assistantMessage("a1"));
		expect(test.events.filter(({ type }) => type === "cache_lost")).toEqual([
			{ type: "cache_lost", by: { kind: "hook", hook: path }, changed: { kind: "message" }, resent: size },
		]);
		const { loss } = await test.session.inspector.inspectContext({ at: 3 });
		expect(loss).toMatchObject({ by: { kind: "hook", hook: path }, resent: size });
	});

	test("that only drop the end of a request cause no loss", async () => {
		const test = await startSession({
			hooks: {
				"last.ts": `export default (pi) => pi.on("context", ({ messages }) =>
					({ messages: messages.slice(-1) }));`,
			},
		});
		test.provider.reply("a1", "a2");
		await test.session.prompt("u1");
		await test.session.prompt("u2");
		expect(test.events.filter(({ type }) => type === "cache_lost")).toEqual([]);
	});

	test("are named along with the hook whose entry made them change their answer", async () => {
		const test = await startSession({
			hooks: {
				"mark.ts": `export default (pi) => pi.command("mark", { handler: (ctx) => ctx.saveEntry({ type: "mark" }) });`,
				"short.ts": `export default (pi) => pi.on("context", ({ entries, messages }) =>
					entries.some(({ type }) => type === "mark")
						? { messages: [{ role: "user", content: "short", timestamp: 0 }, ...messages.slice(1)] } : undefined);`,
			},
		});
		test.provider.reply("a1", "a2");
		await test.session.prompt("u1");
		await test.session.prompt("/mark");
		const [short, mark] = [statusOf(test, "short").path, statusOf(test, "mark").path];
		const found = { by: { kind: "hook", hook: short }, cause: { kind: "hook", hook: mark } };
		const resent = estimateTokens(assistantMessage("a1"));
		expect((await test.session.inspector.inspectContext()).loss).toEqual({
			...{ ...found, changed: { kind: "message" }, resent, position: 0 },
		});
		const { status } = (await test.session.prompt("/context")) as { status: string };
		expect(status).toContain(
			`hook short changed the start of the request after an entry of hook mark: about ${resent} tokens are sent again uncached`,
		);
		await test.session.prompt("u2");
		expect(test.events.filter(({ type }) => type === "cache_lost")).toEqual([
			{ type: "cache_lost", ...found, changed: { kind: "message" }, resent },
		]);
	});

	test("that answer differently for the same entries are reported once as unstable", async () => {
		const test = await startSession({
			hooks: {
				"clock.ts": `let n = 0; export default (pi) => pi.on("context", ({ messages }) => ({
					messages: [{ role: "user", content: String(n++), timestamp: 0 }, ...messages] }));`,
			},
		});
		const { path } = statusOf(test, "clock");
		const { unstable } = await test.session.inspector.inspectContext();
		expect(unstable).toEqual([path]);
		await test.session.inspector.inspectContext();
		expect(test.notices()).toEqual([
			`Hook ${path} returns a different request for the same entries, so the provider cannot cache what follows the difference`,
		]);
		expect(statusOf(test, "clock").figures.isUnstable).toBe(true);
	});
});

describe("handlers that cannot fire in this mode", () => {
	const ALL = `export default (pi) => {
		for (const event of ["session", "tool_call", "tool_result", "turn_end", "context"]) pi.on(event, () => {});
		pi.command("go", { complete: () => [], handler: () => {} });
		pi.entry("mark", { render: () => "" });
		pi.shortcut("f5", { handler: () => {} });
	}`;
	const NO_TOOLS = ["tool_call", "tool_result"].map((what) => ({ what, why: "the model has no tools" }));
	const NO_SESSIONS = ["session before_switch", "session switch"].map((what) => ({
		what,
		why: "no other session can be opened",
	}));
	const NO_SCREEN = ["completion of /go", "rendering of mark", "shortcut f5"].map((what) => ({
		what,
		why: "there is no screen",
	}));

	test.each([
		["print mode", { session: { kind: "new" }, print: true }, NO_SCREEN],
		["print mode without a session file", { print: true }, [...NO_SESSIONS, ...NO_SCREEN]],
		["a run without tools", { session: { kind: "new" }, print: true, tools: [] }, [...NO_TOOLS, ...NO_SCREEN]],
		["RPC mode, where a client may open any file", { ui: {}, print: false }, NO_SCREEN],
		["a program that drives the session itself", { print: false }, []],
	] as const)("are listed for %s", async (_, { print, ...options }, expected) => {
		const test = await startSession({ ...options, hooks: { "all.ts": ALL } });
		test.session.acceptsSend = !print;
		expect(statusOf(test, "all").cannotFire).toEqual(expected);
	});

	test("are listed by /hooks", async () => {
		const { session } = await startSession({ hooks: { "all.ts": ALL }, tools: [] });
		session.acceptsSend = false;
		expect(await session.prompt("/hooks")).toMatchObject({
			status: expect.stringContaining("cannot fire in this mode: tool_call, for the model has no tools"),
		});
	});
});

test("hooks that claim the same command or change the same entries are reported as conflicts, with the entries", async () => {
	const cut = (from: number) =>
		`export default (pi) => { pi.command("cut", { handler: () => {} }); pi.on("context", ({ messages }) => ({
			messages: messages.map((item) => item.entryIndex >= ${from} && item.message.role === "user"
				? { ...item, message: { ...item.message, content: "cut" } } : item) })); }`;
	const test = await startSession({ hooks: { "a.ts": cut(0), "b.ts": cut(2), "c.ts": "export default () => {};" } });
	test.provider.reply("a1", "a2");
	await test.session.prompt("u1");
	await test.session.prompt("u2");
	await test.session.rebuildContext();
	expect(statusOf(test, "a").conflicts).toEqual([
		expect.stringMatching(/^\/cut is also a command of \S+b\.ts$/),
		expect.stringMatching(/^entry 3 in the context: also edited by \S+b\.ts$/),
	]);
	expect(statusOf(test, "b").conflicts).toEqual([
		expect.stringMatching(/^\/cut is also a command of \S+a\.ts$/),
		expect.stringMatching(/^entry 3 in the context: also edited by \S+a\.ts$/),
	]);
	expect(statusOf(test, "c").conflicts).toEqual([]);
	expect(await test.session.prompt("/hooks")).toMatchObject({ status: expect.stringContaining("also edited by") });
});

describe("the inspection of the context", () => {
	test("without a hook leaves session, figures and events unchanged", async () => {
		const test = await startSession({ hooks: { "d-first.ts": HOOKS["d-first.ts"] } });
		test.provider.reply("a1", "a2");
		await test.session.prompt("u1");
		await test.session.prompt("u2");
		const { path, figures } = statusOf(test, "d-first");
		const [events, entries] = [test.events.length, test.session.entries.length];
		const texts = async (without?: ReadonlySet<string>) =>
			(await test.session.inspector.inspectContext(without && { without })).ledger.messages.map(({ text }) => text);
		expect(await texts()).toEqual(["u1"]);
		expect(await texts(new Set([path]))).toEqual(["u1", "a1", "u2", "a2"]);
		expect(statusOf(test, "d-first").figures).toEqual(figures);
		expect([test.events.length, test.session.entries.length]).toEqual([events, entries]);
	});

	test("of a resumed session knows the last request, and /context prints it without a screen", async () => {
		const first = await startSession({ session: { kind: "new" } });
		first.provider.reply("a1");
		await first.session.prompt("u1");
		const target = first.session.sessionFile ?? "";
		await first.session.dispose();
		const { session } = await startSession({
			agentDir: first.agentDir,
			cwd: first.cwd,
			session: { kind: "open", target },
		});
		const { ledger, loss } = await session.inspector.inspectContext();
		expect(ledger.messages.map(({ text, cached }) => [text, cached])).toEqual([
			["u1", true],
			["a1", false],
		]);
		expect(loss).toBeNull();
		const said = await session.prompt("/context");
		expect(said).toMatchObject({ status: expect.stringMatching(/\n▎ +1 {2}user +5 tok {2}cached +u1\n/) });
	});
});
