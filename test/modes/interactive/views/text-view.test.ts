import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createItem } from "../../../../src/modes/interactive/transcript-item.js";
import { TextView } from "../../../../src/modes/interactive/views/text-view.js";
import { showLinks, withoutLinks } from "../../../../src/tui/links.js";
import { loadHighlighter } from "../../../../src/util/highlight.js";
import { plainStyle } from "../plain-style.js";

beforeAll(() => loadHighlighter());

const word = fc.oneof(
	fc.constantFrom("word", "**bold words**", "_it_", "`code`", "~~no~~", "\\*", "&amp;", "<b>", "1.", "-", "|", "[x]"),
	fc.constantFrom(
		"中文字符和其他的宽字符需要",
		"日本語、テキスト。",
		"עברית",
		"مرحبا بالعالم",
		"👩‍👩‍👧‍👦",
		"🇩🇪",
		"👍🏽",
		"e\u0301",
		"ก็ำ",
		"ﷺ",
	),
	fc.constantFrom("https://example.org/a/very/long/path?with=query&and=more#hash", "<me@example.org>"),
	fc
		.tuple(fc.constantFrom("text", "多い 文字"), fc.constantFrom("http://a.b/c", "javascript:x", "file:///tmp/a b"))
		.map(([text, url]) => `[${text}](<${url}>)`),
	fc.integer({ min: 1, max: 120 }).map((length) => "x".repeat(length)),
	fc.string({ unit: "grapheme", maxLength: 12 }),
);
const line = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(" "));
const block = fc.oneof(
	line,
	fc.tuple(fc.integer({ min: 1, max: 6 }), line).map(([depth, text]) => `${"#".repeat(depth)} ${text}`),
	fc
		.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom("-", "*", "3.", "- [ ]", "- [x]"), line), {
			minLength: 1,
			maxLength: 5,
		})
		.map((items) => items.map(([depth, bullet, text]) => `${"   ".repeat(depth)}${bullet} ${text}`).join("\n")),
	fc.tuple(fc.integer({ min: 1, max: 9 }), fc.array(line, { maxLength: 3 })).map(([columns, rows]) => {
		const row = (cell: string) => `|${` ${cell} |`.repeat(columns)}`;
		return [row("head"), row("---"), ...rows.map((text) => row(text.replaceAll("|", "")))].join("\n");
	}),
	fc
		.tuple(fc.constantFrom("ts", "", "python", "diff"), fc.array(line, { maxLength: 5 }), fc.boolean())
		.map(
			([language, code, closed]) =>
				`\`\`\`${language}\n${code.map((text) => `\t${text}`).join("\n")}\n${closed ? "```" : ""}`,
		),
	line.map((text) => `> ${text}\n>> - ${text}`),
	fc.constantFrom("---", "<div>\nhtml\n</div>", "[ref]: http://ref.example"),
);
const markdown = fc.array(block, { minLength: 1, maxLength: 6 }).map((blocks) => blocks.join("\n\n"));

/** True for a line that fits, closes its last link and contains no control sequences except styles and links. */
function isSafe(row: string, width: number): boolean {
	const openLink = [...row.matchAll(/\x1b\]8;;([^\x07\x1b]*)/g)].at(-1)?.[1] ?? "";
	const text = withoutLinks(row).replace(/\x1b\[[\d;]*m/g, "");
	// The frame closes open styles and links of a cut line.
	const isClosed = openLink === "" || row.includes("…");
	return visibleWidth(row) <= width && isClosed && !/[\x00-\x1f\x7f-\x9f\u202a-\u202e]/.test(text);
}

test("no line of any Markdown is wider than the screen, leaves a link open, or contains other control sequences", () => {
	onTestFinished(() => showLinks(false));
	fc.assert(
		fc.property(
			markdown,
			fc.integer({ min: 1, max: 250 }),
			fc.boolean(),
			fc.boolean(),
			(text, width, links, complete) => {
				showLinks(links);
				const style = plainStyle({ themeName: "dark" });
				const view = new TextView(style);
				const { block: drawn } = createItem("text", view, style);
				if (complete) view.finish(text);
				else view.append(text);
				expect(drawn.render(width).filter((row) => !isSafe(row, width))).toEqual([]);
			},
		),
		{ numRuns: 100 },
	);
});

test("5 000 lines of code are drawn completely, and a second time from the cache", () => {
	const style = plainStyle();
	const view = new TextView(style);
	view.finish(`\`\`\`ts\n${"const value = 1;\n".repeat(5_000)}\`\`\``);
	const { block: drawn } = createItem("text", view, style);
	const lines = drawn.render(80);
	expect(lines).toHaveLength(5_001);
	expect(drawn.render(80)).toBe(lines);
});
