import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageEntry, SessionEntry } from "../../src/log/entry.js";
import {
	pastedParts,
	promptOfEntry,
	promptText,
	readSkillPrompt,
	skillPromptText,
	withoutSkill,
} from "../../src/log/prompt-text.js";

const entry = (message: object, more: object = {}) =>
	({ type: "message", timestamp: "", message, ...more }) as unknown as SessionEntry;
const shell = { role: "bashExecution", command: "ls", output: "a\nb" };
const SKILL = {
	name: "release-notes",
	directory: "/home/a/skills/release notes",
	body: "One.\n\nTwo.",
	rest: "for v2",
};

describe("the prompt of a skill", () => {
	test("is read as it was written", () => {
		expect(readSkillPrompt(skillPromptText(SKILL))).toEqual(SKILL);
		expect(skillPromptText({ ...SKILL, rest: "" })).toMatch(/<\/skill>\n\nFollow this skill\.$/);
		const line = fc.string({ maxLength: 20 });
		const rest = fc.string({ maxLength: 20 }).map((text) => text.trim());
		fc.assert(
			fc.property(line, rest, (body, typed) => {
				fc.pre(typed !== "Follow this skill.");
				expect(readSkillPrompt(skillPromptText({ ...SKILL, body, rest: typed }))).toEqual({
					...SKILL,
					body,
					rest: typed,
				});
			}),
			{ seed: 3, numRuns: 200 },
		);
	});

	test("is its command for people", () => {
		expect(withoutSkill(skillPromptText(SKILL))).toBe("/skill:release-notes for v2");
		expect(withoutSkill(skillPromptText({ ...SKILL, rest: "" }))).toBe("/skill:release-notes");
	});

	test.each([
		"",
		"hi",
		'<skill name="',
		'<skill name="x" directory="y">\nwithout an end',
		'<skill name="two words" directory="y">\nbody\n</skill>\n\nrest',
		`before ${skillPromptText(SKILL)}`,
	])("is no other text: %j", (text) => {
		expect([readSkillPrompt(text), withoutSkill(text)]).toEqual([null, text]);
	});
});

test("promptText is what the user typed, whatever hooks and skills made of it", () => {
	const text = (message: object, more?: object) => promptText(entry(message, more) as MessageEntry);
	expect(text({ role: "user", content: "hi" })).toBe("hi");
	expect(text({ role: "user", content: "hi there" }, { typed: "hi" })).toBe("hi");
	expect(text({ role: "user", content: "hi there" }, { typed: 7 })).toBe("hi there");
	expect(text({ role: "user", content: [{ type: "text", text: skillPromptText(SKILL) }] })).toBe(
		"/skill:release-notes for v2",
	);
});

test("promptOfEntry is what the user typed", () => {
	expect(promptOfEntry(entry({ role: "user", content: skillPromptText(SKILL) }))).toBe("/skill:release-notes for v2");
	expect(promptOfEntry(entry(shell))).toBe("!ls");
	expect(promptOfEntry(entry({ ...shell, excludeFromContext: true }))).toBe("!!ls");
	expect([promptOfEntry(undefined), promptOfEntry(entry({ role: "assistant", content: [] }))]).toEqual([
		undefined,
		undefined,
	]);
});

test("pasted parts that the text does not have are ignored", () => {
	const pasted = (value: unknown) => pastedParts(entry({ role: "user", content: "0123456789" }, { pasted: value }));
	const good = { start: 2, end: 5 };
	expect(pasted([good, { start: 5, end: 10 }])).toEqual([good, { start: 5, end: 10 }]);
	const bad = [
		{ start: 4, end: 6 },
		{ start: 7, end: 7 },
		{ start: 8, end: 11 },
		{ start: -1, end: 3 },
		{ start: 6.5, end: 8 },
	];
	expect(pasted([good, ...bad, null, "x", {}])).toEqual([good]);
	expect([pasted(undefined), pasted("all"), pastedParts(undefined)]).toEqual([[], [], []]);
});
