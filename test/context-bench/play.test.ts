import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseSubcommand } from "../../src/cli/subcommand-args.js";
import type { StrategyTotals } from "../../src/context-bench/bench.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { run } from "../cli/subcommands/run.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { idleSession } from "./idle-session.js";

/** Compacts with pi's own summary. */
const PLAIN = `export default (pi) => pi.on("cache_expiring", async (_, ctx) => void (await ctx.compact()));`;

/** Calls a tool after each turn. */
const CALLS = `export default (pi) => pi.on("turn_end", async (_, ctx) => void (await ctx.tools.call("read", { path: "a" })));`;

/** What could not be played, with how often. */
type Unplayed = Record<string, number>;

async function bench(
	entries: readonly SessionEntry[],
	...strategies: string[]
): Promise<Record<string, StrategyTotals & { unplayed: Unplayed }>> {
	const cwd = tempDir("pi-project-");
	const lines = entries.map((entry) => JSON.stringify(entry)).join("\n");
	writeFiles(cwd, { "session.jsonl": `${lines}\n`, "plain.ts": PLAIN, "calls.ts": CALLS });
	const parsed = parseSubcommand("context", [
		...["bench", "--json", "--sessions", join(cwd, "session.jsonl")],
		...strategies.map((name) => name.replace("./", `${cwd}/`)),
	]);
	if (parsed.kind !== "subcommand") throw new Error("expected a command");
	const { stdout, stderr } = await run(parsed.command, { ...parsed.options, cwd });
	expect(stderr.replace(/^.*playing.*$/gm, "").trim()).toBe("");
	const [{ results }] = JSON.parse(stdout).sessions;
	return Object.fromEntries(
		results.map(({ strategy, totals, unplayed }: { strategy: string; totals: StrategyTotals; unplayed: Unplayed }) => [
			strategy.replace(/^.*\//, ""),
			{ ...totals, unplayed },
		]),
	);
}

test("the tools of a bundled hook count, also where a session records none", async () => {
	const { none, "pi:stack": stack } = await bench(idleSession(1), "pi:stack");
	expect(stack?.sent).toBeGreaterThan(none?.sent ?? Number.NaN);
});

test("tools that hooks call are not run, and counted by name", async () => {
	const { "calls.ts": calls } = await bench(idleSession(null), "./calls.ts");
	expect(calls?.unplayed).toEqual({ "tools that hooks call": 15 });
});

describe("cache_expiring", () => {
	test("is played in a pause longer than the lifetime of the cache: a hook compacts, and its requests count", async () => {
		const { none, "pi:idle-compact": warm } = await bench(idleSession(10), "pi:idle-compact");
		expect([none?.standIns, warm?.standIns]).toEqual([0, 1]);
		expect(warm?.sent).toBeLessThan((none?.sent ?? 0) - 100_000);
		expect(warm?.cost).toBeLessThan((none?.cost ?? 0) - 0.3);
	});

	test("is not played in a shorter pause, but at the end: nobody knows that the session was closed", async () => {
		const [long, short, end] = await Promise.all([10, 4, null].map((gap) => bench(idleSession(gap), "./plain.ts")));
		const counts = [long, short, end].map((results) => results?.["plain.ts"]?.standIns);
		expect(counts).toEqual([2, 1, 1]);
		expect(short?.["plain.ts"]?.sent).toBe(short?.none?.sent);
	});

	test("a request that continues the last one reads it from the cache; pi's own summary does not", async () => {
		const results = await bench(idleSession(null), "pi:idle-compact", "./plain.ts");
		const [none = 0, warm = 0, plain = 0] = ["none", "pi:idle-compact", "plain.ts"].map(
			(name) => results[name]?.cost ?? 0,
		);
		// 160,000 tokens at $0.30, or 139,000 of them as text at $3 per million.
		expect(warm - none).toBeCloseTo(0.05, 2);
		expect(plain - none).toBeGreaterThan(0.35);
	});
});
