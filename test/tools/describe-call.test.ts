import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tasksTool } from "../../src/features/tasks.js";
import { describeCall } from "../../src/tools/describe-call.js";
import { commandEnd, commandOutput } from "../../src/tools/describe-shell.js";
import type { DescribableCall, Wording } from "../../src/tools/description.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";
import { anyText } from "../helpers/any-text.js";

const roots = { cwd: "/home/ada/shop", home: "/home/ada" };

function described(name: string, args: Record<string, unknown>, details?: unknown, wording: Wording = { roots }) {
	const result = details === undefined ? undefined : { content: [], details };
	return describeCall({ name, args, result }, wording);
}

describe("read", () => {
	test("names the file with the requested lines, then with those that were read", () => {
		expect(described("read", { path: "/home/ada/shop/src/a.ts", offset: 10, limit: 5 })).toEqual({
			kind: "read",
			verb: "Read",
			subject: "src/a.ts:10-14",
			brief: "src/a.ts:10-14",
			paths: [{ path: "/home/ada/shop/src/a.ts", line: 10 }],
			status: [],
		});
		const some = described("read", { path: "~/x" }, { lines: { first: 5, last: 5, total: 9 } });
		expect(some).toMatchObject({ subject: "~/x:5-5", status: ["1 line"], paths: [{ path: "~/x" }] });
		expect(described("read", { path: "/home/ada/x" }, { lines: { first: 1, last: 9, total: 9 } })).toMatchObject({
			subject: "~/x",
			status: ["9 lines"],
		});
	});

	test("counts lines from 1, as the tool does", () => {
		expect(described("read", { path: "a.ts", offset: 0, limit: 5 })).toMatchObject({
			subject: "a.ts:1-5",
			paths: [{ path: "a.ts", line: 1 }],
		});
	});

	test("says the type of an image", () => {
		const content = [{ type: "image" as const, data: "", mimeType: "image/png" }];
		expect(describeCall({ name: "read", args: { path: "a.png" }, result: { content } }).status).toEqual(["image/png"]);
	});
});

test("edit counts the changed lines", () => {
	expect(described("edit", { path: "a.ts", oldText: "x" }, { added: 1, removed: 2 })).toMatchObject({
		kind: "edit",
		verb: "Edit",
		subject: "a.ts",
		paths: [{ path: "a.ts" }],
		status: ["+1 −2"],
	});
});

test.each<[details: object, status: string[]]>([
	[{ created: true, lines: 40 }, ["created", "40 lines"]],
	[{ created: false, lines: 1 }, ["replaced", "1 line"]],
	[{ created: false, lines: 1, added: 1, removed: 1 }, ["+1 −1"]],
	[{ created: false, lines: 1, added: 0, removed: 0 }, ["unchanged"]],
	[{}, ["replaced"]],
])("write with %j says %j", (details, status) => {
	const call = described("write", { path: "a.ts", content: "x" }, details);
	expect(call).toMatchObject({ kind: "edit", verb: "Write", subject: "a.ts", paths: [{ path: "a.ts" }], status });
});

test.each<[args: Record<string, unknown>, details: object, subject: string, status: string[]]>([
	[{ pattern: "round", path: "src" }, { matches: 4, files: 3 }, '"round" in src', ["4 hits, 3 files"]],
	[{ pattern: "a\nb", glob: "*.ts" }, { matches: 1 }, '"a ↵ b" · *.ts', ["1 hit"]],
	[{ pattern: "x", path: "." }, { matches: 0, files: 0 }, '"x"', ["no hits"]],
	[{ pattern: "x", path: roots.cwd }, {}, '"x"', []],
	[{}, {}, "", []],
	[{ path: "src", pattern: 7 }, {}, "in src", []],
])("grep with %j is %s", (args, details, subject, status) => {
	expect(described("grep", args, details)).toMatchObject({ kind: "search", verb: "Search", subject, status });
});

test("find and ls count what they found", () => {
	expect(described("find", { pattern: "*.ts", path: "src" }, { files: 12 })).toMatchObject({
		kind: "search",
		verb: "Find",
		subject: "*.ts in src",
		paths: [{ path: "src" }],
		status: ["12 files"],
	});
	expect(described("find", { pattern: "*.ts" }, { files: 0 }).status).toEqual(["no files"]);
	expect(described("ls", {}, { entries: 1 })).toMatchObject({
		kind: "search",
		verb: "List",
		subject: ".",
		paths: [],
		status: ["1 entry"],
	});
});

describe("bash", () => {
	test("is its command; a row has the first line", () => {
		expect(described("bash", { command: " cd x\nmake\n" })).toEqual({
			kind: "execute",
			verb: "",
			subject: "cd x ↵ make",
			brief: "cd x ↵ +1",
			paths: [],
			status: [],
		});
		expect(described("bash", { command: "cd x\nmake" }, undefined, { lineEnd: " " }).subject).toBe("cd x make");
	});

	test.each<[details: object, status: string[]]>([
		[{ exitCode: 0 }, ["exit 0"]],
		[{ exitCode: null }, ["killed"]],
		[{ exitCode: null, endedBy: "timeout" }, ["timed out"]],
		[{ exitCode: null, endedBy: "abort" }, ["stopped"]],
		[{ exitCode: null, endedBy: "SIGKILL" }, ["killed by SIGKILL"]],
		[{ job: "job-1" }, ["started job-1"]],
		[{}, []],
	])("ended with %j: %j, also after a failure", (details, status) => {
		for (const isError of [false, true]) {
			const call = { name: "bash", args: { command: "x" }, result: { content: [], details, isError } };
			expect(describeCall(call).status).toEqual(status);
		}
	});

	test("the output of a failed command does not repeat how it ended", () => {
		expect(commandOutput("zzz\n\nexit code 3", true)).toBe("zzz");
		expect(commandOutput("exit code 3", false)).toBe("exit code 3");
		expect(commandOutput("(no output)", false)).toBe("");
		expect(commandEnd({})).toBe("");
	});
});

test("jobs names the action and the command", () => {
	expect(described("jobs", { action: "stop", id: "job-1" })).toMatchObject({
		kind: "execute",
		verb: "Background commands:",
		subject: "stop job-1",
	});
	expect(described("jobs", { action: "list" }).subject).toBe("list");
});

test("tasks names the task in progress, or how many there are; arguments of another tool are shown as they are", () => {
	const tasks = [{ text: "look", status: "done" }, { text: "fix\nit", status: "in_progress" }, 7];
	expect(described("tasks", { tasks }, {})).toMatchObject({
		kind: "think",
		verb: "Update the task list:",
		subject: "fix ↵ it",
		status: ["1 of 2 done"],
	});
	expect(described("tasks", { tasks: [{ text: "look" }] }).subject).toBe("1 task");
	expect(described("tasks", { action: "add", count: 2 }, {})).toMatchObject({
		subject: "action=add count=2",
		status: [],
	});
});

test("any other tool is described by its arguments", () => {
	expect(described("deploy", { target: "production", regions: ["eu", "us"], path: "x" }, { lines: 3 })).toEqual({
		kind: "other",
		verb: "deploy",
		subject: 'target=production regions=["eu","us"] path=x',
		brief: 'target=production regions=["eu","us"] path=x',
		paths: [],
		status: [],
	});
});

test("every tool of pi has words", () => {
	const kinds = [...BUILTIN_TOOLS, tasksTool].map(({ name }) => [name, described(name, {}).kind]);
	expect(kinds.filter(([, kind]) => kind === "other")).toEqual([]);
});

test("a failure has no words but those of a command", () => {
	const result = { content: [], details: { created: true, lines: 1, matches: 1, files: 1, entries: 1 }, isError: true };
	for (const name of ["read", "edit", "write", "grep", "find", "ls", "tasks"]) {
		expect(describeCall({ name, args: { tasks: [] }, result }).status).toEqual([]);
	}
});

test("whatever JSON the arguments and details are, each text is one line without control characters", () => {
	const fields = ["path", "command", "pattern", "glob", "offset", "limit", "tasks", "action", "id", "edits", "content"];
	const details = ["lines", "matches", "files", "entries", "created", "added", "removed", "exitCode", "endedBy", "job"];
	const text = fc.oneof(anyText(), fc.constantFrom("a\nb", "\x1b[31mred", "a\r\nb\u2028c", "\t"));
	const value = fc.oneof(text, fc.jsonValue(), fc.array(fc.record({ text, status: text })));
	const recordOf = (names: string[]) => fc.dictionary(fc.oneof(fc.constantFrom(...names), text), value, { maxKeys: 8 });
	const tool = fc.oneof(fc.constantFrom(...BUILTIN_TOOLS.map(({ name }) => name), "tasks"), text);
	const call: fc.Arbitrary<DescribableCall> = fc.record({
		name: tool,
		args: recordOf(fields),
		result: fc.option(
			fc.record({
				content: fc.constant([{ type: "image" as const, data: "", mimeType: "image/\x1bpng\n" }]),
				details: fc.oneof(recordOf(details), fc.jsonValue()),
				isError: fc.boolean(),
			}),
			{ nil: undefined },
		),
	});
	const wording = fc.constantFrom<Wording>({}, { roots }, { roots: { cwd: "", home: "" }, lineEnd: " " });
	fc.assert(
		fc.property(call, wording, (made, how) => {
			const { verb, subject, brief, status } = describeCall(made, how);
			for (const words of [verb, subject, brief, ...status]) {
				expect(words).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
				expect(words.length).toBeLessThan(6000);
			}
		}),
		{ numRuns: 500 },
	);
});
