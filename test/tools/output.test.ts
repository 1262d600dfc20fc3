import fc from "fast-check";
import { expect, test } from "vitest";
import {
	announceCut,
	countLines,
	dropControls,
	formatBytes,
	OUTPUT_LIMITS,
	plainOutput,
	truncateHead,
	truncateTail,
} from "../../src/tools/output.js";
import { anyText } from "../helpers/any-text.js";

const limits = { maxLines: 3, maxBytes: 20 };

test.each([
	["", 0],
	["a", 1],
	["a\n", 1],
	["a\nb", 2],
	["\n\n", 2],
])("%j has %i lines", (text, lines) => {
	expect(countLines(text)).toBe(lines);
});

test("a text within the limits is unchanged", () => {
	const untouched = {
		text: "a\nb\n",
		partialLine: false,
		truncation: { truncated: false, truncatedBy: null, totalLines: 2, totalBytes: 4, outputLines: 2, outputBytes: 4 },
	};
	expect(truncateHead("a\nb\n", limits)).toEqual(untouched);
	expect(truncateTail("a\nb\n", limits)).toEqual(untouched);
});

test("of too many lines, the first or the last are kept", () => {
	const sizes = { totalLines: 5, totalBytes: 10, outputLines: 3 };
	expect(truncateHead("1\n2\n3\n4\n5\n", limits)).toEqual({
		text: "1\n2\n3",
		partialLine: false,
		truncation: { truncated: true, truncatedBy: "lines", ...sizes, outputBytes: 5 },
	});
	expect(truncateTail("1\n2\n3\n4\n5\n", limits)).toEqual({
		text: "3\n4\n5\n",
		partialLine: false,
		truncation: { truncated: true, truncatedBy: "lines", ...sizes, outputBytes: 6 },
	});
});

test("of too many bytes, only complete lines are kept", () => {
	const text = "0123456789\n0123456\n0123456789";
	expect(truncateHead(text, limits)).toMatchObject({
		text: "0123456789\n0123456",
		partialLine: false,
		truncation: { truncatedBy: "bytes", outputLines: 2, totalLines: 3 },
	});
	expect(truncateTail(text, limits)).toMatchObject({
		text: "0123456\n0123456789",
		partialLine: false,
		truncation: { truncatedBy: "bytes", outputLines: 2, totalLines: 3 },
	});
});

test("a line that fits exactly without its newline is kept", () => {
	expect(truncateHead(`${"x".repeat(20)}\ny`, limits).text).toBe("x".repeat(20));
	expect(truncateTail(`y\n${"x".repeat(20)}`, limits).text).toBe("x".repeat(20));
});

test("a line longer than the limit is cut between code points", () => {
	expect(truncateHead("€".repeat(100), limits)).toMatchObject({ text: "€".repeat(6), partialLine: true });
	expect(truncateTail("😀".repeat(100), limits)).toMatchObject({ text: "😀".repeat(5), partialLine: true });
	expect(truncateHead(`${"😀".repeat(100)}\nend`, { maxLines: 3, maxBytes: 7 }).text).toBe("😀");
});

test("property: both ends stay within the limits, split no code point and add nothing", () => {
	const text = fc.array(fc.oneof(anyText(), fc.constantFrom("\n", "😀", "é", "\n\n")), {
		maxLength: 40,
	});
	const limit = fc.record({ maxLines: fc.integer({ min: 1, max: 8 }), maxBytes: fc.integer({ min: 4, max: 60 }) });
	fc.assert(
		fc.property(text, limit, (parts, { maxLines, maxBytes }) => {
			const original = parts.join("").toWellFormed();
			for (const cut of [truncateHead, truncateTail]) {
				const { text, truncation } = cut(original, { maxLines, maxBytes });
				expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
				expect(countLines(text)).toBeLessThanOrEqual(maxLines);
				expect(text.isWellFormed()).toBe(true);
				expect(cut === truncateHead ? original.startsWith(text) : original.endsWith(text)).toBe(true);
				expect(truncation).toMatchObject({
					truncated: text !== original,
					totalLines: countLines(original),
					totalBytes: Buffer.byteLength(original),
					outputLines: countLines(text),
					outputBytes: Buffer.byteLength(text),
				});
			}
		}),
	);
});

test("property: a text with short lines is cut to complete lines, and one more would not fit", () => {
	const lines = fc.array(
		fc.string({ maxLength: 10 }).map((line) => line.replaceAll("\n", "")),
		{ maxLength: 30 },
	);
	fc.assert(
		fc.property(lines, (all) => {
			const limits = { maxLines: 5, maxBytes: 50 };
			const { text, truncation } = truncateTail(all.join("\n"), limits);
			if (!truncation.truncated) return;
			const kept = text === "" ? 0 : text.split("\n").length;
			expect(all.slice(all.length - kept).join("\n")).toBe(text);
			const oneMore = all.slice(all.length - kept - 1).join("\n");
			expect(countLines(oneMore) > limits.maxLines || Buffer.byteLength(oneMore) > limits.maxBytes).toBe(true);
		}),
	);
});

test("announceCut states the shown part and how to get the rest", () => {
	const cut = truncateTail("line\n".repeat(5000));
	expect(announceCut("last", cut, "Full output: /tmp/x.")).toBe(
		"[Cut: only the last 2000 of 5000 lines (9.8 KB of 24 KB) are shown. Full output: /tmp/x.]",
	);
	expect(announceCut("first", truncateHead("x".repeat(99), limits), "Narrow it.")).toBe(
		"[Cut: only the first 20 bytes of a line are shown. Narrow it.]",
	);
});

test.each([
	[0, "0 bytes"],
	[1, "1 byte"],
	[1023, "1023 bytes"],
	[1536, "1.5 KB"],
	[OUTPUT_LIMITS.maxBytes, "50 KB"],
	[5 * 1024 * 1024, "5 MB"],
	[5 * 1024 ** 3, "5 GB"],
])("%i bytes are formatted as %s", (bytes, text) => {
	expect(formatBytes(bytes)).toBe(text);
});

test.each([
	["colors", "\x1b[1;31mred\x1b[0m plain", "red plain"],
	["a title and a link", "\x1b]0;title\x07a \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "a link"],
	["cursor moves and character sets", "\x1b[2K\x1b[1Ga\x1b(Bb\x1b7\x1b=c", "abc"],
	["an unfinished title, up to the end of its line", "\x1b]0;never ends\nnext", "\nnext"],
	["all but the last state of a progress bar", " 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"],
	["bell, backspace, NUL and DEL", "a\x07b\bc\0d\x7fe", "abcde"],
	["C1 controls", "a\x9b31mb\x85c", "abc"],
	["no newlines and tabs", "a\tb\n", "a\tb\n"],
])("plainOutput removes %s", (_name, text, expected) => {
	expect(plainOutput(text)).toBe(expected);
});

test("property: plainOutput removes all control characters but newline and tab", () => {
	const hostile = fc.array(
		fc.constantFrom("\x1b", "[", "]", "0", ";", "m", "\x07", "\\", "\r", "\n", "\x9b", "a", "\0"),
	);
	fc.assert(
		fc.property(hostile, (parts) => {
			expect(plainOutput(parts.join(""))).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
		}),
	);
});

test("dropControls keeps the text after an escape character", () => {
	expect(dropControls("\x1b[1mx\0\n\t")).toBe("[1mx\n\t");
});
