import type { ToolCall } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainSummary, readActivities, withFileLists, withoutFileLists } from "../../src/context/summary-text.js";
import { estimateText } from "../../src/context/tokens.js";
import type { AppMessage } from "../../src/log/entry.js";
import { assistantMessage, result, user } from "../helpers/entries.js";

const call = (name: string, args: ToolCall["arguments"]) => ({ id: name, name, arguments: args });

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

test("commands of the user and files that were read again are in the order in which they were last used", () => {
	const messages = [
		assistantMessage("", [
			call("read", { path: "a.ts" }),
			call("read", { path: "b.ts" }),
			call("read", { path: "a.ts" }),
			call("write", { path: "c.ts" }),
			call("edit", { path: "d.ts" }),
			call("write", { path: "c.ts" }),
		]),
		{
			...{ role: "bashExecution" as const, command: "git log", output: "", exitCode: 0, timestamp: 0 },
			...{ cancelled: false, truncated: false },
		},
	];
	expect(readActivities(messages)).toEqual({
		...{ readFiles: ["b.ts", "a.ts"], modifiedFiles: ["d.ts", "c.ts"], commands: ["git log"] },
	});
});

test("calls without a valid path or command, and calls of other tools, are no activities", () => {
	const calls = [
		call("read", { path: " " }),
		call("read", { path: 7 }),
		call("read", { command: "x" }),
		call("bash", { command: "" }),
		call("bash", { path: "x" }),
		call("write", {}),
		call("grep", { path: "x", command: "x" }),
	];
	expect(readActivities([assistantMessage("text", calls)])).toEqual({ readFiles: [], modifiedFiles: [], commands: [] });
});

const activities = (readFiles: string[], modifiedFiles: string[] = []) => ({ readFiles, modifiedFiles, commands: [] });

test("lists of files have the latest that fit, and the number of those omitted", () => {
	const files = Array.from({ length: 10 }, (_, at) => `src/file-${at}.ts`); // 4 tokens each, and one for the line
	expect(withFileLists(" Tea.\n", activities(files), 58)).toBe(
		"Tea.\n\n<files-read>\n(7 earlier omitted)\nsrc/file-7.ts\nsrc/file-8.ts\nsrc/file-9.ts\n</files-read>",
	);
	expect(withFileLists("Tea.", activities([], files.slice(0, 2)), 30)).toBe(
		"Tea.\n\n<files-changed>\nsrc/file-0.ts\nsrc/file-1.ts\n</files-changed>",
	);
	expect(withFileLists("Tea.", activities(files), 1)).toBe("Tea.");
	expect(withFileLists("Tea.", activities([]), 100)).toBe("Tea.");
});

test("all lists of files are removed from a summary, and nothing else", () => {
	const summary = "a\n\n<files-read>\nx\n</files-read>\n\nb\n<files-changed>\ny\nz\n</files-changed>\n";
	expect(withoutFileLists(summary)).toBe("a\n\nb");
	const other = "a\n<files-read>\nx\n</files-changed>";
	expect(withoutFileLists(other)).toBe(other);
});

test("a summary without a model has each text on one line and shortened, the latest first kept", () => {
	const prompts = Array.from({ length: 30 }, (_, at) => user(`prompt\n ${at} ${"x".repeat(60)}`).message);
	const summary = plainSummary(prompts, activities([]), undefined, 400);
	const lines = summary.split("\n");
	expect(lines.slice(0, 2)).toEqual(["## Prompts of the user", "(24 earlier omitted)"]);
	expect(lines.at(-1)).toBe(`- prompt 29 ${"x".repeat(60)}`);
	const long = plainSummary([user("y".repeat(500)).message], activities([]), undefined, 4000);
	expect(long).toBe(`## Prompts of the user\n- ${"y".repeat(400)} …`);
	const exact = plainSummary([user("y".repeat(400)).message], activities([]), undefined, 4000);
	expect(exact).toBe(`## Prompts of the user\n- ${"y".repeat(400)}`);
	const command = plainSummary([], { ...activities([]), commands: [`a\n${"z".repeat(200)}`] }, undefined, 4000);
	expect(command).toBe(`## Commands\n- a ${"z".repeat(158)} …`);
});

test("earlier notes and the last reply with text are shortened to their share", () => {
	const replies = [
		assistantMessage("first"),
		assistantMessage("last ".repeat(400)),
		assistantMessage(" ", [call("ls", {})]),
	];
	const summary = plainSummary(replies, activities([]), "n".repeat(4000), 100);
	expect(summary).toBe(`## Earlier notes\n${"n".repeat(140)} …\n\n## Last reply\n${"last ".repeat(9)}las …`);
	expect(plainSummary([], activities([]), undefined, 100)).toBe("The earlier conversation had no text.");
	expect(plainSummary([], activities([]), "n".repeat(140), 100)).toBe(`## Earlier notes\n${"n".repeat(140)}`);
	expect(plainSummary([], activities([]), "é".repeat(400), 100)).toBe(`## Earlier notes\n${"é".repeat(56)} …`);
});
