import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { CustomEntryView, type EntryRenderer } from "../../../../src/modes/interactive/views/custom-entry-view.js";
import { safeLine } from "../../../../src/tui/safe-line.js";
import { HOSTILE_TEXT } from "../hostile.js";
import { plainStyle } from "../plain-style.js";

const ENTRY = { type: "note", timestamp: "2026-01-02T03:04:05.000Z" };

/** A renderer that may return values its type forbids, like hook code. */
function drawnBy(render: () => unknown, width = 60): string[] {
	const renderer: unknown = render;
	if (!isRenderer(renderer)) throw new TypeError("no renderer");
	return new CustomEntryView(plainStyle(), ENTRY, renderer).render(width);
}

function isRenderer(value: unknown): value is EntryRenderer {
	return typeof value === "function";
}

test.each<[string, () => unknown]>([
	["nothing", () => undefined],
	["a number", () => 7],
	["a promise", async () => "text"],
	["an object that draws nothing", () => ({ draw: () => [] })],
])("a renderer that returns %s is reported instead of the entry", (_what, render) => {
	expect(drawnBy(render, 120)).toEqual([
		"✗ entry note cannot be drawn: the renderer returned neither a string nor a component",
	]);
});

test("a component that throws or returns no lines is reported instead of the entry", () => {
	const broken = () => {
		throw new Error("no\u001b[2J data");
	};
	expect(drawnBy(() => ({ render: broken }))).toEqual(["✗ entry note cannot be drawn: no␛[2J data"]);
	expect(drawnBy(() => ({ render: () => "text" }), 120)).toEqual([
		"✗ entry note cannot be drawn: the component's render() did not return an array of lines",
	]);
});

test("the output of a renderer is limited in width and length and contains no control sequence", () => {
	const image = "\x1b_Gi=1,c=1,r=9;\x1b\\ \x1b]1337;File=inline=1:AAAA\x07";
	const lines = [HOSTILE_TEXT, image, 7, null, "line\n".repeat(2000)];
	for (const render of [() => lines.join("\n"), () => ({ render: () => lines })]) {
		const drawn = drawnBy(render, 30);
		expect(drawn.length).toBeLessThanOrEqual(500);
		for (const row of drawn) {
			expect(visibleWidth(row)).toBeLessThanOrEqual(30);
			expect(row.replace(/\x1b\[[\d;]*m/g, "")).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
			expect(safeLine(row, 30)).toBe(row);
		}
	}
});

test.each<[string, (rows: number) => unknown]>([
	["text", (rows) => "row\n".repeat(rows)],
	["a component", (rows) => ({ render: () => Array(rows).fill("row") })],
	["a component with rows in rows", (rows) => ({ render: () => Array(rows / 2).fill("row\nrow") })],
])("of %s with more than 500 rows, the last row says how many are missing", (_what, render) => {
	expect(drawnBy(() => render(500))).toEqual(Array(500).fill("row"));
	expect(drawnBy(() => render(600))).toEqual([...Array(499).fill("row"), "… 101 more lines"]);
});

test("a component is drawn once per width, and its renderer is called again only for a complete redraw", () => {
	const asked: string[] = [];
	const view = new CustomEntryView(plainStyle(), ENTRY, () => {
		asked.push("renderer");
		return { render: (width) => [`${asked.push(`width ${width}`)}`], invalidate: () => {} };
	});
	for (const width of [40, 40, 60, 60]) view.render(width);
	view.invalidate();
	view.render(60);
	expect(asked).toEqual(["renderer", "width 40", "width 60", "renderer", "width 60"]);
});
