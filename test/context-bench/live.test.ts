import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { runBench } from "../../src/context-bench/bench.js";
import { loadHooks } from "../../src/hooks/load.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { isObject, type JsonObject, objects } from "../helpers/json.js";
import { type LoopbackProvider, toolCall } from "../helpers/loopback-provider.js";
import type { ReplyUsage } from "../helpers/provider-step.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { hook } from "../hooks/support.js";

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const RUNS = 6;
const READS = 5;

/** What a provider with a cache counts: blocks of the body, and the marks in them. An implementation apart from the bench. */
class CountingCache {
	readonly #kept = new Set<string>();

	count(body: JsonObject): ReplyUsage {
		const blocks: { text: string; isMarked: boolean }[] = [];
		const add = (role: string, value: unknown) => {
			const { cache_control: mark, ...block } = isObject(value) ? value : { type: "text", text: value };
			blocks.push({ text: `${role} ${JSON.stringify(block)}`, isMarked: mark !== undefined });
		};
		for (const tool of objects(body.tools)) add("tool", tool);
		for (const part of objects(body.system)) add("system", part);
		for (const message of objects(body.messages))
			for (const block of Array.isArray(message.content) ? message.content : [message.content])
				add(String(message.role), block);
		let [tokens, read, written] = [0, 0, 0];
		let start = "";
		const marked: string[] = [];
		for (const { text, isMarked } of blocks) {
			tokens += Math.ceil(text.length / 3.3);
			start = createHash("sha256").update(start).update(text).digest("base64");
			if (this.#kept.has(start)) read = tokens;
			if (!isMarked) continue;
			written = tokens;
			marked.push(start);
		}
		for (const one of marked) this.#kept.add(one);
		return {
			input: tokens - Math.max(read, written),
			output: 40,
			cacheRead: read,
			cacheWrite: Math.max(0, written - read),
		};
	}
}

/** Each run reads files and answers; later runs read some of them again. */
function play(provider: LoopbackProvider): void {
	const cache = new CountingCache();
	let request = 0;
	provider.on(({ body }) => {
		const step = request++ % (READS + 1);
		const file = (Math.floor(request / (READS + 1)) + step) % 8;
		const usage = cache.count(body);
		return step < READS
			? { content: [toolCall("read", { path: `file${file}.ts` })], usage }
			: { content: [{ type: "text", text: "done" }], usage };
	});
}

const STRATEGIES = {
	/** Cuts old results, one with each request: every request writes most of itself again. */
	"creep.ts": hook(`const cut = new WeakMap();
	pi.on("context", ({ messages }) => ({ messages: messages.map((item, at) => {
		if (at > messages.length - 8 || item.message.role !== "toolResult") return item;
		const known = cut.get(item.message) ?? { ...item.message, content: [{ type: "text", text: "[old]" }] };
		cut.set(item.message, known);
		return { message: known, entryIndex: item.entryIndex };
	}) }));`),
	/** Cuts old results in steps that are decided at the start of a turn. */
	"steps.ts": hook(`pi.entry("step"); const cut = new WeakMap();
	pi.on("turn_start", async ({ turnIndex }, ctx) => {
		if (turnIndex === 0) await ctx.saveEntry({ type: "step", before: ctx.entries.length - 6 });
	});
	pi.on("context", ({ entries, messages }) => {
		const border = entries.findLast(({ type }) => type === "step")?.before ?? 0;
		return { messages: messages.map((item) => {
			if (item.entryIndex === null || item.entryIndex >= border || item.message.role !== "toolResult") return item;
			const known = cut.get(item.message) ?? { ...item.message, content: [{ type: "text", text: "[old]" }] };
			cut.set(item.message, known);
			return { message: known, entryIndex: item.entryIndex };
		}) };
	});`),
	/** Adds a reminder to the end of each request, another one each time. */
	"remind.ts": hook(`pi.on("context", ({ entries, messages }) => ({ messages: [...messages,
		{ role: "user", timestamp: 0, content: "Entry " + entries.length + ": " + "keep to the plan. ".repeat(40) }] }));`),
};

/** Plays the script with some hooks. @returns the recorded session and its cost */
async function record(cwd: string, hookFiles: string[]) {
	const test = await startSession({
		...{ cwd, hookFiles, session: { kind: "new" } },
		modelOptions: { cost: COST, contextWindow: 1_000_000, apis: ["anthropic-messages"] },
		model: "loopback-anthropic/scripted",
	});
	play(test.provider);
	for (let run = 0; run < RUNS; run++) await test.session.prompt(`run ${run}`);
	const { entries, model, sessionFile: path } = test.session;
	const costs = entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.message.role === "assistant" ? [entry.message.usage.cost.total] : [],
	);
	const saved = await test.session.inspector.hooksSaved();
	const shown = await test.session.prompt("/context");
	await test.session.dispose();
	const session = { name: "script", path, cwd, entries };
	return { session, model, cost: costs.reduce((sum, cost) => sum + cost, 0), saved, shown };
}

test("what the bench predicts of a strategy is within 7 % of what the same script costs with it", async () => {
	const cwd = tempDir("pi-project-");
	const files = Object.fromEntries(
		Array.from({ length: 8 }, (_, at) => [`file${at}.ts`, `export const value${at} = ${at};\n`.repeat(150 + 40 * at)]),
	);
	writeFiles(cwd, { ...files, ...STRATEGIES });
	const plain = await record(cwd, []);
	expect(plain.saved).toBe(null);
	const names = Object.keys(STRATEGIES);
	const strategies = await Promise.all(
		names.map(async (name) => {
			const path = `${cwd}/${name}`;
			const { hooks } = await loadHooks([{ path, realPath: path, scope: "flag", name }], {
				...{ cacheDir: tempDir("pi-cache-"), timeoutMs: 30_000, send: () => {}, grants: () => [] },
			});
			return { name, hooks };
		}),
	);
	const { sessions } = await runBench([plain.session], strategies, [], {
		...{ findModel: () => plain.model, retention: undefined, flags: {}, hookTimeoutMs: 30_000 },
		signal: new AbortController().signal,
	});
	const [session] = sessions;
	expect(session?.results.flatMap(({ problems }) => problems)).toEqual([]);
	const predicted = Object.fromEntries(session?.results.map(({ strategy, totals }) => [strategy, totals.cost]) ?? []);
	expect(predicted.none).toBeGreaterThan(plain.cost * 0.95);
	expect(predicted.none).toBeLessThan(plain.cost * 1.05);
	for (const name of names) {
		const live = await record(cwd, [`${cwd}/${name}`]);
		// What /context says that the hook saved is the difference to the script without it.
		const off = ((live.saved ?? Number.NaN) - (plain.cost - live.cost)) / plain.cost;
		expect(Math.abs(off), `${name} saved ${live.saved}`).toBeLessThan(0.07);
		expect(JSON.stringify(live.shown)).toMatch(name === "steps.ts" ? /hooks saved \$0\.\d\d/ : /hooks cost \$0\.\d\d/);
		expect(`${name} ${((predicted[name] ?? 0) / live.cost).toFixed(3)}`).toMatch(/ (?:0\.9[3-9]|1\.0[0-6])\d*$/);
	}
	expect(predicted["creep.ts"]).toBeGreaterThan(predicted.none ?? 0);
	expect(predicted["steps.ts"]).toBeLessThan(predicted.none ?? 0);
}, 60_000);
