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

test("property: replaceAll changes what String.replaceAll changes, and nothing else", () => {
	fc.assert(
		fc.property(
			fc.string({ unit: fc.constantFrom("a", "b", "\n", " ") }),
			fc.constantFrom("a", "ab", "aa", "b\na"),
			(content, oldText) => {
				fc.pre(content.includes(oldText));
				const plan = planEdits(content, [{ oldText, newText: "NEW", replaceAll: true }]);
				const after = applyReplacements(content, "problem" in plan ? [] : plan.replacements);
				expect(after).toBe(content.replaceAll(oldText, "NEW"));
			},
		),
	);
});

test("replaceAll keeps line endings, and deletes complete lines with their ends", () => {
	const apply = (content: string, oldText: string, newText: string) => {
		const plan = planEdits(content, [{ oldText, newText, replaceAll: true }]);
		return "problem" in plan ? plan.problem : applyReplacements(content, plan.replacements);
	};
	expect(apply("x\r\ny\r\nx\r\n", "x", "1\n2")).toBe("1\r\n2\r\ny\r\n1\r\n2\r\n");
	expect(apply("a\nb\na\na\nc\n", "a", "")).toBe("b\nc\n");
	expect(apply("“a” and “a”\n", '"a"', "b")).toBe("b and b\n");
	expect(apply("abc", "x", "y")).toMatch(/^oldText was not found\./);
});

test("a replaceAll that overlaps another edit is refused by number", () => {
	const edits = [
		{ oldText: "b c", newText: "x" },
		{ oldText: "c", newText: "d", replaceAll: true },
	];
	expect(planEdits("c\na b c\n", edits)).toEqual({
		problem: "Edits 1 and 2 overlap at line 2. Combine them into one edit.",
	});
});
