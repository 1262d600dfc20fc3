import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { simpleWidth } from "../../src/tui/simple-width.js";

const style = fc.constantFrom("\x1b[31m", "\x1b[39m", "\x1b[1;38;5;240m", "\x1b[m", "\x1b[0m", "\x1b[4:3m");
const character = fc.constantFrom(
	"a",
	" ",
	"~",
	"é",
	"ß",
	"─",
	"▎",
	"╰",
	"⠋",
	"…",
	"→",
	"‘",
	"Ω",
	"語",
	"👍",
	"\u0301",
	"\t",
);

test("of every character it knows it gives the width that pi-tui gives", () => {
	const wrong: number[] = [];
	let known = 0;
	for (let code = 0; code <= 0xffff; code += 1) {
		const text = String.fromCharCode(code);
		const width = simpleWidth(text);
		if (width === -1) continue;
		known += 1;
		if (width !== visibleWidth(text)) wrong.push(code);
	}
	expect(wrong).toEqual([]);
	expect(known).toBeGreaterThan(1_200);
});

test("of every line it knows it gives the width that pi-tui gives", () => {
	fc.assert(
		fc.property(fc.array(fc.oneof(character, style), { maxLength: 40 }), (parts) => {
			const line = parts.join("");
			const width = simpleWidth(line);
			if (width !== -1) expect(width).toBe(visibleWidth(line));
		}),
	);
});

test.each([
	["a line of text", "plain text", 10],
	["styles, which have no width", "\x1b[1m\x1b[38;5;240m▎\x1b[39m bold\x1b[22m", 6],
	["nothing", "", 0],
])("it measures %s", (_, line, width) => {
	expect(simpleWidth(line)).toBe(width);
});

test.each([
	["wide characters", "語"],
	["emoji", "👍"],
	["marks that join the letter before them", "e\u0301"],
	["tabs", "a\tb"],
	["soft hyphens", "a\u00adb"],
	["other control sequences", "\x1b[2Ka"],
	["links", "\x1b]8;;http://x.y\x07a\x1b]8;;\x07"],
	["an unfinished sequence", "a\x1b[3"],
])("it leaves %s to others", (_, line) => {
	expect(simpleWidth(line)).toBe(-1);
});
