import { expect, test } from "vitest";
import { messageEntry, reply, Script, toolResult } from "./script.js";
import { createStage, TIMESTAMP } from "./stage.js";
import { playTurn, popHook } from "./turn.js";

test.each([
	[40, 60],
	[80, 40],
	[120, 40],
])("a turn shows prompt, thinking, calls with their status and the answer at %i columns", async (columns, rows) => {
	const stage = await createStage({ columns, rows });
	playTurn(stage);
	await expect(await stage.terminal.text()).toMatchFileSnapshot(`../../screens/turn-${columns}.txt`);
});

test("without the gutter, lines start at the left edge", async () => {
	const stage = await createStage({ rows: 40, gutter: false });
	playTurn(stage);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/turn-without-gutter.txt");
});

test("without colors, a mark distinguishes the user's text from the model's", async () => {
	const stage = await createStage({ rows: 40, theme: "plain" });
	playTurn(stage);
	expect(await stage.terminal.screen()).toContain("▎ › why does checkout round down?");
});

/** @returns the lines that occur more than once, without gutters and blank lines */
function repeated(lines: readonly string[]): string[] {
	const said = lines.filter((line) => /question|case|rounding|Yes/.test(line));
	return said.filter((line, at) => said.indexOf(line) !== at);
}

test("toggling thinking redraws only the visible screen, and prints nothing twice", async () => {
	const stage = await createStage({ rows: 20 });
	const script = playTurn(stage);
	for (let turn = 0; turn < 10; turn++) {
		const thought = { thinking: `thought ${turn}\n${"more\n".repeat(6)}last of ${turn}` };
		stage.play(...script.user(`question ${turn}`), ...script.reply([thought, { text: `Yes ${turn}.` }]));
	}
	const before = await stage.terminal.scrollback();
	const screen = await stage.terminal.screen();
	const written = stage.terminal.output.length;
	for (let round = 0; round < 3; round++) {
		stage.transcript.toggleThinking();
		expect(await stage.terminal.text()).toContain("last of 9");
		stage.transcript.toggleThinking();
		expect(await stage.terminal.screen()).toEqual(screen);
	}
	for (let turn = 10; turn < 16; turn++) {
		stage.play(...script.user(`question ${turn}`), ...script.reply([{ text: `Yes ${turn}.` }]));
	}
	const after = await stage.terminal.scrollback();
	expect(after.slice(0, before.length - screen.length)).toEqual(before.slice(0, -screen.length));
	expect(repeated(after)).toEqual([]);
	expect(stage.terminal.output.slice(written)).not.toMatch(/\x1b\[[23]J/);
});

test("thinking hidden by a setting is one line that says so until the user toggles it", async () => {
	const stage = await createStage({ rows: 40 });
	stage.style.previewThinking = false;
	playTurn(stage);
	expect((await stage.terminal.screen()).slice(2, 5)).toEqual([
		"▎ › why does checkout round down?",
		"▎",
		"▎ ∴ thinking hidden · ctrl+t shows it",
	]);
	stage.transcript.toggleThinking();
	expect(await stage.terminal.screen()).toContain("▎ The test will tell.");
});

test("thinking is one line until the user toggles it", async () => {
	const stage = await createStage({ rows: 40 });
	playTurn(stage);
	expect(await stage.terminal.text()).not.toContain("The test will tell.");
	stage.transcript.toggleThinking();
	expect(await stage.terminal.screen()).toEqual(
		expect.arrayContaining(["▎ The price code probably floors.", "▎ The test will tell."]),
	);
});

test("a running command shows the end of its output, and the status line shows the command", async () => {
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
	// The spinner moves during the check.
	const screen = (await stage.terminal.text()).replace(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /mu, "⠋ ");
	await expect(screen).toMatchFileSnapshot("../../screens/running.txt");
	stage.play(...script.toolEnd("c1", "bash", "done", { exitCode: 0, durationMs: 3200 }), {
		type: "agent_end",
		messages: [],
	});
	expect(await stage.terminal.screen()).toEqual([
		expect.stringContaining("pi 0.1.0"),
		"",
		"▎ › test it",
		"▎",
		expect.stringMatching(/^▎ bash {2}npm test +exit 0 · 3.2 s$/),
		"▎ │ done",
	]);
});

test("a failed request shows the next step", async () => {
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

test.each([
	[40, "retried-40.txt"],
	[80, "retried.txt"],
	[120, "retried-120.txt"],
])(
	"an interrupted reply that is retried remains visible, marked as not in the context, at %i columns",
	async (columns, file) => {
		const stage = await createStage({ columns, rows: 30 });
		const script = new Script();
		const broken = reply(
			[{ text: "Half an ans" }, { id: "c1", tool: "bash", args: { command: "ls" } }],
			"error",
			"terminated",
		);
		const retry = {
			type: "auto_retry_start",
			attempt: 1,
			maxAttempts: 3,
			delayMs: 4000,
			errorMessage: "the connection was lost during the reply",
		} as const;
		stage.play(
			{ type: "agent_start" },
			...script.user("hi"),
			...script.replyStart(broken),
			...script.updates(broken),
			script.replyEnd(broken, true),
			retry,
		);
		const status = "retry 1/3 in 4 s · the connection was lost during the reply · esc stops";
		expect(await stage.terminal.text()).toContain(columns < 80 ? "retry 1/3 in 4 s" : status);
		stage.play(...script.reply([{ text: "A whole answer." }]), { type: "agent_end", messages: [] });
		await stage.terminal.settle();
		const redraws = stage.tui.fullRedraws;
		await stage.rebuild();
		await expect(await stage.terminal.text()).toMatchFileSnapshot(`../../screens/${file}`);
		expect(stage.tui.fullRedraws).toBe(redraws);
		// Opening the session again shows the same.
		const reopened = await createStage({ columns, rows: 30, entries: stage.entries.slice(1) });
		expect(await reopened.terminal.text()).toBe(await stage.terminal.text());
	},
);

test("escape during the wait before a retry keeps the reply unchanged", async () => {
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
	expect((await stage.terminal.screen()).slice(2)).toEqual([
		"▎ › hi",
		"▎",
		"▎ Half an ans",
		"▎",
		"▎ stopped before a retry · the connection was lost during the reply",
	]);
});

test("after a pop the hidden entries turn dim and collapse, and the summary follows", async () => {
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
});

test("after a compaction its summary replaces the compacted entries", async () => {
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

test("a compaction that failed is reported, and one that the user stopped is not", async () => {
	const stage = await createStage();
	const failed = { type: "auto_compaction_end", result: null, errorMessage: "no summary" } as const;
	stage.play({ type: "auto_compaction_start", reason: "threshold" }, { ...failed, aborted: true });
	expect(await stage.terminal.text()).not.toContain("no summary");
	stage.play({ type: "auto_compaction_start", reason: "threshold" }, { ...failed, aborted: false });
	expect(await stage.terminal.text()).toContain("compaction failed: no summary");
});

test("a context change during a run is drawn when the run ends", async () => {
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

test("a long session opens with its last entries and a row that counts the others", async () => {
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
	stage.transcript.load({ ...stage.source, entries: () => counting }, await stage.rebuild());
	expect(read).toBeLessThan(1000);
	const lines = await stage.terminal.scrollback();
	expect(lines).toContain("  · … 9800 earlier entries · ctrl+o transcript");
	expect(lines.filter((line) => line.startsWith("▎ answer")).length).toBe(100);
	expect(lines.at(-1)).toBe("▎ answer 4999");
});

test("a compacted session opens with the summary and the kept entries; after an undo, with every entry in the context", async () => {
	const stage = await createStage({
		rows: 30,
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
	stage.play(new Script(9).entry({ type: "context_undo", timestamp: TIMESTAMP, entryIndex: 6 }));
	await stage.rebuild();
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/resumed-uncompacted.txt");
});

test("shell commands of the user are shown while they run, and `!!` commands are marked as not in the context", async () => {
	const stage = await createStage();
	const base = { role: "bashExecution" as const, cancelled: false, truncated: false, timestamp: 0 };
	stage.play(
		{ type: "bash_start", command: "git status", excludeFromContext: true },
		{ type: "bash_update", output: "clean" },
	);
	expect(await stage.terminal.text()).toContain("  !! git status\n  │ clean");
	const status = { ...base, command: "git status", output: "clean", exitCode: 0, excludeFromContext: true };
	stage.play(
		{ type: "bash_done", message: status },
		{ type: "bash_start", command: "false" },
		{ type: "bash_done", message: { ...base, command: "false", output: "", exitCode: 1 } },
		{ type: "bash_end", entryIndex: 1 },
		{ type: "bash_end", entryIndex: 2 },
	);
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/user-shell.txt");
});

test("custom entries are drawn by their hook as text or a component, or as an error; entries without a renderer are not shown", async () => {
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

test("an error that repeats the last line is counted there", async () => {
	const stage = await createStage();
	stage.play({ type: "notice", level: "info", message: "begin" });
	for (let time = 0; time < 3; time++) stage.transcript.notice("error", "No session matches");
	stage.transcript.notice("error", "something else");
	const screen = await stage.terminal.text();
	expect(screen.match(/No session matches.*/g)).toEqual(["No session matches (3 times)"]);
});

test("a status that repeats the last line is counted there, a warning and a later repetition are shown again", async () => {
	const stage = await createStage();
	const status = { type: "notice", level: "info", message: "Nothing was compacted" } as const;
	const warning = { ...status, level: "warning", message: "nearly full" } as const;
	stage.play(status, status, status, warning, warning, status);
	const screen = await stage.terminal.text();
	expect(screen.split("\n").flatMap((line) => line.match(/Nothing was compacted.*|nearly full/) ?? [])).toEqual([
		"Nothing was compacted (3 times)",
		"nearly full",
		"nearly full",
		"Nothing was compacted",
	]);
});
