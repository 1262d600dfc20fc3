import fc from "fast-check";
import { expect, test } from "vitest";
import { findJsonError } from "../../src/config/json-error.js";

test.each([
	['{"a": 1,}', 1, 9, 'a "," before "}" is not allowed'],
	['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}", found "\\""'],
	["[1, 2,]", 1, 7, 'a "," before "]" is not allowed'],
	["{a: 1}", 1, 2, 'expected a key in double quotes or "}"'],
	["{'a': 1}", 1, 2, 'expected a key in double quotes or "}"'],
	["{\"a\": 'b'}", 1, 7, "expected a value, found a single quote (strings need double quotes)"],
	['{"a" 1}', 1, 6, 'expected ":" after the key'],
	['{"a": tru}', 1, 7, 'expected a value, found "tru"'],
	['{"a": 01}', 1, 7, 'expected a value, found "01"'],
	['{\n// comment\n"a": 1}', 2, 1, "comments are not allowed in JSON"],
	['{"a": "b\n"}', 1, 9, "a string must end on the line it starts on"],
	['{"a": "\\x"}', 1, 8, "a backslash in a string must be written as \\\\"],
	['{"a": "b', 1, 9, "unterminated string"],
	['{\n  "a": {\n', 3, 1, 'unexpected end of file: the "{" in line 2 is not closed'],
	["{} {}", 1, 4, 'unexpected "{" after the end'],
	["", 1, 1, "the file is empty"],
])("the error in %j is at %i:%i", (text, line, column, reason) => {
	expect(findJsonError(text)).toEqual({ line, column, reason });
});

test("errors are found exactly in texts that JSON.parse rejects", () => {
	const parses = (text: string) => {
		try {
			JSON.parse(text);
			return true;
		} catch {
			return false;
		}
	};
	const damaged = fc
		.tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "]", "}", '"', ":", "\\", "1", " ", "e", "-", "\n", "nul"))
		.map(([json, at, insert]) => {
			const place = at % (json.length + 1);
			return json.slice(0, place) + insert + json.slice(place + (at % 3));
		});
	fc.assert(
		fc.property(fc.oneof(fc.json(), damaged, fc.string()), (text) => {
			expect(findJsonError(text) === null).toBe(parses(text));
		}),
		{ numRuns: 3000 },
	);
});

test("deep nesting does not overflow the stack", () => {
	expect(findJsonError("[".repeat(200_000))?.reason).toBe('unexpected end of file: the "[" in line 1 is not closed');
});
