import { expect, test } from "vitest";
import type { MessageEntry } from "../../src/log/entry.js";
import { describeChangedInput, describeChangedPrompt } from "../../src/log/gate-text.js";
import { user } from "../helpers/entries.js";

test.each<[string, Parameters<typeof describeChangedInput>[0], string]>([
	[
		"a value",
		{ by: ["gate"], from: { command: "rm x" }, to: { command: "ls x" } },
		"changed by gate · command: rm x → ls x",
	],
	["two hooks", { by: ["a", "b"], from: { n: 1 }, to: { n: 2 } }, "changed by a, b · n: 1 → 2"],
	[
		"an added and a removed value",
		{ by: ["a"], from: { x: true }, to: { y: null } },
		"changed by a · x: true → none · y: none → null",
	],
	["a list", { by: ["a"], from: { x: ["p q"] }, to: { x: [] } }, 'changed by a · x: ["p q"] → []'],
	["lines", { by: ["a"], from: { x: "p\n\t q" }, to: { x: "" } }, "changed by a · x: p q → "],
	["a value that JSON does not have", { by: ["a"], from: { x: () => 1 }, to: {} }, "changed by a · x:  → none"],
	[
		"80 and 81 characters",
		{ by: ["a"], from: { x: "p".repeat(80) }, to: { x: "q".repeat(81) } },
		`changed by a · x: ${"p".repeat(80)} → ${"q".repeat(80)}…`,
	],
])("changed arguments are described in one line: %s", (_, changed, expected) => {
	expect(describeChangedInput(changed)).toBe(expected);
});

test.each<[object, ReturnType<typeof describeChangedPrompt>]>([
	[{}, null],
	[{ changedBy: ["gate"] }, null],
	[{ typed: 7, changedBy: ["gate"] }, null],
	[
		{ typed: "hi", changedBy: ["a", 1, "b"] },
		{ by: "changed by a, b", typed: "hi" },
	],
	[{ typed: "" }, { by: "changed by a hook", typed: "" }],
	[
		{ typed: "hi", changedBy: [] },
		{ by: "changed by a hook", typed: "hi" },
	],
	[
		{ typed: "hi", changedBy: "gate" },
		{ by: "changed by a hook", typed: "hi" },
	],
])("the change of a prompt with %j is %j", (fields, expected) => {
	expect(describeChangedPrompt({ ...user("x"), ...fields } as MessageEntry)).toEqual(expected);
});
