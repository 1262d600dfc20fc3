import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { SessionEntry } from "../../src/log/entry.js";
import { idleSession } from "../context-bench/idle-session.js";
import { assistant, result, session, user } from "../helpers/entries.js";
import { type Reply, startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const USAGE = { input: 3000, output: 50, cacheRead: 0, cacheWrite: 0, totalTokens: 3050 };
const COST = { input: 0.009, output: 0.00075, cacheRead: 0, cacheWrite: 0, total: 0.00975 };

/** Prompts, each with a read and an answer. */
function lines(turns: number, name = "file"): string {
	const entries: SessionEntry[] = session(
		...Array.from({ length: turns }, (_, turn) => [
			user(`look at ${name} ${turn}`),
			assistant("", [{ id: `c${turn}`, arguments: { path: `src/file-${turn}.ts` } }]),
			result(`c${turn}`, `export const valueOfTheFile${turn} = 1;\n`.repeat(200)),
			assistant(`seen ${turn}`),
		]).flat(),
	).map((entry) =>
		"message" in entry && entry.type === "message" && (entry.message as { role: string }).role === "assistant"
			? { ...entry, message: { ...(entry.message as object), usage: { ...USAGE, cost: COST } } }
			: entry,
	) as SessionEntry[];
	return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const CUT = `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.map((item, at) =>
	item.message.role === "toolResult" && at < messages.length - 4
		? { ...item, message: { ...item.message, content: [{ type: "text", text: "[old]" }] } } : item) }));`;

test("pi context bench prints a table on the terminal, writes the page, and its exit code is that of the limit", async () => {
	const [cwd, agentDir] = [tempDir("pi-project-"), tempAgentDir()];
	writeFiles(cwd, { "one.jsonl": lines(12), "cut.ts": CUT });
	const args = [
		"context",
		"bench",
		"--sessions",
		"one.jsonl",
		"./cut.ts",
		"--html",
		"out.html",
		"--fail-if",
		"breaks > 3",
	];
	const pi = startPi({ args, agentDir, cwd, columns: 120, rows: 40 });
	expect((await pi.exited).code).toBe(1);
	const shown = stripVTControlCharacters(pi.output());
	expect(shown).toMatch(
		/test look at file 0, 24 requests +sent +cached +resent +breaks +peak +cost +vs none +evidence/,
	);
	expect(shown).toMatch(/none .* 100 %\s/);
	expect(shown).toMatch(/\.\/cut\.ts .* \d+ +\d+/);
	expect(shown).toMatch(/calibration: \$0\.\d+ predicted, \$0\.234 recorded/);
	expect(shown).toMatch(/\.\/cut\.ts: breaks > 3 · \d+/);
	expect(readFileSync(`${cwd}/out.html`, "utf8")).toContain("<svg");
	const json = await runPi(["context", "bench", "--sessions", "one.jsonl", "--json", "./cut.ts"], { agentDir, cwd });
	expect(json.code).toBe(0);
	expect(JSON.parse(json.stdout)).toMatchObject({
		isPartial: false,
		sessions: [{ requests: 24, results: [{ strategy: "none" }, { strategy: "./cut.ts" }] }],
		total: [{ strategy: "none" }, { strategy: "./cut.ts" }],
	});
});

test("Escape stops it and prints what there is", async () => {
	const [cwd, agentDir] = [tempDir("pi-project-"), tempAgentDir()];
	const sessions = Object.fromEntries(
		Array.from({ length: 60 }, (_, at) => [`all/s${at}.jsonl`, lines(60, `file of ${at},`)]),
	);
	writeFiles(cwd, { ...sessions, "cut.ts": CUT });
	const args = ["context", "bench", "--sessions", "all", "./cut.ts"];
	const pi = startPi({ args, agentDir, cwd, columns: 120, rows: 40 });
	await expect.poll(() => /[3-9] of 120 runs/.test(pi.output()), { timeout: 20_000 }).toBe(true);
	await pi.press("escape");
	expect((await pi.exited).code).toBe(130);
	const shown = stripVTControlCharacters(pi.output());
	expect(shown).toContain("stopped: what had not been played is missing");
	expect(shown).toMatch(/look at file of \d+, 0, 120 requests/);
});

const COMPACT = `export default (pi) => pi.on("cache_expiring", async (_, ctx) => void (await ctx.compact()));`;

test("--ask shows what it asks as it goes, Escape stops the request, and a second run asks nothing", async () => {
	const provider = await startProvider();
	const cwd = tempDir("pi-project-");
	const agentDir = tempAgentDir({
		models: provider.modelsJson({ contextWindow: 1_000_000, maxTokens: 8000 }),
		settings: { compaction: { model: "loopback/scripted" } },
	});
	const entries = idleSession(null).map((entry) => `${JSON.stringify(entry)}\n`);
	writeFiles(cwd, { "one.jsonl": entries.join(""), "compact.ts": COMPACT });
	const args = ["context", "bench", "--ask", "--sessions", "one.jsonl", "./compact.ts"];
	const start = () => startPi({ args, agentDir, cwd, columns: 80, rows: 24 });
	const held: ((reply: Reply) => void)[] = [];
	provider.on(() => new Promise((resolve) => held.push(resolve)));

	const stopped = start();
	await stopped.waitForText("asked 1 request, $0.00");
	await expect.poll(() => held.length).toBe(1);
	await stopped.press("escape");
	expect((await stopped.exited).code).toBe(130);
	expect(stripVTControlCharacters(stopped.output())).toMatch(
		/No session was played\r?\nasked: 1 request, \$0\.00\r?\n$/,
	);

	const answered = start();
	await answered.waitForText("asked 1 request, $0.00");
	expect(await provider.requests[0]?.closed).toBe(false);
	await expect.poll(() => held.length).toBe(2);
	held[1]?.("## Goal\nCount.");
	expect((await answered.exited).code).toBe(0);
	expect(stripVTControlCharacters(answered.output())).toMatch(/\nasked: 1 request, \$0\.00\r?\n/);

	const again = start();
	expect((await again.exited).code).toBe(0);
	expect(stripVTControlCharacters(again.output())).toContain("asked: 0 requests, $0.00 · 1 answer remembered");
	expect(provider.requests).toHaveLength(2);
});
