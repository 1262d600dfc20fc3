import fc from "fast-check";
import { expect, test } from "vitest";
import { plainOutput } from "../../src/tools/output.js";
import { OutputWindow } from "../../src/tools/output-window.js";
import { styledOutput } from "../../src/tools/styled-output.js";

const RED = "\x1b[31m";
const END = "\x1b[0m";

test.each([
	["a color", `${RED}red\x1b[0m plain`, `${RED}red${END} plain`],
	["every line stands alone", `${RED}a\nb\n\nc\x1b[m\nd`, `${RED}a${END}\n${RED}b${END}\n\n${RED}c${END}\nd`],
	["an open style ends with the text", `${RED}a`, `${RED}a${END}`],
	[
		"colors with several parameters",
		"\x1b[1;38;5;208mx\x1b[38;2;1;2;3my",
		`\x1b[1;38;5;208mx${END}\x1b[1;38;2;1;2;3my${END}`,
	],
	["one attribute ends, another continues", `\x1b[1;31ma\x1b[39mb`, `\x1b[1;31ma${END}\x1b[1mb${END}`],
	["the 8-bit form", "\x9b32mgreen", `\x1b[32mgreen${END}`],
	["other sequences and controls are removed", `${RED}\x1b[2J\x1b[Ha\x1b]0;title\x07\x07b\x1b[K`, `${RED}ab${END}`],
	["conceal, blink and reverse video are removed", `\x1b[5;7;8;31mx`, `${RED}x${END}`],
	["a line that overwrites itself", `${RED}10%\r\x1b[32m20%\r\n`, `\x1b[32m20%${END}\n`],
	["the color from an overwritten part continues", `${RED}10%\r20%\nx`, `${RED}20%${END}\n${RED}x${END}`],
	["a color after a final carriage return overwrites nothing", `${RED}a\r\x1b[0m`, `${RED}a${END}`],
	["styles without text", `${RED}\x1b[0mplain`, undefined],
	["text without styles", "\x1b[2Kplain", undefined],
])("%s", (_, text, expected) => {
	expect(styledOutput(text, 0, 1000)).toBe(expected);
});

test("the styles of an omitted start continue", () => {
	expect(styledOutput(`${RED}one\ntwo\x1b[0m\nthree`, 4, 1000)).toBe(`${RED}two${END}\nthree`);
	expect(styledOutput(`${RED}abc`, 1, 1000)).toBe(`${RED}bc${END}`);
});

test("a text that would be too long is omitted instead of cut", () => {
	expect(styledOutput(`${RED}red`, 0, 12)).toBe(`${RED}red${END}`);
	expect(styledOutput(`${RED}red`, 0, 11)).toBeUndefined();
});

test("property: without its styles, each end of it is that of the plain output, and each line stands alone", () => {
	const pieces = [
		"\n",
		"\r",
		"\t",
		"\x07",
		RED,
		"\x1b[1m",
		"\x1b[0m",
		"\x1b[39m",
		"\x1b[2K",
		"\x1b]8;;x\x07",
		"\x1b[3",
		"é😀",
	];
	const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 30 });
	fc.assert(
		fc.property(text, fc.nat(10), (parts, skip) => {
			const raw = parts.join("");
			const styled = styledOutput(raw, skip, 10_000);
			if (styled === undefined) return;
			expect(styled.replace(/\x1b\[[\d;]*m/g, "")).toBe(plainOutput(raw).slice(skip));
			for (const line of styled.split("\n")) if (line.includes("\x1b")) expect(line).toMatch(/\x1b\[0m[^\x1b]*$/);
		}),
	);
});

test("a window returns the styles of the lines that it keeps, if they are asked for", () => {
	const window = new OutputWindow();
	window.add(Buffer.from(`${RED}1\n2\n3\n\x1b[0m`));
	const limits = { maxLines: 2, maxBytes: 100 };
	expect(window.cut({ limits, withStyles: true })).toMatchObject({
		text: "2\n3\n",
		styled: `${RED}2${END}\n${RED}3${END}\n`,
	});
	expect(window.cut({ limits })).not.toHaveProperty("styled");
});

test("a window omits styles that would take more than four times the limit", () => {
	const window = new OutputWindow();
	window.add(Buffer.from("\x1b[31mr\x1b[32mg".repeat(10)));
	const limits = { maxLines: 2, maxBytes: 20 };
	expect(window.cut({ limits, withStyles: true })).toMatchObject({ text: "rg".repeat(10) });
	expect(window.cut({ limits, withStyles: true })).not.toHaveProperty("styled");
});
