import type { ToolCall } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bashTool } from "../../src/tools/bash.js";
import { editTool } from "../../src/tools/edit.js";
import { findTool } from "../../src/tools/find.js";
import { meantCall } from "../../src/tools/foreign-calls.js";
import { grepTool } from "../../src/tools/grep.js";
import { lsTool } from "../../src/tools/ls.js";
import { readTool } from "../../src/tools/read.js";
import type { AnyTool } from "../../src/tools/tool.js";
import { writeTool } from "../../src/tools/write.js";

const TOOLS: readonly AnyTool[] = [readTool, bashTool, editTool, writeTool, grepTool, findTool, lsTool];

const call = (name: string, args: object): ToolCall => ({
	...{ type: "toolCall", id: "c", name, arguments: args as ToolCall["arguments"] },
});
const meant = (name: string, args: object, tools = TOOLS) => {
	const { name: tool, arguments: input } = meantCall(call(name, args), tools);
	return [tool, input];
};

describe("a call whose meaning is plain", () => {
	test.each([
		["Read", { file_path: "a", offset: 3, limit: 9 }, "read", { path: "a", offset: 3, limit: 9 }],
		["read", { file_path: "a" }, "read", { path: "a" }],
		["Write", { file_path: "a", content: "x" }, "write", { path: "a", content: "x" }],
		["edit", { path: "a", old_string: "x", new_string: "y" }, "edit", { path: "a", oldText: "x", newText: "y" }],
		[
			...(["Edit", { file_path: "a", old_string: "x", new_string: "", replace_all: true }, "edit"] as const),
			{ path: "a", oldText: "x", newText: "", replaceAll: true },
		],
		[
			...([
				"MultiEdit",
				{ file_path: "a", edits: [{ old_string: "x", new_string: "y", replace_all: true }] },
				"edit",
			] as const),
			{ path: "a", edits: [{ oldText: "x", newText: "y", replaceAll: true }] },
		],
		[
			"edit",
			{ path: "a", edits: [{ old_string: "x", new_string: "y" }] },
			"edit",
			{ path: "a", edits: [{ oldText: "x", newText: "y" }] },
		],
		["Bash", { command: "ls", description: "List" }, "bash", { command: "ls" }],
		["Bash", { command: "ls", run_in_background: true }, "bash", { command: "ls", background: true }],
		["bash", { cmd: "ls", timeout: 5 }, "bash", { command: "ls", timeout: 5 }],
		["shell", { command: ["bash", "-lc", "ls -l"] }, "bash", { command: "ls -l" }],
		["exec_command", { cmd: "ls" }, "bash", { command: "ls" }],
		[
			...([
				"Grep",
				{ pattern: "x", output_mode: "files_with_matches", "-i": true, "-n": true, head_limit: 5 },
				"grep",
			] as const),
			{ pattern: "x", output: "files", ignoreCase: true, limit: 5 },
		],
		["Glob", { pattern: "**/*.ts", path: "src" }, "find", { pattern: "**/*.ts", path: "src" }],
		["LS", { path: "." }, "ls", { path: "." }],
		["read", { path: "a", file_path: "a" }, "read", { path: "a" }],
	])("%s %j becomes %s", (name, args, tool, input) => {
		expect(meant(name, args)).toEqual([tool, input]);
	});
});

describe("a call is left as it is", () => {
	test.each([
		["that pi's tools can take", "read", { path: "a" }],
		["with two values for one argument", "read", { path: "a", file_path: "b" }],
		["with an argument that no tool of pi has", "Grep", { pattern: "x", multiline: true }],
		["with a directory to run in", "shell", { command: "ls", workdir: "/tmp" }],
		["with a time limit, whose unit differs", "Bash", { command: "ls", timeout: 5000 }],
		["with a list of words, whose quoting is not plain", "shell", { command: ["ls", "-l"] }],
		["of a tool that nobody knows", "apply_patch", { input: "x" }],
		["with a mode that pi does not have", "Grep", { pattern: "x", output_mode: "other" }],
	])("%s", (_, name, args) => {
		expect(meant(name, args)).toEqual([name, args]);
	});

	test("if the tool that it means is not offered, or the session has one of that name", () => {
		expect(meant("Read", { file_path: "a" }, [bashTool])[0]).toBe("Read");
		const own = { ...readTool, name: "Read" } as AnyTool;
		expect(meant("Read", { file_path: "a" }, [...TOOLS, own])).toEqual(["Read", { file_path: "a" }]);
	});
});

test("property: no arguments of any name make it throw, and calls by pi's own names are the same object", () => {
	const names = fc.constantFrom(
		"read",
		"Read",
		"Bash",
		"shell",
		"Edit",
		"Grep",
		"__proto__",
		"constructor",
		"toString",
	);
	fc.assert(
		fc.property(
			names,
			fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("file_path", "edits", "command")), fc.jsonValue()),
			(name, args) => {
				const given = call(name, args);
				const result = meantCall(given, TOOLS);
				expect(meantCall(result, TOOLS)).toEqual(result);
			},
		),
	);
	const own = call("edit", { path: "a", edits: [{ oldText: "x", newText: "y" }] });
	expect(meantCall(own, TOOLS)).toBe(own);
});
