import fc from "fast-check";
import { expect, test } from "vitest";
import { parseGlob } from "../../src/tools/glob.js";

test.each([
	["*.ts", "a.ts", true],
	["*.ts", "deep/down/a.ts", true],
	["*.ts", "a.tsx", false],
	["src/*.ts", "src/a.ts", true],
	["src/*.ts", "src/b/a.ts", false],
	["src/*.ts", "lib/src/a.ts", false],
	["**/*.ts", "a.ts", true],
	["**/*.ts", "x/y/a.ts", true],
	["src/**/a.ts", "src/a.ts", true],
	["src/**/a.ts", "src/x/y/a.ts", true],
	["src/**", "src/x/y", true],
	["src/**", "lib/x", false],
	["**/test/**/*.ts", "a/test/b/c/d.ts", true],
	["./src/*.ts", "src/a.ts", true],
	["/src/*.ts", "src/a.ts", true],
	["a?c", "abc", true],
	["a?c", "ac", false],
	["[a-c]x", "bx", true],
	["[!a-c]x", "bx", false],
	["[]]x", "]x", true],
	["*.{ts,js}", "a.js", true],
	["*.{ts,js}", "a.css", false],
	["{a,b{c,d}}.x", "bd.x", true],
	["a{b", "a{b", true],
	["\\*.ts", "*.ts", true],
	["\\*.ts", "a.ts", false],
	["[ab", "[ab", true],
	["*", ".hidden", true],
	["ü*", "über", true],
	["?", "😀", true],
])("%s on %s: %s", (pattern, path, expected) => {
	expect(parseGlob(pattern).matches(path)).toBe(expected);
});

test("namePatterns lists patterns for the file name, or is null if any name may match", () => {
	expect(parseGlob("src/*.{ts,js}").namePatterns).toEqual(["*.ts", "*.js"]);
	expect(parseGlob("src/**").namePatterns).toBeNull();
	expect(parseGlob("src/*").namePatterns).toBeNull();
	expect(parseGlob("[ab].ts").namePatterns).toBeNull();
});

test("a pattern designed for backtracking is matched quickly", () => {
	expect(parseGlob(`${"*a".repeat(40)}b`).matches("a".repeat(250))).toBe(false);
	expect(parseGlob(`${"**/a/".repeat(30)}b`).matches("a/".repeat(200))).toBe(false);
	expect(parseGlob("{a,b}".repeat(40)).matches("a".repeat(40))).toBe(true);
});

test("property: an escaped path matches itself", () => {
	const part = fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replace(/[/\n]/g, "_"));
	fc.assert(
		fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
			const path = parts.join("/");
			fc.pre(!parts.includes("."));
			expect(parseGlob(path.replace(/[\\*?[\]{},]/g, "\\$&")).matches(path)).toBe(true);
		}),
	);
});
