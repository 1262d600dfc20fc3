import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ContextStage } from "../../../src/context/build-context.js";
import type { ContextMessage } from "../../../src/context/context-message.js";
import { HOSTILE_TEXT } from "./hostile.js";
import { messageEntry, reply, Script, toolResult } from "./script.js";
import { createStage, type Stage, TIMESTAMP } from "./stage.js";

const FAILING_TEST = [
	...Array.from({ length: 38 }, (_, row) => `  ✓ case ${row}`),
	"  ✗ rounds half up  expected 10.13, got 10.12",
	"1 failed",
].join("\n");
const DIFF = [
	"  13 export function price(cents) {",
	"- 14   return Math.floor(cents) / 100",
	"+ 14   return Math.round(cents) / 100",
	"  15 }",
].join("\n");

/** The turn that most tests look at: a question, lookups, a failing command, an edit, an answer. */
function playTurn(stage: Stage, script = new Script()): Script {
	const read = { path: "src/price.ts", offset: 1, limit: 80 };
	const grep = { pattern: "round", path: "src" };
	const bash = { command: "npm test -- price" };
	const edit = { path: "/home/ada/src/shop/src/price.ts", oldText: "floor", newText: "round" };
	stage.play(
		{ type: "agent_start" },
		...script.user("why does checkout round down?"),
		...script.reply(
			[
				{ thinking: "The price code probably floors.\nThe test will tell." },
				{ text: "I'll look at the price code and its test." },
				{ id: "c1", tool: "read", args: read },
				{ id: "c2", tool: "grep", args: grep },
				{ id: "c3", tool: "bash", args: bash },
				{ id: "c4", tool: "edit", args: edit },
			],
			{ stop: "toolUse" },
		),
		...script.tool("c1", "read", read, "code", { lines: { first: 1, last: 80, total: 120 } }),
		...script.tool("c2", "grep", grep, "hits", { matches: 4, files: 3 }),
		...script.tool("c3", "bash", bash, `${FAILING_TEST}\nexit code 1`, { exitCode: 1, durationMs: 2400 }, true),
		...script.tool("c4", "edit", edit, "ok", { diff: DIFF, added: 1, removed: 1 }),
		...script.reply([{ text: "`Math.floor` cut the half cent. Fixed; the test passes." }]),
		{ type: "agent_end", messages: [] },
	);
	return script;
}

/** A hook that puts a summary in place of the messages of entries 1 to `end` - 1, as `/pop` does. */
function popHook(end: number, summary: string): ContextStage {
	return {
		hook: "/home/ada/.pi/agent/hooks/stack.ts",
		transform: async (messages: readonly ContextMessage[]) => ({
			messages: [
				{ message: { role: "user", content: `[Summary]\n\n${summary}`, timestamp: 0 }, entryIndex: null },
				...messages.filter(({ entryIndex }) => entryIndex === null || entryIndex >= end),
			],
		}),
	};
}

test.each([
	[40, 60],
	[80, 40],
	[120, 40],
])("a turn shows prompt, thinking, calls with their outcome and the answer at %i columns", async (columns, rows) => {
	const stage = await createStage({ columns, rows });
	playTurn(stage);
	await expect(await stage.terminal.text()).toMatchFileSnapshot(`../../screens/turn-${columns}.txt`);
});

test("without the gutter the lines begin at the left edge", async () => {
	const stage = await createStage({ rows: 40, gutter: false });
	playTurn(stage);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/turn-without-gutter.txt");
});

test("without colours a mark tells the user's words from the model's", async () => {
	const stage = await createStage({ rows: 40, theme: "plain" });
	playTurn(stage);
	expect(await stage.terminal.screen()).toContain("▎ › why does checkout round down?");
});

test("expanding shows whole outputs, the context of diffs and scripts, and collapsing takes them back", async () => {
	const stage = await createStage({ rows: 80 });
	playTurn(stage);
	const before = await stage.terminal.text();
	stage.transcript.toggleExpanded();
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/turn-expanded.txt");
	stage.transcript.toggleExpanded();
	expect(await stage.terminal.text()).toBe(before);
});

test("thinking is one line until it is asked for", async () => {
	const stage = await createStage({ rows: 40 });
	playTurn(stage);
	expect(await stage.terminal.text()).not.toContain("The test will tell.");
	stage.transcript.toggleThinking();
	expect(await stage.terminal.screen()).toEqual(
		expect.arrayContaining(["▎ The price code probably floors.", "▎ The test will tell."]),
	);
});

test("a running command shows the end of its output, and the status line says what goes on", async () => {
	const stage = await createStage();
	const script = new Script();
	const bash = { command: "npm test" };
	stage.play(
		{ type: "agent_start" },
		...script.user("test it"),
		...script.reply([{ id: "c1", tool: "bash", args: bash }], { stop: "toolUse" }),
		script.toolStart("c1", "bash", bash),
		script.toolOutput("c1", "bash", bash, "50%\r100%\nstep 1\nstep 2"),
	);
	stage.now(3200);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/running.txt");
	stage.play(...script.toolEnd("c1", "bash", "done", { exitCode: 0, durationMs: 3200 }), {
		type: "agent_end",
		messages: [],
	});
	expect(await stage.terminal.screen()).toEqual([
		expect.stringContaining("pi 0.1.0"),
		"",
		"▎ test it",
		"▎",
		expect.stringMatching(/^▎ bash {2}npm test +exit 0 · 3.2 s$/),
		"▎ │ done",
	]);
});

test("a failed request says what to do next", async () => {
	const stage = await createStage({ rows: 30 });
	const script = new Script();
	stage.play(
		{ type: "agent_start" },
		...script.user("hi"),
		...script.reply([{ text: "Half an ans" }], { stop: "error", error: "401 invalid x-api-key" }),
		{ type: "agent_end", messages: [] },
		{ type: "agent_start" },
		...script.user("again"),
		...script.reply([{ text: "Well" }], { stop: "aborted" }),
		{ type: "agent_end", messages: [] },
		{ type: "hook_error", hookPath: "/x/hooks/stack.ts", event: "context", error: "boom" },
		{ type: "notice", level: "info", message: "copied" },
		{ type: "notice", level: "warning", message: "the file was changed\nby someone else" },
	);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/errors.txt");
});

test("a reply that breaks off and is asked for again stays to be read, but out of the context", async () => {
	const stage = await createStage({ rows: 30 });
	const script = new Script();
	const broken = reply([{ text: "Half an ans" }, { id: "c1", tool: "bash", args: { command: "ls" } }]);
	const retry = {
		type: "auto_retry_start",
		attempt: 1,
		maxAttempts: 3,
		delayMs: 4000,
		errorMessage: "terminated",
	} as const;
	stage.play(
		{ type: "agent_start" },
		...script.user("hi"),
		...script.replyStart(broken),
		...script.updates(broken),
		retry,
	);
	expect(await stage.terminal.text()).toContain(
		"retry 1/3 in 4 s · the connection broke within the reply · esc cancels",
	);
	stage.play(...script.reply([{ text: "A whole answer." }]), { type: "agent_end", messages: [] });
	await stage.terminal.settle();
	const redraws = stage.tui.fullRedraws;
	await stage.rebuild();
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/retried.txt");
	expect(stage.tui.fullRedraws).toBe(redraws);
});

test("escape during the wait for another try leaves the reply as it is", async () => {
	const stage = await createStage({ rows: 30 });
	const script = new Script();
	const broken = reply([{ text: "Half an ans" }], "aborted", "terminated");
	stage.play(
		{ type: "agent_start" },
		...script.user("hi"),
		...script.replyStart(broken),
		...script.updates(broken),
		{ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 4000, errorMessage: "terminated" },
		{ type: "auto_retry_end", success: false, attempt: 1, finalError: "terminated" },
		script.replyEnd(broken),
		{ type: "agent_end", messages: [] },
	);
	expect((await stage.terminal.screen()).slice(2)).toEqual(["▎ hi", "▎", "▎ Half an ans", "▎", "▎ stopped"]);
});

test("after a pop the hidden entries turn dim and collapse, and the summary stands in their place", async () => {
	const stage = await createStage();
	const script = playTurn(stage);
	const summary = 'Fixed rounding in src/price.ts (floor → round); test "rounds half up" passes.';
	stage.play(script.entry({ type: "stack_pop", timestamp: TIMESTAMP }));
	const stages = [popHook(stage.entries.length, summary)];
	await stage.rebuild(stages);
	stage.play({ type: "agent_start" }, ...script.user("now the tax code"));
	await stage.rebuild(stages);
	await stage.terminal.settle();
	const redraws = stage.tui.fullRedraws;
	stage.play(...script.reply([{ text: "On it." }]), { type: "agent_end", messages: [] });
	await stage.rebuild(stages);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/after-pop.txt");
	expect(stage.tui.fullRedraws).toBe(redraws);
	stage.transcript.toggleExpanded();
	expect((await stage.terminal.scrollback()).filter((line) => line.startsWith("┆ ")).length).toBeGreaterThan(10);
});

test("after a compaction its summary stands in place of what it covers", async () => {
	const stage = await createStage();
	const script = playTurn(stage);
	stage.play({ type: "agent_start" }, ...script.user("now the tax code"));
	const firstKeptEntryIndex = stage.entries.length - 1;
	stage.play(...script.reply([{ text: "On it." }]), { type: "agent_end", messages: [] });
	const compaction = { type: "compaction", timestamp: TIMESTAMP, firstKeptEntryIndex, tokensBefore: 84_100 };
	stage.play(
		{ type: "auto_compaction_start", reason: "manual" },
		script.entry({ ...compaction, summary: "Rounding was fixed in src/price.ts." }),
		{ type: "auto_compaction_end", result: null, aborted: false },
	);
	await stage.rebuild();
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/after-compaction.txt");
});

test("a context that changes during a run is drawn when the run ends", async () => {
	const stage = await createStage({ rows: 40 });
	const script = playTurn(stage);
	stage.play({ type: "agent_start" }, ...script.user("go on"));
	const end = stage.entries.length - 1;
	await stage.rebuild([popHook(end, "Rounding is fixed.")]);
	await stage.terminal.settle();
	const redraws = stage.tui.fullRedraws;
	stage.play(...script.reply([{ text: "Going on." }]));
	expect(await stage.terminal.text()).not.toContain("◆");
	expect(stage.tui.fullRedraws).toBe(redraws);
	stage.play({ type: "agent_end", messages: [] });
	expect(await stage.terminal.text()).toContain("◆ Rounding is fixed.");
	expect(await stage.terminal.screen()).toContain("▎ Going on.");
});

test("a long session opens with its last entries and a row for the others", async () => {
	const entries = Array.from({ length: 5000 }, (_, turn) => [
		messageEntry({ role: "user", content: `question ${turn}`, timestamp: 0 }),
		messageEntry(reply([{ text: `answer ${turn}` }])),
	]).flat();
	let read = 0;
	const stage = await createStage({ entries });
	const counting = {
		length: stage.entries.length,
		at: (index: number) => {
			read += 1;
			return stage.entries.at(index);
		},
	};
	stage.transcript.load({ entries: () => counting, rendererOf: () => undefined }, await stage.rebuild());
	expect(read).toBeLessThan(1000);
	const lines = await stage.terminal.scrollback();
	expect(lines).toContain("  · … 9800 earlier entries · /export writes them all");
	expect(lines.filter((line) => line.startsWith("▎ answer")).length).toBe(100);
	expect(lines.at(-1)).toBe("▎ answer 4999");
});

test("a compacted session opens with the summary and what was kept", async () => {
	const stage = await createStage({
		entries: [
			messageEntry({ role: "user", content: "old question", timestamp: 0 }),
			messageEntry(reply([{ text: "old answer" }])),
			messageEntry({ role: "user", content: "kept question", timestamp: 0 }),
			messageEntry(reply([{ id: "c1", tool: "ls", args: {} }], "toolUse")),
			messageEntry(toolResult("c1", "ls", "a\nb", { details: { entries: 2 } })),
			{
				type: "compaction",
				timestamp: TIMESTAMP,
				summary: "They greeted.",
				firstKeptEntryIndex: 3,
				tokensBefore: 84_100,
			},
			messageEntry({ role: "user", content: "new question", timestamp: 0 }),
			{ type: "opaque", reason: "not JSON" },
		],
	});
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/resumed-compacted.txt");
});

test("shell commands of the user show while they run; those for the eye only stay out of the context", async () => {
	const stage = await createStage();
	const base = { role: "bashExecution" as const, cancelled: false, truncated: false, timestamp: 0 };
	stage.play({ type: "bash_start", command: "git status" }, { type: "bash_update", output: "clean" });
	expect(await stage.terminal.text()).toContain("▎ │ clean");
	const status = { ...base, command: "git status", output: "clean", exitCode: 0, excludeFromContext: true };
	stage.entries.push(messageEntry(status), messageEntry({ ...base, command: "false", output: "", exitCode: 1 }));
	stage.play(
		{ type: "bash_end", entryIndex: 1 },
		{ type: "bash_start", command: "false" },
		{ type: "bash_end", entryIndex: 2 },
	);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/user-shell.txt");
});

test("entries of hooks are drawn by their hook: text, a component, an error in place of either; others are not", async () => {
	const stage = await createStage({
		renderers: {
			note: (entry, theme) => theme.accent(`note: ${"text" in entry ? entry.text : ""}`),
			bar: () => ({ render: (width) => ["=".repeat(width + 50)], invalidate: () => {} }),
			broken: () => {
				throw new TypeError("no such field");
			},
		},
	});
	const script = new Script();
	stage.play(
		script.entry({ type: "note", text: "remember\u001b[2J the milk" }),
		script.entry({ type: "silent" }),
		script.entry({ type: "bar" }),
		script.entry({ type: "broken" }),
	);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/custom-entries.txt");
});

test("hostile text reaches no place of the terminal as a control sequence", async () => {
	const stage = await createStage({ rows: 60, renderers: { note: () => HOSTILE_TEXT } });
	const script = new Script();
	const args = {
		path: HOSTILE_TEXT,
		pattern: HOSTILE_TEXT,
		command: HOSTILE_TEXT,
		oldText: HOSTILE_TEXT,
		newText: "x",
	};
	const tools = ["read", "grep", "find", "ls", "bash", "edit", "write", HOSTILE_TEXT];
	stage.play(
		{ type: "agent_start" },
		...script.user(HOSTILE_TEXT),
		...script.reply([
			{ thinking: HOSTILE_TEXT },
			{ text: HOSTILE_TEXT },
			...tools.map((tool, index) => ({ id: `c${index}`, tool, args: { ...args, content: HOSTILE_TEXT } })),
		]),
	);
	for (const expanded of [false, true]) {
		for (const [index, tool] of tools.entries()) {
			stage.play(script.toolStart(`${expanded}${index}`, tool, args));
			stage.play(script.toolOutput(`${expanded}${index}`, tool, args, HOSTILE_TEXT));
			await stage.terminal.settle();
			const details = { diff: `- 1 ${HOSTILE_TEXT}`, exitCode: 1, fullOutputPath: HOSTILE_TEXT };
			stage.play(...script.toolEnd(`${expanded}${index}`, tool, HOSTILE_TEXT, details, index % 2 === 0));
		}
		stage.play({ type: "bash_start", command: HOSTILE_TEXT }, { type: "bash_update", output: HOSTILE_TEXT });
		stage.play({ type: "notice", level: "error", message: HOSTILE_TEXT });
		stage.play({ type: "hook_error", hookPath: HOSTILE_TEXT, event: HOSTILE_TEXT, error: HOSTILE_TEXT });
		stage.play(script.entry({ type: "note" }), { type: "bash_end", entryIndex: 0 });
		stage.play(...script.reply([], { stop: "error", error: HOSTILE_TEXT }));
		stage.transcript.page(HOSTILE_TEXT, [HOSTILE_TEXT]);
		stage.transcript.toggleThinking();
		stage.transcript.toggleExpanded();
		await stage.terminal.settle();
	}
	await stage.rebuild([popHook(stage.entries.length, HOSTILE_TEXT)]);
	await stage.terminal.settle();
	// What remains are the renderer's own: cursor moves, erasing, synchronised output, colours, the link reset.
	const own = /\x1b\[(?:\d*[ABG]|\?2026[hl]|\?25[hl]|[023]?[JKH]|\?2004[hl]|[\d;]*m)|\x1b\]8;;\x07/g;
	const rest = stage.terminal.output.replace(own, "");
	expect(rest.match(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)).toBeNull();
	expect(stage.terminal.output).not.toMatch(/\x1b\[(?:\d+;)*8(?:;\d+)*m/);
});

test("a screen that was resized looks like one that had that size from the start", async () => {
	const stage = await createStage({ columns: 120, rows: 60 });
	playTurn(stage);
	await stage.terminal.settle();
	stage.terminal.resize(40, 60);
	await stage.terminal.waitFor("▎ the test passes.");
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/turn-40.txt");
});

test("100 resizes at random while a reply streams: nothing fails and no line is wider than the screen", async () => {
	const stage = await createStage();
	const script = new Script();
	const text = readFileSync(new URL("../../../package-lock.json", import.meta.url), "utf8").slice(0, 6000);
	const message = reply([{ text: `# Files\n\n| a | b |\n|---|---|\n| ${"wide ".repeat(30)} | 2 |\n\n${text}` }]);
	stage.play({ type: "agent_start" }, ...script.user("stream"), ...script.replyStart(message));
	const updates = script.updates(message, 60);
	const sizes = fc.sample(fc.tuple(fc.integer({ min: 1, max: 160 }), fc.integer({ min: 1, max: 50 })), {
		numRuns: 100,
		seed: 7,
	});
	for (const [columns, rows] of sizes) {
		stage.play(...updates.splice(0, 1));
		stage.terminal.resize(columns, rows);
		expect(stage.tui.render(columns).length).toBeGreaterThan(0);
		await new Promise((resolve) => setImmediate(resolve));
	}
	stage.play(...updates, script.replyEnd(message), { type: "agent_end", messages: [] });
	stage.terminal.resize(80, 24);
	await stage.terminal.waitFor("credential-provider-node");
	expect(stage.tui.render(80).every((line) => line.length < 2000)).toBe(true);
});

test("streaming 100 KB writes at most twice the text and never clears the screen", async () => {
	const stage = await createStage({ rows: 30 });
	const script = new Script();
	const sentence = "The quick brown fox jumps over the lazy dog and writes `code` about **it**. ";
	const paragraph = `${sentence.repeat(6)}\n\n`;
	const text = paragraph.repeat(Math.ceil(100_000 / paragraph.length));
	const message = reply([{ text }]);
	stage.play({ type: "agent_start" }, ...script.user("stream"), ...script.replyStart(message));
	await stage.terminal.settle();
	const redraws = stage.tui.fullRedraws;
	const before = stage.terminal.output.length;
	for (const [index, event] of script.updates(message, 100).entries()) {
		stage.play(event);
		if (index % 20 === 0) await stage.terminal.waitFor(() => true);
	}
	stage.play(script.replyEnd(message), { type: "agent_end", messages: [] });
	await stage.terminal.settle();
	expect(stage.tui.fullRedraws).toBe(redraws);
	expect(stage.terminal.output.slice(before)).not.toMatch(/\x1b\[[23]J/);
	expect(stage.terminal.output.length - before).toBeLessThan(2 * text.length);
});
