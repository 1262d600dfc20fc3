import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startSession } from "../helpers/session.js";

const DESIGN_HOOK = fileURLToPath(new URL("../fixtures/hooks/stack-design.ts", import.meta.url));
const DRAFT_HOOK = fileURLToPath(new URL("../fixtures/hooks/stack-draft.ts", import.meta.url));

describe("the stacking hook of the design, unmodified", () => {
	test("pops to an earlier turn: the next request holds the summary and not the popped turns", async () => {
		const { session, provider, sent, notices } = await startSession({ hookFiles: [DESIGN_HOOK] });
		provider.reply("a1", "a2", "a3", "SUM", "a4");
		for (const prompt of ["u1", "u2", "u3"]) await session.prompt(prompt);
		expect(sent(3)).toEqual(["user: u1", "assistant: a1", "user: u2", "assistant: a2", "user: u3"]);

		const popped = await session.prompt("/pop 3");
		expect(popped).toEqual({ kind: "command", status: "Popped to turn 3" });
		expect(sent(4)).toEqual([
			"user: u2",
			"assistant: a2",
			"user: u3",
			"assistant: a3",
			'user: Summarize as "completed work". Be concise.',
		]);
		await session.prompt("u4");
		expect(sent(5)).toEqual(["user: u1", "assistant: a1", "user: [Summary]\n\nSUM", "user: u4"]);
		expect(session.entries.map(({ type }) => type)).toEqual([
			"session",
			...Array(6).fill("message"),
			"request_usage",
			"stack_pop",
			...Array(2).fill("message"),
		]);
		expect(notices()).toEqual(["Popped to turn 3"]);
	});

	test("leaves the context unchanged except for added messages, so that nothing is drawn or counted again", async () => {
		const { session, provider, events } = await startSession({
			hooks: {
				"ranges.ts": `
					import { applyRanges } from "@mariozechner/pi-coding-agent/hooks";
					export default (pi) => pi.on("context", ({ entries }) => ({
						messages: applyRanges(entries, entries.length > 3 ? [{ from: 1, to: 3, summary: "S", id: 0 }] : []),
					}));`,
			},
		});
		provider.reply("a1", "a2", "a3");
		await session.prompt("u1");
		await session.prompt("u2");
		const before = events.length;
		await session.prompt("u3");
		expect(events.slice(before).filter(({ type }) => type === "context_changed")).toEqual([]);
	});

	test("asks for the turn when none is named, and does nothing when the user cancels", async () => {
		const asked: unknown[] = [];
		const { session, provider } = await startSession({
			hookFiles: [DESIGN_HOOK],
			ui: {
				select: async (title: string, options: readonly unknown[]) => {
					asked.push([title, ...options]);
					return null;
				},
			},
		});
		provider.reply("a1", "a2");
		for (const prompt of ["first", "second"]) await session.prompt(prompt);
		expect(await session.prompt("/pop")).toEqual({ kind: "command", status: null });
		expect(asked).toEqual([["Pop to:", "[1] first"]]);
		expect(provider.requests.length).toBe(2);
	});

	test("handles a pop across a compaction, followed by another compaction", async () => {
		const { session, provider, sent } = await startSession({
			hookFiles: [DESIGN_HOOK],
			userSettings: { compaction: { enabled: false, keepRecentTokens: 8 } },
		});
		provider.reply("b1", "b2", "C1", "b3", "P1", "S1", "b4", "C2", "b5");
		await session.prompt("msg1");
		await session.prompt("msg2");
		await session.compact();
		await session.prompt("msg3");
		expect(sent(4)[0]).toContain("<summary>\nC1\n</summary>");

		await session.prompt("/pop 1");
		expect(session.entries.at(-1)).toMatchObject({
			type: "stack_pop",
			backToIndex: 1,
			prePopSummary: "P1",
			summary: "S1",
		});
		await session.prompt("msg4");
		expect(sent(7)).toEqual(["user: [Summary]\n\nP1", "user: [Summary]\n\nS1", "user: msg4"]);

		await session.compact();
		// The second compaction summarizes the context that the model had.
		expect(sent(8)[0]).toContain("[Summary]\n\nS1");
		expect(sent(8)[0]).not.toContain("msg2");
		await session.prompt("msg5");
		expect(sent(9).join("\n")).toContain("C2");
		expect(sent(9).join("\n")).not.toContain("S1");
		expect(sent(9).at(-1)).toBe("user: msg5");
	});
});

describe("the stacking hook of the draft, unmodified", () => {
	test("pops to the chosen turn and omits the popped entries", async () => {
		const { session, provider, sent } = await startSession({
			hookFiles: [DRAFT_HOOK],
			ui: { select: async <T>(_: string, options: readonly T[]) => options[1] ?? null },
		});
		provider.reply("a1", "a2", "a3");
		await session.prompt("u1");
		await session.prompt("u2");
		expect(await session.prompt("/pop")).toEqual({ kind: "command", status: "Popped stack" });
		await session.prompt("u3");
		// The draft skips excluded entries before it searches them for a summary, so its summary is never sent.
		expect(sent(3)).toEqual(["user: u1", "assistant: a1", "user: u3"]);
	});
});
