import fc from "fast-check";
import { expect, test } from "vitest";
import { HOSTILE_TEXT } from "./hostile.js";
import { reply, Script } from "./script.js";
import { createStage } from "./stage.js";
import { playTurn, popHook } from "./turn.js";

test("hostile text never reaches the terminal as control sequences", async () => {
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
	const ended = { output: HOSTILE_TEXT, exitCode: 1, cancelled: false, truncated: true, fullOutputPath: HOSTILE_TEXT };
	const bash = { role: "bashExecution" as const, command: HOSTILE_TEXT, timestamp: 0, ...ended };
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
		stage.play(
			script.entry({ type: "note" }),
			{ type: "bash_done", message: bash },
			{ type: "bash_end", entryIndex: 0 },
		);
		stage.play(...script.reply([], { stop: "error", error: HOSTILE_TEXT }));
		stage.transcript.page(HOSTILE_TEXT, [HOSTILE_TEXT]);
		stage.transcript.toggleThinking();
		await stage.terminal.settle();
	}
	await stage.rebuild([popHook(stage.entries.length, HOSTILE_TEXT)]);
	await stage.terminal.settle();
	// The remaining sequences belong to the renderer: cursor moves, erasing, synchronized output, colors, link reset.
	const own = /\x1b\[(?:\d*[ABCG]|\?2026[hl]|\?25[hl]|[023]?[JKH]|\?2004[hl]|[\d;]*m)|\x1b\]8;;\x07/g;
	const rest = stage.terminal.output.replace(own, "");
	expect(rest.match(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)).toBeNull();
	expect(stage.terminal.output).not.toMatch(/\x1b\[(?:\d+;)*8(?:;\d+)*m/);
});

test("a resized screen looks like one that started with that size", async () => {
	const stage = await createStage({ columns: 120, rows: 60 });
	playTurn(stage);
	await stage.terminal.settle();
	stage.terminal.resize(40, 60);
	await stage.terminal.waitFor("▎ the test passes.");
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/turn-40.txt");
});

test("100 random resizes while a reply streams cause no failure and no line wider than the screen", async () => {
	const stage = await createStage();
	const script = new Script();
	const text = Array.from({ length: 150 }, (_, n) => `"package-${n}": { "version": "${n}.0.0" }`).join("\n");
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
	await stage.terminal.waitFor("package-149");
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
