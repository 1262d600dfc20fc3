import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { drawMarkdown } from "../../src/tui/draw-markdown.js";
import { StreamingMarkdown } from "../../src/tui/streaming-markdown.js";
import { createTheme } from "../../src/tui/theme.js";
import { loadHighlighter } from "../../src/util/highlight.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";

const theme = createTheme("dark");

beforeAll(() => loadHighlighter());

/** The lines of the complete text, drawn by one component. */
function oneShot(text: string, width: number): string[] {
	const source = text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
	return shown(drawMarkdown(source, width, theme));
}

/** Treats blank lines only as no lines: for definitions alone pi-tui draws one the first time and none later. */
function shown(lines: string[]): string[] {
	return lines.join("") === "" ? [] : lines;
}

test("a flood before the first frame is drawn as it arrives if the width is known", () => {
	let drawn = 0;
	const heading = (text: string) => {
		drawn += 1;
		return theme.markdown.heading(text);
	};
	const counting = { ...theme, markdown: { ...theme.markdown, heading } };
	const text = `# Title\n\n${"word ".repeat(300)}\n\nThe end`;
	const view = new StreamingMarkdown(counting, { width: 40 });
	view.append(text);
	const before = drawn;
	expect(before).toBeGreaterThan(0);
	const plain = new StreamingMarkdown(theme);
	plain.append(text);
	expect(view.render(40)).toEqual(plain.render(40));
	expect(drawn).toBe(before);
	expect(view.render(60)).toEqual(plain.render(60));
});

/** Appends the text in chunks and draws after each one. */
function stream(text: string, cuts: readonly number[], width: number) {
	const view = new StreamingMarkdown(theme, { tailRows: () => 10 });
	let settled: string[] = [];
	let start = 0;
	for (const cut of [...cuts].sort((a, b) => a - b)) {
		view.append(text.slice(start, cut));
		start = cut;
		const lines = view.render(width);
		expect(lines.slice(0, settled.length)).toEqual(settled);
		settled = lines.slice(0, view.settledLines);
	}
	view.append(text.slice(start));
	view.finish(text);
	const lines = view.render(width);
	expect(lines.slice(0, settled.length)).toEqual(settled);
	return shown(lines);
}

const words = fc.array(
	fc.constantFrom("word", "**bold**", "*it*", "`a[0]`", "[link](http://x.y)", "[ref]", "1.", "-", "✓"),
	{
		minLength: 1,
		maxLength: 14,
	},
);
const line = words.map((list) => list.join(" "));
const block = fc.oneof(
	line,
	line.map((text) => `## ${text}`),
	fc.array(line, { minLength: 1, maxLength: 4 }).map((items) => items.map((item) => `- ${item}`).join("\n")),
	fc
		.array(line, { minLength: 1, maxLength: 3 })
		.map((items) => items.map((item, i) => `${i + 1}. ${item}`).join("\n\n")),
	fc
		.tuple(
			fc.constantFrom("js", "", "python", "nonsense"),
			fc.array(line, { maxLength: 14 }),
			fc.constantFrom("```", "~~~~"),
		)
		.map(([language, code, fence]) => `${fence}${language}\n${code.join("\n\n  ")}\n${fence}`),
	fc
		.array(line, { minLength: 1, maxLength: 3 })
		.map((rows) => `| a | b |\n|---|---|\n${rows.map((row) => `| ${row} | x |`).join("\n")}`),
	line.map((text) => `> ${text}\n> more`),
	line.map((text) => `- item\n\n  \`\`\`js\n  ${text}\n\n  x\n  \`\`\``),
	line.map((text) => `    ${text}\n\n    more code`),
	fc.constantFrom("---", "<div>\nhtml\n</div>", "[ref]: http://ref.example", "<!-- a\n\nb -->", "~~gone~~"),
);
const markdown = fc
	.array(fc.tuple(block, fc.constantFrom("\n", "\n\n", "\n\n\n", "\n \n")), { minLength: 1, maxLength: 12 })
	.map((parts) => parts.map(([text, gap]) => text + gap).join(""));

test(
	"the finished lines equal those of the complete text, however it is split",
	() => {
		fc.assert(
			fc.property(
				markdown.chain((text) =>
					fc.tuple(
						fc.constant(text),
						fc.array(fc.nat({ max: text.length }), { maxLength: 30 }),
						fc.integer({ min: 12, max: 90 }),
					),
				),
				([text, cuts, width]) => {
					expect(stream(text, cuts, width)).toEqual(oneShot(text, width));
				},
			),
			{ ...propertyRuns(100), examples: [[["```\n\n```\n", [], 12]]] },
		);
	},
	PROPERTY_TIMEOUT_MS,
);

test("long chunks between two frames end with the lines of the complete text", () => {
	fc.assert(
		fc.property(
			fc.array(markdown, { minLength: 20, maxLength: 30 }),
			fc.integer({ min: 12, max: 90 }),
			(parts, width) => {
				const text = parts.join("\n\n");
				const view = new StreamingMarkdown(theme, { tailRows: () => 10 });
				let settled: string[] = [];
				for (let at = 0; at < text.length; at += 1_500) {
					view.append(text.slice(at, at + 1_500));
					// Lines drawn between frames count as final from the next frame on.
					expect(view.settledLines).toBe(settled.length);
					if (at % 9_000 !== 0) continue;
					const lines = view.render(width);
					expect(lines.slice(0, settled.length)).toEqual(settled);
					settled = lines.slice(0, view.settledLines);
				}
				view.finish(text);
				expect(view.render(width)).toEqual(oneShot(text, width));
			},
		),
		{ numRuns: 8 },
	);
});

test("a late definition resolves the references above it", () => {
	const text = "see [the docs][d] here\n\nmore\n\n[d]: http://docs.example\n\nend";
	expect(stream(text, [10, 30, 40], 60)).toEqual(oneShot(text, 60));
	expect(stream(text, [10, 30, 40], 60)[0]).toContain("http://docs.example");
});

test("an open code block shows its last rows, a closed one all rows", () => {
	const view = new StreamingMarkdown(theme, { tailRows: () => 4 });
	const code = Array.from({ length: 50 }, (_, index) => `step ${index}`).join("\n");
	view.append(`here:\n\`\`\`\n${code}\n`);
	expect(view.render(40).map((text) => text.trim())).toEqual(["here:", "", "step 46", "step 47", "step 48", "step 49"]);
	expect(view.settledLines).toBe(2);
	view.append("```\n\ndone\n");
	expect(view.render(40)).toHaveLength(2 + 50 + 1 + 1);
});

test("a code block too long for the Markdown component is drawn", () => {
	const view = new StreamingMarkdown(theme);
	view.append(`\`\`\`js\n${"let x = 1;\n".repeat(300_000)}\`\`\`\n`);
	view.finish();
	expect(view.render(40)).toHaveLength(300_001);
});

test("a long open code block costs a frame no more than a short one", () => {
	const view = new StreamingMarkdown(theme, { tailRows: () => 5 });
	view.append("```js\n");
	let longest = 0;
	for (let index = 0; index < 2_000; index += 1) {
		view.append(`const value${index} = ${index};\n`);
		longest = Math.max(longest, view.render(60).length);
	}
	expect(longest).toBe(5);
});

test("control sequences become visible, also when they are split", () => {
	const view = new StreamingMarkdown(theme);
	view.append("a \x1b");
	view.render(40);
	view.append("]52;c;AAAA\x07 b\x1b[2");
	view.render(40);
	view.append("J c \u202e d \x1b[31");
	view.append("mred\x1b[0m");
	view.finish();
	const text = view.render(60).join("\n");
	expect(text).toBe("a ␛]52;c;AAAA^G b␛[2J c ‹U+202E› d red");
});

test("the full text replaces different deltas", () => {
	const view = new StreamingMarkdown(theme);
	view.append("one\n\ntwo\n\nthr");
	view.render(40);
	view.finish("other\n\ntext");
	expect(view.render(40)).toEqual(["other", "", "text"]);
});
