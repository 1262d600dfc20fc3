import fc from "fast-check";
import { expect, test } from "vitest";
import { plainSummary, readActivities, withFileLists, withoutFileLists } from "../../src/context/plain-summary.js";
import { estimateText } from "../../src/context/tokens.js";
import type { AppMessage } from "../../src/log/entry.js";
import { assistantMessage, result, user } from "../helpers/entries.js";

const call = (name: string, args: Record<string, unknown>) => ({ id: name, name, arguments: args });

const MESSAGES: AppMessage[] = [
	user("Fix the rounding in checkout.").message,
	assistantMessage("", [call("read", { path: "src/price.ts" }), call("bash", { command: "npm test" })]),
	result("read").message,
	assistantMessage("", [call("edit", { path: "src/price.ts" }), call("write", { path: "notes.md" })]),
	assistantMessage("Rounding is fixed."),
];

test("reads from the tool calls what was read, changed and run, and carries over earlier files", () => {
	expect(readActivities(MESSAGES, { readFiles: ["old.ts", "src/price.ts"], modifiedFiles: ["a.ts"] })).toEqual({
		readFiles: ["old.ts", "src/price.ts"],
		modifiedFiles: ["a.ts", "src/price.ts", "notes.md"],
		commands: ["npm test"],
	});
});

test("ignores file lists of an earlier compaction that are not lists of names", () => {
	const earlier = { readFiles: "x", modifiedFiles: [1, "a.ts"] } as never;
	expect(readActivities([], earlier)).toEqual({ readFiles: [], modifiedFiles: ["a.ts"], commands: [] });
});

test("a summary without a model has the prompts, the commands and the last reply", () => {
	expect(plainSummary(MESSAGES, readActivities(MESSAGES), "The shop sells tea.", 500)).toBe(
		"## Earlier notes\nThe shop sells tea.\n\n## Prompts of the user\n- Fix the rounding in checkout.\n\n" +
			"## Commands\n- npm test\n\n## Last reply\nRounding is fixed.",
	);
});

test("the lists of files follow a summary and can be taken off again", () => {
	const listed = withFileLists("## Goal\nTea.", readActivities(MESSAGES), 200);
	expect(listed).toBe(
		"## Goal\nTea.\n\n<files-changed>\nsrc/price.ts\nnotes.md\n</files-changed>\n\n<files-read>\nsrc/price.ts\n</files-read>",
	);
	expect(withoutFileLists(listed)).toBe("## Goal\nTea.");
});

test("a summary without a model is never empty and never larger than allowed", () => {
	const message = fc.oneof(
		fc.string({ maxLength: 60, unit: "grapheme" }).map((text) => user(text).message),
		fc.nat(3000).map((length) => assistantMessage("word ".repeat(length))),
		fc.string({ maxLength: 300 }).map((command) => assistantMessage("", [call("bash", { command })])),
	);
	fc.assert(
		fc.property(
			fc.array(message, { maxLength: 12 }),
			fc.option(fc.string({ maxLength: 200 }), { nil: undefined }),
			fc.integer({ min: 80, max: 4000 }),
			(messages, previous, maxTokens) => {
				const summary = plainSummary(messages, readActivities(messages), previous, maxTokens);
				expect(summary.trim()).not.toBe("");
				expect(estimateText(summary)).toBeLessThanOrEqual(maxTokens + 40);
			},
		),
	);
});
