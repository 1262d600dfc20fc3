import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ShadowFigures } from "../../../src/commands/shadow-figures.js";
import type { AgentSession } from "../../../src/sdk/agent-session.js";
import { run } from "../../cli/subcommands/run.js";
import { type LoopbackProvider, text, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { writeFiles } from "../../helpers/temp.js";
import { hook } from "../../hooks/support.js";

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const FILES = Object.fromEntries(
	Array.from({ length: 6 }, (_, at) => [`file${at}.ts`, `export const theValueOfFile${at} = ${at};\n`.repeat(900)]),
);

/** A session in a file, with bundled hooks as users have them. */
function start(options: TestSessionOptions = {}) {
	return startSession({
		...{ session: { kind: "new" }, bundledHooks: true, files: FILES, model: "loopback-anthropic/scripted" },
		modelOptions: { cost: COST, contextWindow: 1_000_000, apis: ["anthropic-messages"] },
		...options,
	});
}

/** Runs that read large files, and answer. The provider has each request in its cache for the next one. */
async function work({ session, provider }: { session: AgentSession; provider: LoopbackProvider }, runs = 12) {
	let [request, cached] = [0, 0];
	provider.on(({ body }) => {
		const tokens = Math.ceil(JSON.stringify(body).length / 3.3);
		const usage = { input: 0, output: 20, cacheRead: cached, cacheWrite: tokens - cached };
		cached = tokens;
		const step = request++ % 3;
		const content = step < 2 ? [toolCall("read", { path: `file${(request + step) % 6}.ts` })] : [text("done")];
		return { content, usage };
	});
	for (let at = 0; at < runs; at++) await session.prompt(`run ${at}`);
}

async function play({ inspector }: AgentSession): Promise<ReadonlyMap<string, ShadowFigures>> {
	const figures = await inspector.playShadows({ signal: new AbortController().signal, onProgress() {} });
	if (!figures) throw new Error("It was stopped");
	return figures;
}

function shadowsOf({ inspector }: AgentSession): string[] {
	return inspector.hookStatuses().flatMap(({ isShadow, path }) => (isShadow ? [path] : []));
}

test("the figures of hooks in the shadow are those of pi context bench, and computing them leaves no trace", async () => {
	const started = await start({ userSettings: { shadowHooks: ["clear", "pi:dedupe"] } });
	const { session, agentDir, cwd } = started;
	await work(started);
	const file = session.sessionFile ?? "";
	const [log, count] = [readFileSync(file, "utf8"), started.events.length];
	const figures = await play(session);
	expect(readFileSync(file, "utf8")).toBe(log);
	expect(started.events.slice(count)).toEqual([]);
	expect(started.notices()).toEqual([]);

	const { stdout } = await run(
		{ name: "bench", strategies: ["pi:clear", "pi:dedupe"], sessions: [file], failIf: [] },
		{ agentDir, cwd, json: true },
	);
	const [none, ...results] = JSON.parse(stdout).sessions[0].results;
	for (const { strategy, totals, evidence, requests } of results) {
		expect(figures.get(strategy), strategy).toEqual({
			requests: requests.length,
			actual: { sent: none.totals.sent, resent: none.totals.resent, cost: none.totals.cost },
			shadow: { sent: totals.sent, resent: totals.resent, cost: totals.cost },
			evidence: evidence.kept / evidence.needed,
			unplayed: ["calls of recall that the model would have made"],
			problems: [],
		});
	}
	expect([...figures.keys()]).toEqual(["pi:clear", "pi:dedupe"]);
	const clear = figures.get("pi:clear");
	expect(clear?.shadow.sent).toBeLessThan(0.8 * (clear?.actual.sent ?? 0));
}, 60_000);

test("figures are remembered until the log grows, and a hook that is added is played alone", async () => {
	const started = await start({ userSettings: { shadowHooks: ["pi:clear"] } });
	const { session } = started;
	await work(started, 2);
	const first = await play(session);
	expect((await play(session)).get("pi:clear")).toBe(first.get("pi:clear"));
	await session.inspector.setHookShadow("pi:dedupe", true);
	const both = await play(session);
	expect([...both.keys()]).toEqual(["pi:clear", "pi:dedupe"]);
	expect(both.get("pi:clear")).toBe(first.get("pi:clear"));
	await session.prompt("go on");
	expect((await play(session)).get("pi:clear")?.requests).toBe((first.get("pi:clear")?.requests ?? 0) + 3);
});

test("a hook that is enabled leaves the shadow, also one that only the shadow knows", async () => {
	const started = await start({ userSettings: { shadowHooks: ["clear", "mine.ts"] } });
	const { session, agentDir } = started;
	const path = `${agentDir}/mine.ts`;
	// It does not exist yet.
	expect(shadowsOf(session)).toEqual(["mine.ts", "pi:clear"]);
	const [missing] = (await play(session)).get("mine.ts")?.problems ?? [];
	expect(missing).toMatch(/mine\.ts cannot be read/);
	writeFiles(agentDir, { "mine.ts": hook(`pi.on("context", ({ messages }) => ({ messages: messages.slice(-1) }));`) });
	expect(shadowsOf(session)).toEqual([path, "pi:clear"]);

	await session.inspector.setHookEnabled(path, true);
	await session.inspector.setHookEnabled("pi:clear", true);
	const settings = JSON.parse(readFileSync(`${agentDir}/settings.json`, "utf8"));
	expect(settings).toEqual({ shadowHooks: [], hooks: [path, "pi:clear"] });
	expect(shadowsOf(session)).toEqual([]);
	const on = session.inspector.hookStatuses().filter(({ isEnabled }) => isEnabled);
	expect(on.map((status) => status.path)).toEqual(expect.arrayContaining([path, "pi:clear"]));
});

test("a hook that fails, and one that does not load, say so in their figures only", async () => {
	const started = await start({
		userSettings: { shadowHooks: ["bad.ts", "broken.ts", "pi:webhook", "pi:nothing"] },
	});
	const { session, agentDir } = started;
	writeFiles(agentDir, {
		"bad.ts": hook(`pi.on("context", () => { throw new Error("no idea"); });`),
		"broken.ts": "export default 7;",
	});
	await work(started, 2);
	const figures = await play(session);
	const problems = Object.fromEntries([...figures].map(([path, one]) => [path.split("/").at(-1), one.problems]));
	expect(problems).toEqual({
		"bad.ts": [expect.stringMatching(/^7 times: Hook bad\.ts:\d+:\d+ failed on context: no idea$/)],
		"broken.ts": [expect.stringContaining("its default export is not a function")],
		"pi:webhook": ["It changes no request, so there is nothing to compute"],
		"pi:nothing": ["There is no bundled hook pi:nothing"],
	});
	expect(started.notices()).toEqual([]);
});

test("a hook in the shadow runs no program, sends no prompt and keeps the session's own hooks unchanged", async () => {
	const started = await start({
		hooks: {
			"counts.ts": hook(`let calls = 0; pi.on("turn_end", () => { calls++; });
				pi.on("context", ({ messages }) => ({ messages }));
				pi.command("calls", { handler: () => ({ status: String(calls) }) });`),
		},
		userSettings: { shadowHooks: ["acts.ts"] },
	});
	const { session, agentDir, cwd } = started;
	writeFiles(agentDir, {
		"acts.ts": hook(`pi.on("turn_end", async (_, ctx) => {
			await ctx.exec("touch", ["${cwd}/touched"]);
			pi.send("more work");
			await ctx.saveEntry({ type: "acted" });
			await ctx.ui.confirm("sure?", "");
		}); pi.entry("acted");`),
	});
	await work(started, 2);
	const before = session.entries.length;
	const figures = await play(session);
	expect(figures.get(`${agentDir}/acts.ts`)?.unplayed).toEqual(
		expect.arrayContaining(["6 programs that were not run", "6 dialogs that were canceled"]),
	);
	expect(existsSync(`${cwd}/touched`)).toBe(false);
	expect(session.entries).toHaveLength(before);
	expect(await session.prompt("/calls")).toMatchObject({ status: "6" });
});

test("a project's settings put nothing into the shadow", async () => {
	const { session } = await start({ files: { ".pi/settings.json": { shadowHooks: ["pi:clear"] } } });
	expect(shadowsOf(session)).toEqual([]);
});

test("what is stopped is not remembered", async () => {
	const started = await start({ userSettings: { shadowHooks: ["pi:clear"] } });
	await work(started, 2);
	const { inspector } = started.session;
	const stop = new AbortController();
	expect(await inspector.playShadows({ signal: stop.signal, onProgress: () => stop.abort() })).toBe(null);
	expect((await play(started.session)).get("pi:clear")?.requests).toBe(6);
});

test("/hooks without a screen lists the hooks in the shadow with their figures", async () => {
	const started = await start({ userSettings: { shadowHooks: ["pi:clear"] } });
	const empty = JSON.stringify(await started.session.prompt("/hooks"));
	expect(empty).toContain("no requests yet, so there is nothing to compute");
	await work(started);
	const text = JSON.stringify(await started.session.prompt("/hooks"));
	expect(text).toMatch(
		/clear {2}bundled {2}pi:clear {2}in the shadow: clears old .*\\n {4}would have sent \S+ instead of \S+ tokens \(−\d+ %\), \$\d+\.\d+ instead of \$\d+\.\d+ \([−+]\d+ %\), \S+ instead of 0 sent again · evidence [\d.]+ % · 36 requests\\n {4}not played: calls of recall/,
	);
});
