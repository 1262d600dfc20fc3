import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { StatusSegments } from "../../../src/modes/interactive/hook-screen/status-segments.js";
import { WidgetArea } from "../../../src/modes/interactive/hook-screen/widget-area.js";

const plain = (text: string) => text;

test("whatever the statuses are, they fit on one line, and the first is always shown", () => {
	const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((value) => value.trim() !== "");
	fc.assert(
		fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 140 }), (texts, width) => {
			const segments = new StatusSegments();
			for (const [rank, value] of texts.entries()) segments.set(String(rank), { rank, text: value });
			const lines = segments.render(width, plain);
			expect(lines).toHaveLength(1);
			expect(visibleWidth(lines[0] ?? "")).toBeLessThanOrEqual(width);
		}),
	);
});

test("twenty statuses are shown in load order as far as they fit, and the others are counted", () => {
	const segments = new StatusSegments();
	for (let rank = 19; rank >= 0; rank--) segments.set(String(rank), { rank, text: `status number ${rank}` });
	expect(segments.render(40, plain)).toEqual(["status number 0 · status number 1 · +18"]);
	expect(segments.render(120, plain)[0]).toMatch(/^status num.* · status num.* · \+1\d$/);
});

test("widgets use at most a third of the rows, and every line is shown or counted", () => {
	const lengths = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.boolean()), { maxLength: 20 });
	fc.assert(
		fc.property(lengths, fc.integer({ min: 1, max: 60 }), (widgets, rows) => {
			const area = new WidgetArea({ rows: () => rows, dim: plain });
			for (const [rank, [length, isBelow]] of widgets.entries()) {
				const view = { render: () => Array.from({ length }, () => "line"), invalidate() {} };
				area.set(String(rank), { rank, placement: isBelow ? "belowEditor" : "aboveEditor", view });
			}
			const lines = [...area.above.render(80), ...area.below.render(80)];
			expect(lines.length).toBeLessThanOrEqual(Math.max(1, Math.floor(rows / 3)));
			expect(area.rows).toBe(lines.length);
			const counted = lines.reduce((sum, line) => sum + Number(/^… (\d+) more/.exec(line)?.[1] ?? 1), 0);
			expect(counted).toBe(widgets.reduce((sum, [length]) => sum + length, 0));
		}),
	);
});
