import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSubcommand } from "../../src/cli/subcommand-args.js";
import { AnswerFile } from "../../src/context-bench/answer-file.js";
import type { BenchReport } from "../../src/context-bench/bench.js";
import { run } from "../cli/subcommands/run.js";
import { assistantMessage } from "../helpers/entries.js";
import { httpError, type LoopbackProvider, startProvider } from "../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { idleSession } from "./idle-session.js";

/** Compacts as pi does. */
const PLAIN = `export default (pi) => pi.on("cache_expiring", async (_, ctx) => void (await ctx.compact()));`;
/** Asks a model itself, once with `ctx.stream` and once with the library, and saves what it says. */
const NOTES = `import { complete } from "@mariozechner/pi-ai";
export default (pi) => {
	pi.entry("said");
	pi.on("cache_expiring", async (_, ctx) => {
		const model = ctx.findModel("loopback", "scripted");
		const ask = (content) => ({ messages: [{ role: "user", content, timestamp: Date.now() }] });
		const replies = [await (await ctx.stream(model, ask("first"))).result(), await complete(model, ask("second"))];
		for (const { content } of replies) await ctx.saveEntry({ type: "said", text: content[0].text });
	});
	pi.on("context", ({ entries, messages }) => {
		const said = entries.filter(({ type }) => type === "said").map(({ text }) => text);
		return { messages: [...messages, { role: "user", content: said.join(" ") || "nothing", timestamp: 0 }] };
	});
};`;

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

async function place(settings: object = {}) {
	const provider = await startProvider();
	const agentDir = tempAgentDir({
		models: provider.modelsJson({ cost: COST, contextWindow: 1_000_000, maxTokens: 8000 }),
		settings: { compaction: { model: "loopback/scripted" }, ...settings },
	});
	const cwd = tempDir("pi-project-");
	const lines = idleSession(10).map((entry) => JSON.stringify(entry));
	writeFiles(cwd, { "session.jsonl": `${lines.join("\n")}\n`, "plain.ts": PLAIN, "notes.ts": NOTES });
	return { provider, agentDir, cwd };
}

async function bench({ agentDir, cwd }: { agentDir: string; cwd: string }, ...words: string[]) {
	const session = join(cwd, "session.jsonl");
	const parsed = parseSubcommand("context", ["bench", "--sessions", session, ...words]);
	if (parsed.kind !== "subcommand") throw new Error("expected a command");
	return run(parsed.command, { ...parsed.options, agentDir, cwd });
}

async function report(where: Awaited<ReturnType<typeof place>>, ...words: string[]) {
	const { code, stdout } = await bench(where, "--json", ...words);
	const { sessions, asked }: BenchReport = JSON.parse(stdout);
	const result = sessions[0]?.results[1];
	return { code, asked, totals: result?.totals, problems: result?.problems };
}

const contentsOf = ({ requests }: LoopbackProvider) => requests.map(({ messages }) => messages.at(-1)?.text ?? "");

test("with --ask, the model of the settings writes the summary; a second run asks nothing and counts the same", async () => {
	const where = await place();
	const { provider, agentDir } = where;
	const without = await report(where, "./plain.ts");
	expect(provider.requests).toHaveLength(0);
	expect(without).toMatchObject({ code: 0, totals: { standIns: 2, asked: 0 } });
	expect(without.asked).toBe(undefined);

	provider.on(() => ({
		content: [{ type: "text", text: "## Goal\nCount. ".repeat(300) }],
		usage: { input: 40_000, output: 900 },
	}));
	const first = await report(where, "--ask", "./plain.ts");
	// The second compaction covers nothing but the first summary, so no model is asked.
	expect(first).toMatchObject({ code: 0, problems: [], totals: { standIns: 0, asked: 1 } });
	expect(first.asked).toMatchObject({ requests: 1, remembered: 0, failed: 0 });
	expect(first.asked?.cost).toBeCloseTo(40_000 * 3e-6 + 900 * 15e-6, 6);
	expect(contentsOf(provider).every((content) => content.includes("<conversation>"))).toBe(true);
	// The summary of the model is longer than the stand-in.
	expect(first.totals?.sent).toBeGreaterThan(without.totals?.sent ?? Number.NaN);

	const second = await report(where, "--ask", "./plain.ts");
	expect(provider.requests).toHaveLength(1);
	expect(second.totals).toEqual(first.totals);
	expect(second.asked).toMatchObject({ requests: 0, remembered: 1, cost: 0 });
	const file = join(agentDir, "cache", "bench-answers.json");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(readFileSync(file, "utf8")).not.toMatch(/<conversation>|apiKey/);
});

test("what is asked costs what the text says, and the prompt of a hook is asked only with --ask", async () => {
	const where = await place();
	const { provider } = where;
	const without = await report(where, "./notes.ts");
	expect(provider.requests).toHaveLength(0);
	expect(without.totals).toMatchObject({ standIns: 4, asked: 0 });

	provider.on(() => ({ content: [{ type: "text", text: "a note" }], usage: { input: 10_000, output: 100 } }));
	const { stdout } = await bench(where, "--ask", "./notes.ts");
	// Both pauses ask the same.
	expect(contentsOf(provider)).toEqual(["first", "second"]);
	expect(stdout).toContain("\nasked: 2 requests, $0.06 · 2 answers remembered\n");
	expect(stdout).not.toContain("answered by pi's own summaries");
});

test("a request that fails is named as a problem, and pi's own summary stands in", async () => {
	const where = await place({ retry: { enabled: false } });
	const without = await report(where, "./plain.ts");
	where.provider.on(() => httpError(400));
	const { code, totals, asked, problems } = await report(where, "--ask", "./plain.ts");
	expect(code).toBe(1);
	expect(totals).toMatchObject({ sent: without.totals?.sent, standIns: 1, asked: 0 });
	expect(asked).toMatchObject({ requests: 1, failed: 1, cost: 0 });
	expect(problems).toMatchObject([
		{ hook: "pi", count: 1, reason: expect.stringMatching(/Scripted returned no summary: 400.*; pi's own summary/) },
	]);
});

test("without a key nothing is sent, and the problem says how to set one", async () => {
	const where = await place({ compaction: {} });
	const { totals, asked, problems } = await report(where, "--ask", "./plain.ts");
	expect(totals).toMatchObject({ standIns: 1, asked: 0 });
	expect(asked).toMatchObject({ requests: 0 });
	expect(problems?.[0]?.reason).toContain("No key for anthropic");
});

test("--model writes the summaries if the settings name no model", async () => {
	const where = await place({ compaction: {} });
	where.provider.on(() => "## Goal\nCount.");
	const { totals } = await report(where, "--ask", "--model", "loopback/scripted", "./plain.ts");
	expect(totals).toMatchObject({ standIns: 0, asked: 1 });
});

test("the file of answers drops the oldest ones, and a damaged one is replaced", async () => {
	const path = join(tempDir(), "cache", "answers.json");
	const answer = (text: string) => assistantMessage(text.padEnd(1_500_000, text));
	const answers = new AnswerFile(path);
	for (const key of ["a", "b", "c"]) await answers.add(key, answer(key));
	const again = new AnswerFile(path);
	expect(["a", "b", "c"].map((key) => again.find(key) !== null)).toEqual([false, true, true]);
	writeFiles(join(path, ".."), { "answers.json": "{ damaged" });
	const damaged = new AnswerFile(path);
	expect(damaged.find("b")).toBe(null);
	await damaged.add("d", answer("d"));
	expect(new AnswerFile(path).find("d")?.content).toEqual(answer("d").content);
});
