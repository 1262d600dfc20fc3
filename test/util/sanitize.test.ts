import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collapseCarriageReturns, sanitize, stripAll } from "../../src/util/sanitize.js";
import { anyText } from "../helpers/any-text.js";

/** Text of fragments that break scanners, in any order. */
const nasty = fc
	.array(
		fc.oneof(
			fc.constantFrom(
				"\x1b",
				"\x1b[",
				"\x1b]",
				"\x1b[31m",
				"\x1b[0m",
				"\x1b[8m",
				"\x1b[1;38;5;300;4m",
				"\x1b[m",
				"\x1b[2J",
			),
			fc.constantFrom(
				"\x9b",
				"\x07",
				"\r",
				"\r\n",
				"\n",
				"\t",
				"\u202e",
				"\u2066",
				"m",
				";",
				"12",
				"38;2;1;2;3m",
				"\x7f",
			),
			fc.constantFrom("😀", "\ud83d", "\ude00", "ab", "x".repeat(30), "…"),
			anyText({ maxLength: 8 }),
		),
		{ maxLength: 60 },
	)
	.map((parts) => parts.join(""));

/** Matches text in which every escape character starts an allowed style. */
const ALLOWED_ONLY = /^(?:[^\x1b]|\x1b\[[\d;:]+m)*$/u;

describe("sanitize", () => {
	test.each([
		["plain text with tabs and lines", "a\tb\nc", "a\tb\nc"],
		["colors", "\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"],
		["leading zeros in colors", "\x1b[01;31mred\x1b[00m", "\x1b[1;31mred\x1b[0m"],
		["an empty reset", "\x1b[31mred\x1b[m", "\x1b[31mred\x1b[0m"],
		["256 and true colors", "\x1b[38;5;208ma\x1b[48;2;1;2;3mb\x1b[0m", "\x1b[38;5;208ma\x1b[48;2;1;2;3mb\x1b[0m"],
		["colors with colons", "\x1b[38:2::1:2:3ma\x1b[0m", "\x1b[38:2::1:2:3ma\x1b[0m"],
		["hidden text becomes visible", "\x1b[8msecret\x1b[28m", "secret"],
		["hidden among allowed styles", "\x1b[31;8;5mx\x1b[0m", "\x1b[31mx\x1b[0m"],
		["a malformed color", "\x1b[38;5;999mx", "x"],
		["an underline color is removed with its arguments", "\x1b[58;5;31mx", "x"],
		["an open style is closed", "\x1b[31mred", "\x1b[31mred\x1b[0m"],
		["cursor movement", "\x1b[2Aup", "␛[2Aup"],
		["a window title", "\x1b]0;title\x07after", "␛]0;title^Gafter"],
		["the clipboard", "\x1b]52;c;aGk=\x1b\\", "␛]52;c;aGk=␛\\"],
		["private styles", "\x1b[?25l\x1b[>4;2m", "␛[?25l␛[>4;2m"],
		["C1 characters", "\x9b31m\x9d", "‹U+009B›31m‹U+009D›"],
		["delete, bell, null", "\x7f\x07\0", "^?^G^@"],
		["bidi overrides", "a\u202eb\u2066c", "a‹U+202E›b‹U+2066›c"],
		["Windows line ends", "a\r\nb", "a\nb"],
		["a lone carriage return", "a\rb", "a^Mb"],
		["an escape at the very end", "a\x1b", "a␛"],
	])("%s", (_name, text, expected) => {
		expect(sanitize(text)).toBe(expected);
	});

	test("without a limit, a line of any length stays complete", () => {
		const long = "x".repeat(100_000);
		expect(sanitize(`\x1b[31m${long}\x1b[0m\u0007`)).toBe(`\x1b[31m${long}\x1b[0m^G`);
		expect(stripAll(`${long}\u0007`)).toBe(`${long}^G`);
	});

	test("a long line is truncated and the lines around it are unchanged", () => {
		const long = "x".repeat(50);
		expect(sanitize(`a\n${long}\nb`, { maxLineLength: 10 })).toBe(`a\n${"x".repeat(9)}…\nb`);
		expect(sanitize(`\x1b[31m${long}\n\x1b[32mg`, { maxLineLength: 10 })).toBe(
			`\x1b[31m${"x".repeat(9)}\x1b[0m…\n\x1b[32mg\x1b[0m`,
		);
		expect(sanitize("x".repeat(10), { maxLineLength: 10 })).toBe("x".repeat(10));
	});

	test("truncation never splits a surrogate pair", () => {
		expect(sanitize("😀".repeat(9), { maxLineLength: 10 })).toBe("😀😀😀😀…");
	});

	test("a line of only colors is limited", () => {
		expect(sanitize("\x1b[31m\x1b[32m".repeat(100_000)).length).toBeLessThan(10_000);
	});

	test("only escapes of allowed styles remain, and sanitizing again changes nothing", () => {
		fc.assert(
			fc.property(nasty, fc.constantFrom(4000, 40, 5, 1), (text, maxLineLength) => {
				const once = sanitize(text, { maxLineLength });
				expect(once).toMatch(ALLOWED_ONLY);
				expect(once).not.toMatch(/[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
				expect(sanitize(once, { maxLineLength })).toBe(once);
			}),
			{ numRuns: 2000 },
		);
	});

	test("the number and order of lines is unchanged", () => {
		fc.assert(
			fc.property(nasty, (text) => {
				expect(sanitize(text).split("\n").length).toBe(text.split("\n").length);
			}),
		);
	});

	test.each([
		["escapes", "\x1b"],
		["unfinished titles", "\x1b]"],
		["unfinished colors", "\x1b[1;1;1"],
		["escapes on lines", "\x1b[2J\n"],
		["carriage returns", "\r"],
		["colors", "\x1b[3m\x1b[0mx"],
	])("the time grows linearly with the length: %s", (_name, part) => {
		// Ten times the text may take ten times as long; quadratic work would exceed the time limit.
		expect(sanitize(part.repeat(1_000_000 / part.length)).length).toBeGreaterThan(0);
		expect(stripAll(part.repeat(1_000_000 / part.length))).not.toContain("\x1b");
	});
});

describe("stripAll", () => {
	test("removes colors and shows other control characters", () => {
		expect(stripAll("\x1b[31mred\x1b[0m \x1b[2J")).toBe("red ␛[2J");
	});

	test("leaves no escape character, and stripping again changes nothing", () => {
		fc.assert(
			fc.property(nasty, (text) => {
				const once = stripAll(text);
				expect(once).not.toContain("\x1b");
				expect(stripAll(once)).toBe(once);
			}),
			{ numRuns: 1000 },
		);
	});
});

describe("collapseCarriageReturns", () => {
	test.each([
		["keeps the last state of a progress bar", "10%\r50%\r100%\ndone", "100%\ndone"],
		["keeps a state that was not overwritten", "10%\r50%\r", "50%"],
		["treats CRLF as a line end", "a\r\nb\r\n", "a\nb\n"],
		["does not change other text", "a\nb", "a\nb"],
		["removes carriage returns without text", "\r\r\r", ""],
	])("%s", (_name, text, expected) => {
		expect(collapseCarriageReturns(text)).toBe(expected);
	});
});
