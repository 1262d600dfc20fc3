import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { drawDiff } from "../../../../../src/modes/interactive/views/tools/diff-lines.js";
import { createTheme } from "../../../../../src/tui/theme.js";
import { loadHighlighter } from "../../../../../src/util/highlight.js";
import type { DiffLine } from "../../../../../src/util/read-diff.js";
import { loadWordDiff, wordDiff } from "../../../../../src/util/word-diff.js";

const ROOM = { width: 60, lines: 40, rows: 4 };
const theme = createTheme("dark");

beforeAll(async () => {
	await loadHighlighter();
	await loadWordDiff();
});

const line = (kind: DiffLine["kind"], number: number, text: string): DiffLine => ({
	kind,
	number: String(number),
	text,
});

test("keywords and strings have their colors, plain code that of the change, and changed words are marked", () => {
	const lines = [line("removed", 1, 'const a = f("x");'), line("added", 1, 'const a = f("y");')];
	const [removed = "", added = ""] = drawDiff(lines, ROOM, { theme, words: wordDiff(), language: "ts" });
	const { keyword, string } = theme.code.styles;
	expect(added).toContain(keyword("const"));
	expect(added).toContain(theme.added(" a = "));
	expect(added).toContain(string('"') + theme.added(theme.addedWord("y")) + string('"'));
	expect(removed).toContain(theme.removed(theme.removedWord("x")));
});

test("a token that goes over several lines is known on each of them", () => {
	const lines = [line("context", 1, "/*"), line("added", 2, "return"), line("context", 3, "*/")];
	const [, added] = drawDiff(lines, ROOM, { theme, words: null, language: "ts" });
	expect(added).toContain(theme.code.styles.comment("return"));
});

test("any diff: the colors of a language change no character", () => {
	const kind = fc.constantFrom("added" as const, "removed" as const, "context" as const, "gap" as const);
	const text = fc.oneof(
		fc.string({ unit: "grapheme", maxLength: 90 }),
		fc
			.array(fc.constantFrom("const ", "a", "'", '"', "`", "/*", "*/", "\t", "(", " = 12;"), { maxLength: 12 })
			.map((parts) => parts.join("")),
	);
	const diff = fc.array(fc.tuple(kind, fc.nat({ max: 999 }), text), { maxLength: 12 });
	fc.assert(
		fc.property(diff, fc.constantFrom("ts", "py", "md", "css", "txt"), (parts, language) => {
			const lines = parts.map(([name, number, code]) => line(name, number, code));
			const draw = (colors: string) =>
				drawDiff(lines, ROOM, { theme, words: wordDiff(), language: colors }).map(stripVTControlCharacters);
			expect(draw(language)).toEqual(draw(""));
		}),
	);
});
