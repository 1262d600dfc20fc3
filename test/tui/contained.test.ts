import { CURSOR_MARKER, visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ContainedComponent, type ForeignComponent } from "../../src/tui/contained.js";

function contain(component: ForeignComponent, { maxRows = 10, now = [] as number[] } = {}) {
	const errors: unknown[] = [];
	const view = new ContainedComponent(component, {
		name: "board",
		errorStyle: (text) => text,
		maxRows: () => maxRows,
		onError: (error) => errors.push(error),
		onDraw: (ms) => now.push(ms),
	});
	return { view, errors, now };
}

const fixed = (render: (width: number) => unknown): ForeignComponent => ({
	render: render as () => string[],
	invalidate() {},
});

test("whatever a component returns, each line fits, is one row and has no control sequences except styles", () => {
	const piece = fc.oneof(
		fc.string({ unit: "grapheme", maxLength: 12 }),
		fc.constantFrom(
			"\x1b[31m",
			"\x1b[0m",
			"\x1b[2J",
			"\x1b]0;t\x07",
			"\t",
			"\n",
			"\r",
			"\x07",
			"漢字",
			"👩‍👩‍👧",
			CURSOR_MARKER,
		),
	);
	const line = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
	const output = fc.oneof(
		{ weight: 6, arbitrary: fc.array(line, { maxLength: 14 }) as fc.Arbitrary<unknown> },
		fc.anything(),
	);
	fc.assert(
		fc.property(output, fc.integer({ min: 1, max: 60 }), (given, width) => {
			const { view } = contain(fixed(() => given));
			const lines = view.render(width);
			expect(lines.length).toBeLessThanOrEqual(10);
			for (const drawn of lines) {
				expect(visibleWidth(drawn)).toBeLessThanOrEqual(width);
				const rest = drawn.replace(CURSOR_MARKER, "").replace(/\x1b\[[\d;:]*m/g, "");
				expect(rest).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
			}
		}),
	);
});

test("lines that do not fit are counted", () => {
	const { view } = contain(
		fixed(() => Array.from({ length: 13 }, (_, row) => `row ${row}`)),
		{ maxRows: 3 },
	);
	expect(view.render(40)).toEqual(["row 0", "row 1", "… 11 more lines"]);
});

test("the same failure is reported once in a row, and again after a success", () => {
	let error: Error | null = new Error("no data");
	const { view, errors } = contain(
		fixed(() => {
			if (error) throw error;
			return ["fine"];
		}),
	);
	expect([view.render(40), view.render(40)]).toEqual([["✗ board: no data"], ["✗ board: no data"]]);
	expect(errors).toHaveLength(1);
	error = null;
	expect(view.render(40)).toEqual(["fine"]);
	error = new Error("no data");
	view.render(40);
	expect(errors).toHaveLength(2);
});

test("a component that changes its lines in place is drawn again", () => {
	const lines = ["one"];
	const { view } = contain(fixed(() => lines));
	expect(view.render(40)).toEqual(["one"]);
	lines[0] = "two";
	expect(view.render(40)).toEqual(["two"]);
});

test("a slow component without focus keeps its lines for ten times as long as it drew", async () => {
	let draws = 0;
	let frames = 0;
	const view = new ContainedComponent(
		fixed(() => {
			const end = performance.now() + 20;
			while (performance.now() < end);
			return [`draw ${++draws}`];
		}),
		{
			name: "board",
			errorStyle: (text) => text,
			maxRows: () => 10,
			onError: () => {},
			onDraw: () => {},
			requestRender: () => frames++,
		},
	);
	expect([view.render(40), view.render(40), view.render(40)].flat()).toEqual(["draw 1", "draw 1", "draw 1"]);
	expect(view.render(30)).toEqual(["draw 2"]);
	await expect.poll(() => frames).toBe(1);
	expect(view.render(30)).toEqual(["draw 3"]);
	view.dispose();
});
