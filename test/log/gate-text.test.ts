import { expect, test } from "vitest";
import type { ApprovalEntry, MessageEntry } from "../../src/log/entry.js";
import { describeApproval, describeChangedInput, describeChangedPrompt } from "../../src/log/gate-text.js";
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

test.each<[Partial<ApprovalEntry>, string]>([
	[{ allowed: true }, "gate asked: Run it? → yes"],
	[{ allowed: true, choice: "Yes, for this session" }, "gate asked: Run it? → yes, for this session"],
	[{ allowed: true, choice: "Yes, always", rule: "git push *" }, "gate asked: Run it? → yes, always: git push *"],
	[{ allowed: false }, "gate asked: Run it? → no"],
	[{ allowed: false, message: "not on main" }, "gate asked: Run it? → no: not on main"],
])("an approval %j is one line", (fields, line) => {
	const entry = {
		type: "approval",
		timestamp: "",
		toolCallId: "c1",
		question: "Run it?",
		by: "gate",
		allowed: true,
	} as const;
	expect(describeApproval({ ...entry, ...fields })).toBe(line);
});
