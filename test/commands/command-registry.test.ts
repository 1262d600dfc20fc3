import { describe, expect, test } from "vitest";
import { BUILTIN_COMMANDS } from "../../src/commands/builtin/index.js";
import {
	FOREIGN_NAMES,
	findCommand,
	isUnlistedCommand,
	paletteItems,
	parseSlashCommand,
	unknownCommandMessage,
} from "../../src/commands/command-registry.js";
import { HookRegistry } from "../../src/hooks/hook-registry.js";

const SOURCES = {
	builtins: BUILTIN_COMMANDS,
	hooks: new HookRegistry([], new Set()),
	templates: [
		{ name: "review", description: "Review the change" },
		{ name: "model", description: "hidden by the built-in" },
	],
	skills: [{ name: "pdf", description: "Work with PDF files" }],
	servers: {
		prompts: [{ name: "docs:ask", description: "Ask the documentation" }],
		isPrompt: (name: string) => name.startsWith("docs:"),
	},
};

describe("parseSlashCommand", () => {
	test.each([
		["/pop", { name: "pop", rest: "" }],
		["/pop 3", { name: "pop", rest: "3" }],
		["/pop  a  b", { name: "pop", rest: " a  b" }],
		["/ask two\nlines", { name: "ask", rest: "two\nlines" }],
		["/ask\nlines", { name: "ask", rest: "\nlines" }],
		["/skill:pdf x", { name: "skill:pdf", rest: "x" }],
		["/read a/b", { name: "read", rest: "a/b" }],
		["/usr/bin/env", null],
		["// comment", null],
		["/ not a command", null],
		["/", null],
		["hello /pop", null],
		["", null],
	])("%j → %j", (text, expected) => {
		expect(parseSlashCommand(text)).toEqual(expected);
	});
});

test("a name finds built-in commands and their aliases before other commands", () => {
	expect(findCommand("model", SOURCES)?.kind).toBe("builtin");
	expect(findCommand("clear", SOURCES)).toMatchObject({ kind: "builtin", command: { name: "new" } });
	expect(findCommand("review", SOURCES)).toEqual({ kind: "template", name: "review" });
	expect(findCommand("skill:pdf", SOURCES)).toEqual({ kind: "skill", name: "pdf" });
	expect(findCommand("docs:later", SOURCES)).toEqual({ kind: "mcp", name: "docs:later" });
	expect(findCommand("nothing", SOURCES)).toBeNull();
});

test("what other agents call a command finds it, unless something here has the name", () => {
	expect(findCommand("cost", SOURCES)).toMatchObject({ kind: "builtin", command: { name: "usage" } });
	expect(findCommand("cost", { ...SOURCES, templates: [{ name: "cost", description: "" }] })?.kind).toBe("template");
	for (const [name, meaning] of FOREIGN_NAMES) {
		expect(isUnlistedCommand(name, SOURCES)).toBe(true);
		if ("command" in meaning) expect(findCommand(name, SOURCES)?.kind).toBe("builtin");
		else
			expect(unknownCommandMessage(name, SOURCES)).toEqual({ message: `Unknown command /${name}`, hint: meaning.hint });
	}
});

test("the palette contains each name once, with its source", () => {
	const items = paletteItems(SOURCES);
	expect(items.filter(({ name }) => name === "model").map(({ origin }) => origin)).toEqual(["built-in"]);
	expect(items.find(({ name }) => name === "review")?.origin).toBe("prompt");
	expect(items.find(({ name }) => name === "skill:pdf")?.origin).toBe("skill");
	expect(items.find(({ name }) => name === "docs:ask")?.origin).toBe("MCP");
});

test("an unknown name produces the nearest names", () => {
	expect(unknownCommandMessage("resum", SOURCES)).toEqual({
		message: "Unknown command /resum",
		hint: expect.stringContaining("/resume"),
	});
});
