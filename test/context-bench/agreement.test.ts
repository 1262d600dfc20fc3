import fc from "fast-check";
import { expect, test } from "vitest";
import { digestContext } from "../../src/context/digest.js";
import { playStrategy } from "../../src/context-bench/play.js";
import { loadHooks } from "../../src/hooks/load.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { run } from "../cli/subcommands/run.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "../hooks-examples/example.js";

const RUNS = propertyRuns(6, 20261126);

/** A pure hook: what it changes depends on entries and facts alone. */
interface HookShape {
	/** Results older than this many messages become one line. */
	keep: number;
	/** Adds a note to requests with a multiple of this many entries. */
	noteEvery: number;
	/** Drops a section and a tool when the context is larger than this many tokens. */
	smallAbove: number;
	/** Saves an entry at every turn with a multiple of this index, and shows how many there are. */
	markEvery: number;
}

function source({ keep, noteEvery, smallAbove, markEvery }: HookShape): string {
	return `export default (pi) => {
	const cut = new WeakMap();
	pi.entry("mark");
	pi.on("turn_start", async ({ turnIndex }, ctx) => {
		if (turnIndex % ${markEvery} === 0) await ctx.saveEntry({ type: "mark", turnIndex });
	});
	pi.on("context", ({ entries, messages, systemPrompt, tools, facts }) => {
		const border = messages.length - ${keep};
		const changed = messages.map((item, at) => {
			if (at >= border || item.message.role !== "toolResult") return item;
			const known = cut.get(item.message) ?? { ...item.message, content: [{ type: "text", text: "[cut]" }] };
			cut.set(item.message, known);
			return { message: known, entryIndex: item.entryIndex };
		});
		const marks = entries.filter(({ type }) => type === "mark").length;
		const isNoted = entries.length % ${noteEvery} === 0;
		const note = { role: "user", timestamp: 0, content: "[" + marks + " marks, " + facts.model.id + " at " + facts.time + "]" };
		const isSmall = facts.estimate(messages) > ${smallAbove};
		return {
			messages: isNoted ? [...changed, note] : changed,
			...(isSmall && { systemPrompt: systemPrompt.filter(({ id }) => id !== "environment"), tools: tools.slice(1).map(({ name }) => name) }),
		};
	});
};`;
}

const shape: fc.Arbitrary<HookShape> = fc.record({
	keep: fc.integer({ min: 1, max: 6 }),
	noteEvery: fc.integer({ min: 2, max: 5 }),
	smallAbove: fc.integer({ min: 50, max: 2000 }),
	markEvery: fc.integer({ min: 1, max: 3 }),
});
const step = fc.constantFrom("say", "say", "tool", "tool", "pop", "compact", "model");

test(
	"what is sent, what /context shows, --verify and the bench agree on every request",
	async () => {
		await fc.assert(
			fc.asyncProperty(shape, fc.array(step, { minLength: 3, maxLength: 9 }), async (hook, steps) => {
				const cwd = tempDir("pi-project-");
				writeFiles(cwd, { "strategy.ts": source(hook), "a.txt": "content\n".repeat(80) });
				const path = `${cwd}/strategy.ts`;
				const { session, provider, agentDir } = await startSession({
					...{ cwd, session: { kind: "new" }, hookFiles: [example("stacking.ts"), path] },
					userSettings: { compaction: { keepRecentTokens: 1 } },
				});
				provider.on(({ messages }) => {
					const last = messages.at(-1)?.text ?? "";
					return last.includes("use a tool") ? [toolCall("read", { path: "a.txt" })] : "an answer";
				});
				for (const [at, next] of ["say", ...steps].entries()) {
					if (next === "pop") await session.prompt("/pop 1").catch(() => {});
					else if (next === "compact") await session.prompt("/compact").catch(() => {});
					else if (next === "model") session.setThinkingLevel(at % 2 === 0 ? "high" : "low");
					else await session.prompt(next === "tool" ? `use a tool ${at}` : `say ${at}`);
				}
				const replies = session.entries.flatMap((entry, index) =>
					isMessageEntry(entry) && entry.context ? [{ index, digest: entry.context.digest }] : [],
				);

				for (const { index, digest } of replies) {
					const { context } = await session.inspector.inspectContext({ at: index - 1 });
					expect(digestContext(context.messages.map(({ message }) => message))).toBe(digest);
				}

				const file = session.sessionFile ?? "";
				const { entries } = session;
				await session.dispose();
				const verified = await run(
					{ name: "context", verify: true },
					{
						...{ agentDir, cwd, session: file, findHooks: false, hooks: [example("stacking.ts"), path] },
					},
				);
				expect(verified.stdout).toMatch(/^(?:All \d+ requests match|The request matches)/);

				const files = [example("stacking.ts"), path].map((found) => ({
					...{
						path: found,
						realPath: found,
						scope: "flag" as const,
						name: found.endsWith("strategy.ts") ? "strategy" : "stacking",
					},
				}));
				const { hooks } = await loadHooks(files, {
					...{ cacheDir: tempDir("pi-cache-"), timeoutMs: 30_000, send: () => {}, grants: () => [] },
				});
				const played: { index: number; digest: string }[] = [];
				await playStrategy(
					{ name: "recorded", path: file, cwd, entries },
					{ name: "strategy", hooks },
					{
						...{ findModel: () => null, retention: undefined, flags: {}, hookTimeoutMs: 30_000 },
						signal: new AbortController().signal,
					},
					{
						onRequest({ reply, context }) {
							if (replies.some(({ index }) => index === reply))
								played.push({ index: reply, digest: digestContext(context.messages.map(({ message }) => message)) });
							return 0;
						},
						onSideRequest: () => {},
						onUnplayed: () => {},
						onProblem: ({ reason }) => {
							throw new Error(reason);
						},
					},
				);
				expect(played).toEqual(replies);
			}),
			RUNS,
		);
	},
	PROPERTY_TIMEOUT_MS,
);
