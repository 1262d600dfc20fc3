import { expect, test } from "vitest";
import { EntryBlock } from "../../../../src/modes/interactive/views/entry-block.js";
import { TextView } from "../../../../src/modes/interactive/views/text-view.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { plainStyle } from "../plain-style.js";

const TEXT = Array.from({ length: 200 }, (_, index) => `Paragraph ${index}.`).join("\n\n");

/** The block of a reply that has streamed a text, and how many lines have got a gutter since the last call. */
function streamed(text: string) {
	const theme = createTheme("dark", 0);
	let count = 0;
	const gutterIn = (mark: string) => {
		count += 1;
		return theme.gutterIn(mark);
	};
	const style = plainStyle({ theme: { ...theme, gutterIn } });
	const view = new TextView(style);
	const block = new EntryBlock(view, style);
	view.append(text);
	block.render(80);
	const dressed = () => {
		const before = count;
		count = 0;
		return before;
	};
	return { view, block, dressed };
}

test("the end of a reply costs only the lines that are not final yet", () => {
	const { view, block, dressed } = streamed(`${TEXT}\n\nThe e`);
	expect(dressed()).toBeGreaterThan(400);
	view.append("nd.");
	view.finish(`${TEXT}\n\nThe end.`);
	const lines = block.render(80);
	expect(dressed()).toBeLessThan(10);
	expect(lines).toHaveLength(401);
	expect([lines[0], lines.at(-1)]).toEqual(["▎ Paragraph 0.", "▎ The end."]);
	expect(block.render(80)).toBe(lines);
});

test("a complete text that differs from what has streamed replaces it", () => {
	const { view, block } = streamed(`${TEXT}\n\nThe end.`);
	view.finish(`First.\n\n${TEXT.replace("Paragraph 100", "Another")}`);
	const lines = block.render(80);
	expect(lines.slice(0, 3)).toEqual(["▎ First.", "▎ ", "▎ Paragraph 0."]);
	expect([lines[202], lines.length]).toEqual(["▎ Another.", 401]);
});
