import { type ToolCall, validateToolArguments } from "@mariozechner/pi-ai";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { describeInvalidArguments } from "../../src/agent/invalid-arguments.js";
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
		text = describeInvalidArguments(error, toolNamed(name).parameters);
	}
	expect(text.split("\n").slice(0, 3)).toEqual([`Validation failed for tool "${name}":`, `  - ${problem}`, ""]);
	expect(text).toContain("Received arguments:\n{");
});

function validate(name: string, args: ToolCall["arguments"]): unknown {
	return validateToolArguments(toolNamed(name), { type: "toolCall", id: "1", name, arguments: args });
}

function toolNamed(name: string) {
	const tool = BUILTIN_TOOLS.find((builtin) => builtin.name === name);
	if (tool === undefined) throw new Error(`no tool ${name}`);
	return tool;
}

const KIND = Type.Union([Type.Literal("a"), Type.Literal("b")]);

test.each([
	["a union of literals", Type.Object({ kind: KIND }), { kind: "c" }, ['kind: must be one of "a", "b"']],
	["an optional one", Type.Object({ kind: Type.Optional(KIND) }), { kind: "c" }, ['kind: must be one of "a", "b"']],
	["a literal", Type.Object({ kind: Type.Literal("a") }), { kind: "c" }, ['kind: must be "a"']],
	["an enum", Type.Object({ kind: Type.Enum(["a", "b"]) }), { kind: "c" }, ['kind: must be one of "a", "b"']],
	[
		"a list of objects",
		Type.Object({ steps: Type.Array(Type.Object({ kind: KIND })) }),
		{ steps: [{ kind: "a" }, { kind: "c" }] },
		['steps.1.kind: must be one of "a", "b"'],
	],
	[
		"literals or numbers",
		Type.Object({ kind: Type.Union([KIND, Type.Number()]) }),
		{ kind: "c" },
		['kind: must be one of "a", "b"', "kind: must match a schema in anyOf", "kind: must be number"],
	],
	[
		"objects with a literal each",
		Type.Object({
			do: Type.Union([Type.Object({ kind: Type.Literal("a") }), Type.Object({ kind: Type.Literal("b") })]),
		}),
		{ do: { kind: "c" } },
		['do.kind: must be one of "a", "b"', "do: must match a schema in anyOf"],
	],
])("the values that %s allows are named once", (_what, parameters, args, problems) => {
	let text = "";
	try {
		validateToolArguments({ name: "x", description: "", parameters }, { ...CALL, arguments: args });
	} catch (error) {
		text = describeInvalidArguments(error, parameters);
	}
	const [, ...lines] = text.slice(0, text.indexOf("\n\n")).split("\n");
	expect(lines).toEqual(problems.map((line) => `  - ${line}`));
});

const CALL: ToolCall = { type: "toolCall", id: "1", name: "x", arguments: {} };
