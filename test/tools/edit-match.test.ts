import fc from "fast-check";
import { expect, test } from "vitest";
import { applyReplacements, lineAt, planEdits } from "../../src/tools/edit-match.js";

const line = fc.constantFrom("", "a", "  b", "b  ", "“c”", "d\t", "x – y", "\r");
const file = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => lines.join("\n"));

test("property: text copied from a file matches or is ambiguous, and the rest of the file is unchanged", () => {
	fc.assert(
		fc.property(file, fc.nat(40), fc.nat(20), fc.boolean(), (content, from, length, crlf) => {
			const fileText = crlf ? content.replaceAll("\r", "").replaceAll("\n", "\r\n") : content;
			const oldText = fileText.slice(from, from + length).replace(/^\n|\r$/g, "");
			fc.pre(oldText !== "" && fileText.includes(oldText));
			const plan = planEdits(fileText, [{ oldText, newText: "NEW" }]);
			if ("problem" in plan) {
				expect(plan.problem).toMatch(/matches \d+ places/);
				return;
			}
			const [replacement] = plan.replacements;
			expect(replacement).toMatchObject({ text: "NEW", isTolerant: false });
			const at = fileText.indexOf(oldText);
			expect(applyReplacements(fileText, plan.replacements)).toBe(
				`${fileText.slice(0, at)}NEW${fileText.slice(at + oldText.length)}`,
			);
		}),
	);
});

test("property: a tolerant match changes only the lines that it includes", () => {
	fc.assert(
		fc.property(file, fc.nat(11), fc.integer({ min: 1, max: 3 }), (content, first, length) => {
			const lines = content.replaceAll("\r", "").split("\n");
			fc.pre(first < lines.length);
			const plain = (text: string) => text.replace(/[“”]/g, '"').replace(/–/g, "-").trimEnd();
			const oldText = lines
				.slice(first, first + length)
				.map(plain)
				.join("\n");
			const plan = planEdits(lines.join("\n"), [{ oldText, newText: "NEW" }]);
			fc.pre(!("problem" in plan));
			const after = applyReplacements(lines.join("\n"), "problem" in plan ? [] : plan.replacements);
			const [before = "", behind = ""] = after.split("NEW");
			expect(lines.join("\n").startsWith(before)).toBe(true);
			expect(lines.join("\n").endsWith(behind)).toBe(true);
		}),
	);
});

test.each([
	[0, 1],
	[1, 1],
	[2, 2],
	[4, 3],
])("position %i of three lines is on line %i", (position, expected) => {
	expect(lineAt("a\nb\nc", position)).toBe(expected);
});

test("an oldText with very many matches is refused without collecting them all", () => {
	const plan = planEdits("x".repeat(1_000_000), [{ oldText: "x", newText: "y" }]);
	expect(plan).toEqual({ problem: expect.stringMatching(/^oldText matches more than 1000 places \(lines 1, 1, /) });
});
