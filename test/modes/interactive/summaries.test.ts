import { expect, test } from "vitest";
import type { ContextStage } from "../../../src/context/build-context.js";
import { applyRanges, type SummaryRange } from "../../../src/context/ranges.js";
import type { SessionEntry } from "../../../src/log/entry.js";
import { messageEntry, reply, Script, toolResult } from "./script.js";
import { createStage, type Stage, TIMESTAMP } from "./stage.js";

/** A hook that replaces ranges with summaries, like popping and folding. */
function ranges(name: string, stage: { entries: SessionEntry[] }, list: readonly SummaryRange[]): ContextStage {
	return {
		hook: `/home/ada/.pi/agent/hooks/${name}.ts`,
		transform: async () => ({ messages: applyRanges(stage.entries, list) }),
	};
}

/** Entries of turns: a question, a call with its result, an answer; four entries each, the first at index 1. */
function turns(count: number): SessionEntry[] {
	return Array.from({ length: count }, (_, turn) => [
		messageEntry({ role: "user", content: `question ${turn + 1}`, timestamp: 0 }),
		messageEntry(reply([{ id: `c${turn}`, tool: "ls", args: {} }], "toolUse")),
		messageEntry(toolResult(`c${turn}`, "ls", "a\nb", { details: { entries: 2 } })),
		messageEntry(reply([{ text: `answer ${turn + 1}` }])),
	]).flat();
}

const POPPED = { from: 5, to: 9, summary: "Turn 2 was about folding.", id: 1 };
const OUTER = { from: 1, to: 13, summary: "Turns 1 to 3 in one: all of it works.", id: 2 };

async function screenOf(stage: Stage): Promise<string> {
	return (await stage.terminal.text()).trimEnd();
}

test("an outer fold around an inner one replaces both with its own summary", async () => {
	const stage = await createStage({ rows: 40, entries: turns(4) });
	await stage.rebuild([ranges("fold", stage, [POPPED])]);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/fold-in-the-middle.txt");
	await stage.rebuild([ranges("fold", stage, [POPPED, OUTER])]);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/fold-around-a-fold.txt");
	// Undoing the outer fold restores the inner one.
	await stage.rebuild([ranges("fold", stage, [POPPED])]);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/fold-in-the-middle.txt");
});

test("a compaction after a fold hides all earlier entries, including the fold", async () => {
	const compaction = { type: "compaction", timestamp: TIMESTAMP, firstKeptEntryIndex: 13, tokensBefore: 9_000 };
	const stage = await createStage({ rows: 40, entries: turns(4) });
	await stage.rebuild([ranges("fold", stage, [POPPED])]);
	stage.play(new Script(17).entry({ ...compaction, summary: "Three turns of questions." }));
	await stage.rebuild();
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/compaction-after-a-fold.txt");
});

test.each([
	["one fold", [POPPED]],
	["a fold around a fold", [POPPED, OUTER]],
	["two folds side by side", [POPPED, { from: 9, to: 13, summary: "Turn 3.", id: 2 }]],
	["a fold that reaches into another", [POPPED, { from: 8, to: 13, summary: "To the end of turn 3.", id: 2 }]],
	["everything", [{ from: 1, to: 17, summary: "All.", id: 1 }]],
])("a resumed session shows %s unchanged", async (_name, list) => {
	const live = await createStage({ rows: 60, entries: turns(4) });
	await live.rebuild([ranges("fold", live, list)]);
	const left = await screenOf(live);
	const opened = await createStage({ rows: 60, entries: turns(4) });
	const context = await opened.rebuild([ranges("fold", opened, list)]);
	const log = { length: opened.entries.length, at: (index: number) => opened.entries.at(index) };
	opened.transcript.load({ ...opened.source, entries: () => log }, context);
	expect(await screenOf(opened)).toBe(left);
	expect(left).toContain("◆");
});
