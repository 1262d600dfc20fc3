import { type ToolCall, validateToolArguments } from "@mariozechner/pi-ai";
import { expect, test } from "vitest";
import { describeInvalidArguments } from "../../src/agent/tool-calls.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";

const EDITS = [{ oldText: "x", newText: "y" }];

test.each([
	["read", { path: "a", offset: "3" }, { path: "a", offset: 3 }],
	["bash", { command: "ls", timeout: 1.5 }, { command: "ls", timeout: 1.5 }],
	["edit", { path: "a", oldText: "x", newText: "" }, { path: "a", oldText: "x", newText: "" }],
	["edit", { path: "a", edits: EDITS }, { path: "a", edits: EDITS }],
	["ls", {}, {}],
])("%s accepts %j", (name, args, expected) => {
	expect(validate(name, args)).toEqual(expected);
});

test.each([
	["read", { path: "a", offset: -1 }],
	["bash", { command: "ls", timeout: 0 }],
	["bash", {}],
	["edit", { path: "a", edits: [{ oldText: "x" }] }],
	["grep", { pattern: "x", context: -1 }],
])("%s rejects %j", (name, args) => {
	expect(() => validate(name, args)).toThrow();
});

test.each([
	["read", {}, "path is missing"],
	["edit", { path: "a", edits: [{ oldText: "x" }] }, "edits.0.newText is missing"],
	["edit", { path: "a", edits: [{}] }, "edits.0.oldText and edits.0.newText are missing"],
	["read", { path: "a", offset: "many" }, "offset: must be integer"],
])("the refusal of %s %j names the argument", (name, args, problem) => {
	let text = "";
	try {
		validate(name, args);
	} catch (error) {
		text = describeInvalidArguments(error);
	}
	expect(text.split("\n").slice(0, 3)).toEqual([`Validation failed for tool "${name}":`, `  - ${problem}`, ""]);
	expect(text).toContain("Received arguments:\n{");
});

function validate(name: string, args: ToolCall["arguments"]): unknown {
	const tool = BUILTIN_TOOLS.find((builtin) => builtin.name === name);
	if (tool === undefined) throw new Error(`no tool ${name}`);
	const call: ToolCall = { type: "toolCall", id: "1", name, arguments: args };
	return validateToolArguments(tool, call);
}
