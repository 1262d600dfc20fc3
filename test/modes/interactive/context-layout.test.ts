import fc from "fast-check";
import { expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../../src/context/build-context.js";
import type { ContextMessage } from "../../../src/context/context-message.js";
import type { EntrySource } from "../../../src/context/entry-message.js";
import type { SessionEntry } from "../../../src/log/entry.js";
import { ContextLayout } from "../../../src/modes/interactive/context-layout.js";
import { readMarks } from "../../../src/modes/interactive/context-marks.js";
import { createItem, type Item } from "../../../src/modes/interactive/transcript-item.js";
import { NoticeView } from "../../../src/modes/interactive/views/notice-view.js";
import { plainStyle } from "./plain-style.js";
import { messageEntry, reply } from "./script.js";

/** A log of `turns` questions and answers; entry 1 is the first question. */
function log(turns: number): EntrySource {
	const entries: SessionEntry[] = [{ type: "session", version: 1, id: "x", timestamp: "", cwd: "/" }];
	for (let turn = 0; turn < turns; turn++) {
		entries.push(messageEntry({ role: "user", content: `question ${turn}`, timestamp: 0 }));
		entries.push(messageEntry(reply([{ text: `answer ${turn}` }])));
	}
	return { length: entries.length, at: (index) => entries[index] };
}

/** One item per message entry. */
function itemsOf(entries: EntrySource, style = plainStyle()): Item[] {
	return Array.from({ length: entries.length - 1 }, (_, at) => {
		const view = new NoticeView(style, { level: "info", message: `entry ${at + 1}` });
		return createItem(at % 2 === 0 ? "user" : "text", view, style, { entryIndex: at + 1 });
	});
}

/** A hook that replaces the entries of each range with one message. */
function summarize(hook: string, ranges: readonly (readonly [number, number])[]): ContextStage {
	return {
		hook: `/hooks/${hook}.ts`,
		transform: async (messages: readonly ContextMessage[]) => ({
			messages: messages.flatMap((message): ContextMessage[] => {
				const index = message.entryIndex;
				const range = index === null ? undefined : ranges.find(([from, to]) => index >= from && index < to);
				if (!range) return [message];
				if (index !== range[0]) return [];
				return [
					{ message: { role: "user", content: `summary of ${range.join("-")}`, timestamp: 0 }, entryIndex: null },
				];
			}),
		}),
	};
}

/** The layout as lines: mark and first words of each block. */
async function layoutOf(turns: number, stages: ContextStage[], style = plainStyle({ gutter: false })) {
	const entries = log(turns);
	const context = await buildContext(entries, stages);
	const items = itemsOf(entries, style);
	const placed = new ContextLayout(style).place(items, readMarks(context, entries, 1), entries);
	const lines = placed.map(({ block, mark }) => `${mark}: ${block.view.render(200)[0]}`);
	return { placed, items, lines };
}

test("a hidden run collapses after its first prompt and the summary follows", async () => {
	const { lines } = await layoutOf(4, [summarize("stack", [[3, 7]])]);
	expect(lines).toEqual([
		"in: · entry 1",
		"in: · entry 2",
		"out: · entry 3",
		"out: … 3 messages, 19 tokens, hidden by stack",
		"summary: summary of 3-7",
		"in: · entry 7",
		"in: · entry 8",
	]);
});

test("a short hidden run is not collapsed", async () => {
	const { lines } = await layoutOf(2, [summarize("stack", [[1, 3]])]);
	expect(lines).toEqual([
		"out: · entry 1",
		"out: · entry 2",
		"summary: summary of 1-3",
		"in: · entry 3",
		"in: · entry 4",
	]);
});

test("adjacent runs hidden by two hooks are not merged", async () => {
	const { lines } = await layoutOf(6, [summarize("stack", [[1, 5]]), summarize("fold", [[5, 11]])]);
	expect(lines.filter((line) => line.includes("hidden by"))).toEqual([
		expect.stringContaining("3 messages, 19 tokens, hidden by stack"),
		expect.stringContaining("5 messages, 32 tokens, hidden by fold"),
	]);
});

test("a message added by a hook that hides nothing is not shown as a summary", async () => {
	const remind: ContextStage = {
		hook: "/hooks/remind.ts",
		transform: async (messages) => ({
			messages: [...messages, { message: { role: "user", content: "remember", timestamp: 0 }, entryIndex: null }],
		}),
	};
	expect((await layoutOf(1, [remind])).lines).toEqual(["in: · entry 1", "in: · entry 2"]);
});

test("every item is shown or counted, every summary is shown once, and the same context returns the same blocks", async () => {
	const range = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 12 }));
	await fc.assert(
		fc.asyncProperty(fc.array(range, { maxLength: 4 }), fc.boolean(), async (starts, expanded) => {
			const style = plainStyle({ gutter: false, expanded });
			const ranges = starts.map(([from, length]) => [from, from + length] as const);
			const entries = log(12);
			const context = await buildContext(entries, [summarize("stack", ranges)]);
			const items = itemsOf(entries, style);
			const layout = new ContextLayout(style);
			const marks = readMarks(context, entries, 1);
			const placed = layout.place(items, marks, entries);
			const blocks = placed.map(({ block }) => block);
			const counted = blocks
				.map(({ view }) => /^… (\d+) message/.exec(view.render(200)[0] ?? "")?.[1])
				.reduce((sum, count) => sum + Number(count ?? 0), 0);
			expect(items.filter(({ block }) => blocks.includes(block)).length + counted).toBe(items.length);
			expect(placed.filter(({ mark }) => mark === "summary").length).toBe(marks.summaries.length);
			expect(new Set(blocks).size).toBe(blocks.length);
			const shown = items.filter(({ block }) => blocks.includes(block)).map(({ block }) => blocks.indexOf(block));
			expect(shown).toEqual([...shown].sort((a, b) => a - b));
			expect(layout.place(items, marks, entries).map(({ block }) => block)).toEqual(blocks);
		}),
		{ numRuns: 200 },
	);
});
