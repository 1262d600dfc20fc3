import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CURSOR_MARKER, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { wordWrapLine } from "@mariozechner/pi-tui/dist/components/editor.js";
import fc from "fast-check";
import { afterEach, beforeEach, expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import { libraryPatches } from "../../bin/library-patches.js";

type Measures = { visibleWidth: typeof visibleWidth; wrapTextWithAnsi: typeof wrapTextWithAnsi };

const utils = fileURLToPath(new URL("../../node_modules/@mariozechner/pi-tui/dist/utils.js", import.meta.url));
/** The library's own functions: a path with a query is not on the list of replaced modules. */
const original: Measures = await import(`${utils}?original`);

const style = fc.constantFrom("\x1b[31m", "\x1b[39m", "\x1b[1;38;5;240m", "\x1b[m", "\x1b[0m", "\x1b[4:3m");
const character = fc.constantFrom(..."a ~éß─▎╰⠋…→‘Ω語👍\u0301\t");
const other = fc.constantFrom("\x1b[2K", "\x1b]8;;http://x.y\x07a\x1b]8;;\x07", "\x1b[3", "\u00ad", "\n", "👩‍💻");
const line = fc.array(fc.oneof(character, style, other), { maxLength: 40 }).map((parts) => parts.join(""));

let segmented: MockInstance<Intl.Segmenter["segment"]>;
beforeEach(() => {
	segmented = vi.spyOn(Intl.Segmenter.prototype, "segment");
});
afterEach(() => segmented.mockRestore());

test("the functions under test are not the library's own", () => {
	expect(original.visibleWidth).not.toBe(visibleWidth);
	original.visibleWidth("\x1b[1mbold");
	expect(segmented).toHaveBeenCalledOnce();
});

test("every character has the same width as in the library", () => {
	const wrong: number[] = [];
	let measured = 0;
	for (let code = 0; code <= 0xffff; code += 1) {
		const text = String.fromCharCode(code);
		segmented.mockClear();
		const width = visibleWidth(text);
		if (segmented.mock.calls.length === 0) measured += 1;
		if (width !== original.visibleWidth(text)) wrong.push(code);
	}
	expect(wrong).toEqual([]);
	expect(measured).toBeGreaterThan(1_200);
});

/** Where the library breaks lines in another way: at a space or tab after a style or line break, and at a style after a tab. */
const STYLE_AT_BREAK = /(?:\x1b\[[\d;:]*[mK]|\x07|\n)[ \t]|\t\x1b/;
/** A line that starts with a space, perhaps after styles: the library's own after a line break. */
const STARTS_WITH_SPACE = /^(?:\x1b\[[\d;:]*[mK]|\x07)* /;

test("every line has the same width and line breaks as in the library, which starts some lines with a space", () => {
	fc.assert(
		fc.property(line, fc.integer({ min: 1, max: 20 }), (text, width) => {
			const expected = original.wrapTextWithAnsi(text, width);
			fc.pre(!STYLE_AT_BREAK.test(text) && !expected.slice(1).some((line) => STARTS_WITH_SPACE.test(line)));
			expect(visibleWidth(text)).toBe(original.visibleWidth(text));
			expect(wrapTextWithAnsi(text, width)).toEqual(expected);
		}),
	);
});

test("loading the library creates no segmenter", async () => {
	vi.resetModules();
	const created = vi.spyOn(Intl, "Segmenter");
	onTestFinished(() => created.mockRestore());
	const library = await import("@mariozechner/pi-tui");
	expect(library.visibleWidth("\x1b[1mbold")).toBe(4);
	expect(created).not.toHaveBeenCalled();
});

test("the emoji pattern is parsed when it is first needed", async () => {
	const code = await libraryPatches().patchedSource(utils, readFileSync(utils, "utf8"));
	expect(code?.match(/^.*RGI_Emoji}.*$/gm)).toEqual([expect.stringMatching(/^ +if \(couldBeEmoji\(segment\)/)]);
});

test("a space at a line break is dropped, even if a style ends before it", () => {
	const bold = "\x1b[1mone two\x1b[22m three";
	expect(original.wrapTextWithAnsi(bold, 7)[1]).toBe("\x1b[1m\x1b[22m three");
	expect(wrapTextWithAnsi(bold, 7)).toEqual(["\x1b[1mone two\x1b[22m", "three"]);
	expect(wrapTextWithAnsi("one \x1b[4mtwo\x1b[24m \x1b[1mthree", 7)).toEqual([
		"one \x1b[4mtwo\x1b[24m",
		"\x1b[1mthree",
	]);
});

test.each(["x", "漢", "e\u0301", "👍🏽", "🇩🇪", "👩‍💻", "क्षि"])(
	"a long line of %s is cut between the same characters as in the library",
	(characters) => {
		const text = `a${characters.repeat(400)}`;
		expect(wrapTextWithAnsi(text, 30)).toEqual(original.wrapTextWithAnsi(text, 30));
	},
);

test("the time to wrap a long word grows with its length, not with the square of it", () => {
	const startedAt = performance.now();
	wrapTextWithAnsi("漢字".repeat(40_000), 80);
	expect(performance.now() - startedAt).toBeLessThan(5000);
});

test.each([
	["a line of text", "plain text", 10],
	["styles, which have no width", "\x1b[1m\x1b[38;5;240m▎\x1b[39m bold\x1b[22m", 6],
	["the mark of the cursor", `a${CURSOR_MARKER}b`, 2],
	["links", "\x1b]8;;http://x.y\x07a\x1b]8;;\x07", 1],
	["cleared lines", "\x1b[2Ka", 1],
	["an empty line", "", 0],
	["Chinese, Japanese and Korean", "語カ한！", 8],
	["what pi draws", "…→─–−✗✓▎—┆›↓◆│‹▸∴↵☐☑●○↑←␛▾⋮⇥ℹ•“”◇◂▱▰™€⠼", 39],
])("%s is measured without segmentation", (_, text, width) => {
	expect(visibleWidth(text)).toBe(width);
	expect(segmented).not.toHaveBeenCalled();
});

test.each([
	["rare wide characters", "\ua960", 2],
	["emoji", "👍", 2],
	["combining marks", "e\u0301", 1],
	["tabs", "a\tb", 5],
	["soft hyphens", "a\u00adb", 2],
	["other control sequences", "\x1b[2Ja", 1],
])("%s are measured by the library's own code", (name, text, width) => {
	// The library caches widths, so each text is unique.
	expect(visibleWidth(`${text}${name}`)).toBe(width + name.length);
	expect(segmented).toHaveBeenCalledOnce();
});

test("a character that is wider than the line is a line of its own, and every character is drawn once", () => {
	const wraps = (text: string, width: number) => wordWrapLine(text, width).map((chunk) => chunk.text);
	expect(wraps("a👩‍👩‍👧b", 1)).toEqual(["a", "👩‍👩‍👧", "b"]);
	expect(wraps("漢字", 1)).toEqual(["漢", "字"]);
	expect(wraps("👩‍👩‍👧", 1)).toEqual(["👩‍👩‍👧"]);
	expect(wraps("漢 字", 2)).toEqual(["漢", " ", "字"]);
	const marker = "[paste #1 +20 lines]";
	const chunks = wordWrapLine(`a${marker}漢`, 1, [
		{ segment: "a", index: 0, input: "" },
		{ segment: marker, index: 1, input: "" },
		{ segment: "漢", index: 1 + marker.length, input: "" },
	]);
	expect(chunks.map(({ text }) => text)).toEqual([..."a", ...marker, "漢"]);
});
