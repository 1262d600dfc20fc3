import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, STACKING, submit, submitIdle } from "./support.js";

test("popped work stays popped when the session is continued, and is back without the hook", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
	const cwd = tempDir();
	writeFiles(cwd, { "notes.txt": "buy milk\n" });

	provider
		.reply("A shop.")
		.reply([text("I look."), toolCall("read", { path: "notes.txt" })])
		.reply("It says: buy milk.")
		.reply("notes.txt was read: buy milk.")
		.reply("Which part of it?");
	const first = await openPi({ agentDir, cwd });
	await first.waitForText("1 hook");
	await submit(first, "what is this project?");
	await first.waitForText("A shop.");
	await submit(first, "what do the notes say?");
	await first.waitForText("It says: buy milk.");
	expect(conversation(provider, 2)).toEqual([
		"user: what is this project?",
		"assistant: A shop.",
		"user: what do the notes say?",
		'assistant: I look. → read {"path":"notes.txt"}',
		expect.stringMatching(/^tool: .*buy milk/),
	]);

	first.type("/po");
	const palette = await first.waitForText("/pop [turn]");
	expect(palette).toMatch(/\/pop \[turn\] +Pop to a previous turn, summarizing the work +hook stacking/);
	await first.press("enter");
	const dialog = await first.waitForText("Pop to which turn?");
	expect(dialog).toMatch(/→ 2 +what do the notes say\? +4 messages/);
	expect(dialog).toMatch(/1 +what is this project\? +2 messages/);
	await first.press("enter");
	await first.waitForText("popped to turn 2");
	await submit(first, "now the tax code");
	await first.waitForText("Which part of it?");
	const popped = [
		"user: what is this project?",
		"assistant: A shop.",
		"user: [Summary]\n\nnotes.txt was read: buy milk.",
		"user: now the tax code",
	];
	expect(conversation(provider, 4)).toEqual(popped);
	const shown = await first.scrollback();
	expect(shown).toMatch(/^ {2}› what do the notes say\?/m);
	expect(shown).toMatch(/^◆ notes\.txt was read: buy milk\./m);
	expect(shown).toMatch(/^▎ › now the tax code/m);
	await submit(first, "/quit");
	expect(await first.exited).toEqual({ code: 0, signal: 0 });

	provider.reply("The rounding.");
	const second = await openPi({ agentDir, cwd, args: ["--continue"] });
	await second.waitForText(/^▎ Which part of it\?/m);
	await submit(second, "all of it");
	await second.waitForText("The rounding.");
	const after = [...popped, "assistant: Which part of it?", "user: all of it"];
	expect(conversation(provider, 5)).toEqual(after);
	await second.press("ctrl+d");
	expect(await second.exited).toEqual({ code: 0, signal: 0 });

	provider.reply("As before.");
	const third = await openPi({ agentDir, cwd, args: ["--continue", "--no-hooks"] });
	const start = await third.waitForText("The hooks of stack_pop (1) are missing");
	expect(start).not.toContain("1 hook");
	await third.press("enter");
	expect((await third.scrollback()).match(/No loaded hook knows these entries/g)).toHaveLength(1);
	await submit(third, "and now?");
	await third.waitForText("As before.");
	expect(conversation(provider, 6)).toEqual([
		...conversation(provider, 2),
		"assistant: It says: buy milk.",
		...after.slice(3),
		"assistant: The rounding.",
		"user: and now?",
	]);
});

test("without any hook of the user, /pop shrinks the context of any session, and /unpop reports once", async () => {
	const provider = await startProvider();
	provider
		.reply("A shop.")
		.reply("It is not written yet.")
		.reply("The tax code was discussed.")
		.reply("Next?")
		.reply("And now?");
	const pi = await openPi({ agentDir: agentDirFor(provider), columns: 100, rows: 40 });
	await pi.waitForText("0% of");
	await submit(pi, "what is this project?");
	await pi.waitForText("A shop.");
	await submit(pi, "now the tax code");
	await pi.waitForText("It is not written yet.");
	await submitIdle(pi, "/pop");
	expect(await pi.waitForText("Pop to which turn?")).toMatch(/→ 2 +now the tax code[\s\S]* 1 +what is this project\?/);
	await pi.press("enter");
	await pi.waitForText("popped to turn 2");
	await submit(pi, "go on");
	await pi.waitForText("Next?");
	expect(conversation(provider, 3)).toEqual([
		"user: what is this project?",
		"assistant: A shop.",
		"user: [Summary]\n\nThe tax code was discussed.",
		"user: go on",
	]);
	await submitIdle(pi, "/unpop");
	await pi.waitForText("undid the pop to turn 2");
	await submit(pi, "all of it");
	await pi.waitForText("And now?");
	expect((await pi.scrollback()).match(/undid the pop/gi)).toHaveLength(1);
	expect(conversation(provider, 4)).toEqual([
		"user: what is this project?",
		"assistant: A shop.",
		"user: now the tax code",
		"assistant: It is not written yet.",
		"user: go on",
		"assistant: Next?",
		"user: all of it",
	]);
	await submitIdle(pi, "/cleared");
	await pi.waitForText("Unknown command /cleared: the bundled hook clear, which provides it, is off");
});

test("a completed command asks for its argument, unless a completion is chosen", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
	provider.reply("One.", "Two.");
	const pi = await openPi({ agentDir });
	await pi.waitForText("1 hook");
	for (const [prompt, reply] of [
		["first", "One."],
		["second", "Two."],
	] as const) {
		await submit(pi, prompt);
		await pi.waitForText(reply);
	}
	pi.type("/po");
	await pi.waitForText("/pop [turn]");
	await pi.press("tab");
	await pi.waitForText(/^ {3}2 +second/m);
	await pi.press("enter");
	await pi.waitForText("Pop to which turn?");
	await pi.press("escape");
	pi.type("/po");
	await pi.waitForText("/pop [turn]");
	await pi.press("tab");
	await pi.waitForText(/^ {3}2 +second/m);
	await pi.press("down");
	await pi.waitForText(/^ → 2 +second/m);
	provider.reply("Summary.");
	await pi.press("enter");
	await pi.waitForText("popped to turn 2");
	expect(provider.requests).toHaveLength(3);
});
