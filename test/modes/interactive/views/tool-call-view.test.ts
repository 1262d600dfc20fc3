import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { beforeAll, expect, test, vi } from "vitest";
import { ToolCallView } from "../../../../src/modes/interactive/views/tool-call-view.js";
import type { ViewStyle } from "../../../../src/modes/interactive/views/view.js";
import { loadWordDiff } from "../../../../src/util/word-diff.js";
import { anyText } from "../../../helpers/any-text.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../../../helpers/property-blocks.js";
import { HOSTILE_TEXT } from "../hostile.js";
import { plainStyle } from "../plain-style.js";

beforeAll(() => loadWordDiff());

interface Call {
	tool: string;
	args: Record<string, unknown>;
	text?: string;
	details?: unknown;
	isError?: boolean;
}

function finished(
	{ tool, args, text = "", details, isError = false }: Call,
	style: ViewStyle = plainStyle(),
): ToolCallView {
	const view = new ToolCallView(style, tool, args);
	view.start(args);
	view.finish({ content: text ? [{ type: "text", text }] : [], details }, isError);
	return view;
}

/** The head of a call, with the space before the status as one separator. */
function headOf(call: Call): string | undefined {
	return finished(call)
		.render(80)[0]
		?.replace(/(\S) {5,}(?=\S)/g, "$1 | ");
}

const numbered = (count: number) => Array.from({ length: count }, (_, row) => `line ${row + 1}`).join("\n");

test.each<[Call, string]>([
	[
		{ tool: "read", args: { path: "a.ts" }, details: { lines: { first: 1, last: 9, total: 9 } } },
		"read  a.ts | 9 lines",
	],
	[
		{ tool: "read", args: { path: "/home/ada/x.ts" }, details: { lines: { first: 5, last: 5, total: 9 } } },
		"read  ~/x.ts:5-5 | 1 line",
	],
	[
		{ tool: "read", args: { path: "huge.log" }, details: { lines: { first: 1, last: 2000 } } },
		"read  huge.log:1-2000 | 2000 lines",
	],
	[{ tool: "read", args: { path: "a.ts", offset: 10, limit: 5 } }, "read  a.ts:10-14"],
	[{ tool: "read", args: { path: "no.ts" }, text: "no such file", isError: true }, "read  no.ts | failed ✗"],
	[{ tool: "grep", args: { pattern: "x", glob: "*.ts" }, details: { matches: 1 } }, 'grep  "x" · *.ts | 1 hit'],
	[{ tool: "grep", args: { pattern: "x" }, details: { matches: 0, files: 0 } }, 'grep  "x" | no hits'],
	[{ tool: "find", args: { pattern: "*.ts", path: "src" }, details: { files: 12 } }, "find  *.ts in src | 12 files"],
	[{ tool: "ls", args: {}, details: { entries: 1 } }, "ls    . | 1 entry"],
	[
		{ tool: "bash", args: { command: "true" }, details: { exitCode: 0, durationMs: 60 } },
		"bash  true | exit 0 · 0.1 s",
	],
	[{ tool: "bash", args: { command: "cd x\nmake" } }, "bash  cd x ↵ +1"],
	[
		{ tool: "write", args: { path: "a.ts", content: "1\n" }, details: { created: true, lines: 1 } },
		"write  a.ts | created · 1 line",
	],
	[
		{ tool: "write", args: { path: "a.ts", content: "1" }, details: { created: false, lines: 1 } },
		"write  a.ts | replaced · 1 line",
	],
	[{ tool: "tasks", args: { action: "add", count: 2 } }, "tasks  action=add count=2"],
	[{ tool: "tasks", args: { tasks: [{ text: "look", status: "pending" }] } }, "tasks  1 task | 0 of 1 done"],
	[
		{
			tool: "tasks",
			args: { tasks: [{ text: "look", status: "done" }, { text: "fix\n\x1b[2Jit", status: "in_progress" }, 7] },
		},
		"tasks  fix ↵ ␛[2Jit | 1 of 2 done",
	],
])("%j is shown as %s", (call, line) => expect(headOf(call)).toBe(line));

test("arguments of the wrong type are treated as missing", () => {
	for (const tool of ["read", "grep", "find", "ls", "bash", "edit", "write", "other"]) {
		const args = { path: 7, command: null, pattern: ["x"], content: {}, edits: [1, null], offset: "x" };
		expect(finished({ tool, args, details: { lines: 3, diff: 7, exitCode: "x" } }).render(60).length).toBeGreaterThan(
			0,
		);
	}
});

test("a long output shows its end and counts the lines above", () => {
	const call = { tool: "bash", args: { command: "seq" }, text: numbered(40), details: { exitCode: 0, durationMs: 1 } };
	expect(finished(call).render(60).slice(1)).toEqual([
		"│ … 34 lines above · ctrl+o transcript",
		...[35, 36, 37, 38, 39, 40].map((row) => `│ line ${row}`),
	]);
	expect(finished(call, plainStyle({ expanded: true })).render(60)).toHaveLength(41);
});

test("the lines that the result does not contain count too, and an expanded output says where they are", () => {
	const truncation = { truncated: true, totalLines: 10_000, outputLines: 3_000 };
	const details = { exitCode: 0, durationMs: 1, truncation, fullOutputPath: "/tmp/full.log" };
	const note = "[Cut: only the last 3000 of 10000 lines are shown. Full output: /tmp/full.log (use grep).]";
	const call = { tool: "bash", args: { command: "seq" }, text: `${numbered(3_000)}\n\n${note}\n\n[More.]`, details };
	expect(finished(call).render(60).slice(1, 3)).toEqual(["│ … 9996 lines above · ctrl+o transcript", "│ line 2997"]);
	const expanded = finished(call, plainStyle({ expanded: true })).render(60);
	expect(expanded.slice(1, 3)).toEqual(["│ … 7000 lines above · full output: /tmp/full.log", "│ line 1"]);
	expect(expanded.slice(-3)).toEqual(["│ line 3000", "│ ", "│ [More.]"]);
	expect(expanded).toHaveLength(3_004);
});

test("an expanded output that was cut within a line, or not saved, says so", () => {
	const truncation = { truncated: true, totalLines: 1, outputLines: 1 };
	const call = { tool: "bash", args: {}, text: "end of a long line", details: { exitCode: 0, truncation } };
	expect(
		finished(call, plainStyle({ expanded: true }))
			.render(60)
			.slice(1),
	).toEqual(["│ … earlier output · not saved", "│ end of a long line"]);
});

test("a single extra line is shown instead of counted", () => {
	const call = { tool: "bash", args: {}, text: numbered(7) };
	expect(finished(call).render(60)).toHaveLength(8);
});

test("a failed call shows the tool's message", () => {
	const call = {
		tool: "edit",
		args: { path: "a.ts", oldText: "x", newText: "y" },
		text: "oldText not found",
		isError: true,
	};
	expect(finished(call).render(40)).toEqual([expect.stringMatching(/^edit {2}a.ts +failed ✗$/), "│ oldText not found"]);
});

test.each([
	[
		40,
		[
			"bash  sudo ls       blocked by careful ✗",
			"│ changed by careful · command: rm x →",
			"│ sudo ls",
			"│ No sudo in this project.",
		],
	],
	[
		80,
		[
			"bash  sudo ls                                               blocked by careful ✗",
			"│ changed by careful · command: rm x → sudo ls",
			"│ No sudo in this project.",
		],
	],
	[
		120,
		[
			`bash  sudo ls${" ".repeat(87)}blocked by careful ✗`,
			"│ changed by careful · command: rm x → sudo ls",
			"│ No sudo in this project.",
		],
	],
])("a call shows which hook blocked or changed it, at %i columns", (width, lines) => {
	const view = new ToolCallView(plainStyle(), "bash", { command: "rm x" });
	view.start({ command: "rm x" });
	view.changeInput({ by: ["careful"], from: { command: "rm x" }, to: { command: "sudo ls" } });
	view.finish({ content: [{ type: "text", text: "No sudo in this project." }] }, true, "careful");
	expect(view.render(width)).toEqual(lines);
});

test("names and values of hooks cannot draw control sequences", () => {
	const view = new ToolCallView(plainStyle(), "read", { path: "a" });
	view.changeInput({ by: [HOSTILE_TEXT], from: { path: HOSTILE_TEXT }, to: { [HOSTILE_TEXT]: 1 } });
	view.finish({ content: [] }, true, HOSTILE_TEXT);
	for (const line of view.render(60)) {
		expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
		expect(visibleWidth(line)).toBeLessThanOrEqual(60);
	}
});

test("the message of a failed tool is wrapped, so that the hint at its end is visible", () => {
	const text = "staging is locked by ada. Ask her, or wait.";
	expect(finished({ tool: "deploy", args: {}, text, isError: true }).render(30).slice(1)).toEqual([
		"│ staging is locked by ada.",
		"│ Ask her, or wait.",
	]);
});

test.each([
	[
		"a timeout",
		"zzz\n\nTimed out after 5 s; the command and all processes it started were killed.",
		"timeout",
		"timed out · 5.0 s",
	],
	[
		"the user",
		"zzz\n\nAborted by the user; the command and all processes it started were killed.",
		"abort",
		"stopped · 5.0 s",
	],
	["a signal", "zzz\n\nEnded by signal SIGKILL.", "SIGKILL", "killed by SIGKILL · 5.0 s"],
	["an unknown cause", "zzz", undefined, "killed · 5.0 s"],
])("a command that was ended by %s shows that once", (_cause, text, endedBy, status) => {
	const details = { exitCode: null, durationMs: 5000, endedBy };
	const call = { tool: "bash", args: { command: "sleep 9" }, text, details, isError: true };
	expect(finished(call).render(40).slice(1)).toEqual(["│ zzz", `│ ${status}`]);
});

test("a successful command keeps its last line, even if it looks like an error", () => {
	const call = { tool: "bash", args: {}, text: "exit code 1", details: { exitCode: 0 } };
	expect(finished(call).render(40).slice(1)).toEqual(["│ exit code 1"]);
});

test("an expanded call of a custom tool shows its full arguments", () => {
	const call = { tool: "deploy", args: { target: "production", regions: ["eu", "us", "asia"] }, text: "done" };
	expect(finished(call).render(30)).toEqual(["deploy  target=production reg…", "│ done"]);
	expect(
		finished(call, plainStyle({ expanded: true }))
			.render(30)
			.slice(1),
	).toEqual(["│ target=production", '│ regions=["eu","us","asia"]', "│ done"]);
});

test("an edit that finished while the word diff was loading keeps its status when the run ends", async () => {
	vi.resetModules();
	const { ToolCallView: Fresh } = await import("../../../../src/modes/interactive/views/tool-call-view.js");
	const view = new Fresh(plainStyle(), "edit", { path: "a.ts" });
	view.finish({ content: [], details: { diff: "- 1 a\n+ 1 b", added: 1, removed: 1 } }, false);
	expect(view.done).toBe(false);
	view.stop();
	expect(view.render(30)[0]).toMatch(/\+1 −1$/);
});

test("an edit shows its change before it runs, so that the user can decide on a gate's question", () => {
	const args = {
		path: "a.ts",
		edits: [
			{ oldText: "one", newText: "two" },
			{ oldText: "", newText: "three" },
		],
	};
	const view = new ToolCallView(plainStyle(), "edit");
	view.describe("edit", args, true);
	expect(view.render(40)).toEqual(["edit  a.ts", "│ − one", "│ + two", "│ ⋮", "│ + three"]);
	expect(view.done).toBe(false);
});

test("changed lines are shown between the unchanged lines around them, and hunks are separated", () => {
	const diff = "   1 a\n-  2 b\n+  2 B\n   3 c\n ...\n   9 x\n+ 10 y";
	const call = { tool: "edit", args: { path: "a.ts" }, details: { diff, added: 2, removed: 1 } };
	const lines = ["│  1   a", "│  2 − b", "│  2 + B", "│  3   c", "│  ⋮", "│  9   x", "│ 10 + y"];
	expect(finished(call).render(30).slice(1)).toEqual(lines);
	expect(
		finished(call, plainStyle({ expanded: true }))
			.render(30)
			.slice(1),
	).toEqual(lines);
});

test("the change that an edit requests is shown between unchanged lines too", () => {
	const text = (line: string) => `1\n2\n3\n4\n${line}\n6\n7\n8\n9\n`;
	const view = new ToolCallView(plainStyle(), "edit");
	view.describe("edit", { path: "a.ts", oldText: text("five"), newText: text("5") }, true);
	expect(view.render(30).slice(1)).toEqual([
		...["2", "3", "4"].map((line) => `│   ${line}`),
		"│ − five",
		"│ + 5",
		...["6", "7", "8"].map((line) => `│   ${line}`),
	]);
});

test("a write that replaces a file shows what it changes, as an edit does", () => {
	const details = { created: false, lines: 3, diff: "   1 a\n-  2 b\n+  2 B\n   3 c", added: 1, removed: 1 };
	const view = finished({ tool: "write", args: { path: "a.ts", content: "a\nB\nc\n" }, details });
	expect(view.render(30)).toEqual([
		expect.stringMatching(/^write {2}a\.ts +\+1 −1$/),
		"│ 1   a",
		"│ 2 − b",
		"│ 2 + B",
		"│ 3   c",
	]);
	const unknown = finished({ tool: "write", args: { path: "a", content: "x" }, details: { created: false, lines: 1 } });
	expect(unknown.render(30)).toEqual([expect.stringMatching(/^write {2}a +replaced · 1 line$/), "│ 1   x"]);
	const same = { created: false, lines: 1, diff: "", added: 0, removed: 0 };
	expect(finished({ tool: "write", args: { path: "a.ts", content: "a\n" }, details: same }).render(30)).toEqual([
		expect.stringMatching(/^write {2}a\.ts +unchanged$/),
	]);
});

test.each(["edit", "write"])("an expanded %s counts the changed lines that its details do not hold", (tool) => {
	const details = { diff: "- 1 a\n+ 1 b", added: 900, removed: 100 };
	const view = finished({ tool, args: { path: "a.ts" }, details }, plainStyle({ expanded: true }));
	expect(view.render(40).slice(1)).toEqual(["│ 1 − a", "│ 1 + b", "│ … 998 more changed lines"]);
});

test("a long changed line wraps with an indent, and is cut after three rows unless expanded", () => {
	const words = Array.from({ length: 20 }, (_, word) => `word${word}`).join(" ");
	const call = { tool: "edit", args: {}, details: { diff: `- 7 ${words}\n+ 7 short` } };
	expect(finished(call).render(36).slice(1)).toEqual([
		"│ 7 − word0 word1 word2 word3 word4",
		"│     word5 word6 word7 word8 word9",
		"│     word10 word11 word12 word13…",
		"│ 7 + short",
	]);
	expect(finished(call, plainStyle({ expanded: true })).render(36)).toHaveLength(7);
	expect(finished(call).render(16).slice(1)).toEqual(["│ 7 − word0 wor…", "│ 7 + short"]);
});

test("changed words are highlighted in a preview that ends within a change", () => {
	const theme = { ...plainStyle().theme, addedWord: (text: string) => `[${text}]` };
	const rows = [1, 2, 3, 4, 5, 6, 7, 8, 9];
	const side = (sign: string, word: string) => rows.map((row) => `${sign} ${row} keep this ${word}`);
	const diff = [...side("-", "old"), ...side("+", "new")].join("\n");
	const lines = finished({ tool: "edit", args: {}, details: { diff } }, plainStyle({ theme })).render(40);
	expect(lines.slice(10)).toEqual([
		...rows.slice(0, 7).map((row) => `│ ${row} + keep this [new]`),
		"│ … 2 lines below · ctrl+o transcript",
	]);
});

test("changed words within a line are highlighted", () => {
	const style = plainStyle({ themeName: "dark" });
	const diff =
		"- 14   return Math.floor(cents)\n+ 14   return Math.round(cents)\n- 20 gone entirely\n+ 20 something else";
	const theme = plainStyle().theme;
	const marked = plainStyle({
		theme: { ...theme, addedWord: (text) => `[${text}]`, removedWord: (text) => `{${text}}` },
	});
	expect(finished({ tool: "edit", args: {}, details: { diff } }, marked).render(60).slice(1)).toEqual([
		"│ 14 −   return Math.{floor}(cents)",
		"│ 14 +   return Math.[round](cents)",
		"│ 20 − gone entirely",
		"│ 20 + something else",
	]);
	expect(finished({ tool: "edit", args: {}, details: { diff } }, style).render(60)).toHaveLength(5);
});

test("only the beginning of a large streaming file is drawn", () => {
	const view = new ToolCallView(plainStyle(), "write");
	const content = numbered(50_000);
	view.describe("write", { path: "big.txt", content }, false);
	expect(view.render(50)).toEqual([
		"write  big.txt",
		...[1, 2, 3, 4, 5, 6].map((row) => `│ ${row} + line ${row}`),
		"│ … 49994 lines below · ctrl+o transcript",
	]);
});

test("a call without a result at the end of the run is marked as stopped and final", () => {
	const view = new ToolCallView(plainStyle(), "bash", { command: "sleep 9" });
	view.start({ command: "sleep 9" });
	view.stop();
	expect(view.render(40)).toEqual([expect.stringMatching(/^bash {2}sleep 9 +stopped$/)]);
	expect(view.done).toBe(true);
});

test("no line is wider than the screen or contains a control sequence", { timeout: PROPERTY_TIMEOUT_MS }, () => {
	const tool = fc.constantFrom("read", "grep", "find", "ls", "bash", "edit", "write", "other");
	const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constant(HOSTILE_TEXT.slice(0, 900)), anyText());
	fc.assert(
		fc.property(
			tool,
			text,
			text,
			fc.integer({ min: 1, max: 100 }),
			fc.boolean(),
			fc.boolean(),
			(name, a, b, width, expanded, isError) => {
				const args = { path: a, pattern: b, command: a, content: b, oldText: a, newText: b };
				const view = finished({ tool: name, args, text: b, details: { diff: a }, isError }, plainStyle({ expanded }));
				for (const line of view.render(width)) {
					expect(visibleWidth(line)).toBeLessThanOrEqual(width);
					expect(line.replace(/\u001b\[[\d;]*m/g, "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
				}
			},
		),
		propertyRuns(100),
	);
});
