import { expect, test } from "vitest";
import { type Cell, isBar } from "../../helpers/screen-cells.js";
import { type App, startApp } from "./app.js";
import { TAIL } from "./dialogs/support.js";
import { messageEntry, reply, Script } from "./script.js";
import { createStage, type Stage, TIMESTAMP } from "./stage.js";
import { startResumed, turns } from "./transcript-pager/support.js";
import { playTurn, popHook } from "./turn.js";

/** A turn that a summary replaces, and another turn. */
async function playPopped(stage: Stage): Promise<void> {
	const script = playTurn(stage);
	stage.play(script.entry({ type: "stack_pop", timestamp: TIMESTAMP }));
	const stages = [popHook(stage.entries.length, "Rounding was fixed.")];
	stage.play({ type: "agent_start" }, ...script.user("now the tax code"));
	stage.play(...script.reply([{ text: "On it." }]), { type: "agent_end", messages: [] });
	await stage.rebuild(stages);
	await stage.terminal.settle();
}

/** What a selection of a row copies. */
function copied(row: readonly Cell[]): string {
	return row
		.map((cell) => cell.text || " ")
		.join("")
		.trimEnd();
}

/** The rows that contain a text, with whether the cell in a column is filled with a color. */
function rowsWith(rows: readonly Cell[][], texts: readonly string[], column: number): [string, boolean][] {
	return texts.map((text) => {
		const row = rows.find((cells) => copied(cells).includes(text)) ?? [];
		return [copied(row), isBar(row, column)];
	});
}

test.each(["dark", "light", "high-contrast"] as const)(
	"a selection of the transcript copies only blanks of the gutter, in the theme %s",
	async (theme) => {
		const stage = await createStage({ rows: 40, theme });
		await playPopped(stage);
		const rows = await stage.terminal.cells();
		expect(rows.map(copied).join("\n")).not.toMatch(/[▎┆]/);
		const texts = [
			"why does checkout",
			"hidden by stack",
			"Rounding was fixed.",
			"replaces",
			"now the tax code",
			"On it.",
		];
		expect(rowsWith(rows, texts, 0)).toEqual([
			["  › why does checkout round down?", false],
			["  … 6 messages, 263 tokens, hidden by stack", false],
			["◆ Rounding was fixed.", false],
			[expect.stringMatching(/^ {2}replaces 7 messages/), false],
			["  › now the tax code", true],
			["  On it.", true],
		]);
		// The gap between the prompt and the reply.
		const prompt = rows.findIndex((row) => copied(row).includes("now the tax code"));
		expect(isBar(rows[prompt + 1] ?? [], 0)).toBe(true);
		expect(copied(rows[prompt + 1] ?? [])).toBe("");
	},
);

test("without colors the gutter consists of signs", async () => {
	const stage = await createStage({ rows: 40, theme: "plain" });
	await playPopped(stage);
	const rows = (await stage.terminal.cells()).map(copied);
	expect(rows).toEqual(
		expect.arrayContaining([
			"┆ › why does checkout round down?",
			"┆ … 6 messages, 263 tokens, hidden by stack",
			"◆ Rounding was fixed.",
			"▎ › now the tax code",
			"▎",
			"▎ On it.",
		]),
	);
});

test.each([40, 120])("after a resize to %i columns each row has the gutter", async (columns) => {
	const stage = await createStage({ columns: 60, rows: 30 });
	const script = new Script();
	const answer = Array.from({ length: 30 }, (_, word) => `word-${word}`).join(" ");
	stage.play({ type: "agent_start" }, ...script.user("go"));
	stage.play(...script.reply([{ text: answer }]), { type: "agent_end", messages: [] });
	await stage.terminal.settle();
	stage.terminal.resize(columns, 30);
	await stage.terminal.settle();
	const rows = (await stage.terminal.cells()).filter((row) => copied(row).includes("word-"));
	expect(rows.length).toBeGreaterThan(1);
	expect(rows.filter((row) => !isBar(row, 0))).toEqual([]);
	expect(rows.map((row) => copied(row).trim()).join(" ")).toBe(answer);
});

test.each([
	["the setting is off", { columns: 80, gutter: false }],
	["the screen is narrow", { columns: 11, gutter: true }],
])("the text starts at the left edge when %s", async (_, options) => {
	const entries = [
		messageEntry({ role: "user", content: "hi", timestamp: 0 }),
		messageEntry(reply([{ text: "Hello." }])),
	];
	const stage = await createStage({ ...options, entries });
	await stage.terminal.settle();
	const rows = await stage.terminal.cells();
	expect(rows.map(copied)).toEqual(expect.arrayContaining(["› hi", "Hello."]));
	expect(rows.filter((row) => isBar(row, 0))).toEqual([]);
});

/** Opens the transcript of three turns that the context no longer has, and one that it has. */
async function openPager(theme: string): Promise<App> {
	const app = await startResumed(turns(3), { rows: 24, theme, hooks: { "tail.ts": TAIL } });
	await app.submit("/tail");
	app.provider.reply("ok");
	await app.submit("one more");
	await app.terminal.waitFor(/^. ok$/m);
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	return app;
}

test.each(["dark", "light", "high-contrast", "nord"])(
	"a selection of the pager copies only blanks of the gutter, in the theme %s",
	async (theme) => {
		const app = await openPager(theme);
		const rows = await app.terminal.cells();
		expect(rows.map(copied).join("\n")).not.toMatch(/[▎┆]/);
		expect(rowsWith(rows, ["question 0", "answer 2", "Earlier work", "one more", "ok"], 1)).toEqual([
			[expect.stringMatching(/^ {4}› question 0 +hidden by tail$/), false],
			[expect.stringMatching(/^ {4}answer 2 +hidden by tail$/), false],
			[" ◆▸ [Earlier work: the price code was read.]", false],
			["    › one more", true],
			["→   ok", true],
		]);
		await app.terminal.type("/one");
		await app.terminal.press("enter");
		await app.terminal.waitFor('"one" 1 of 1');
		expect(rowsWith(await app.terminal.cells(), ["one more"], 1)).toEqual([["→   › one more", true]]);
	},
);

test("without colors the gutter of the pager consists of signs", async () => {
	const app = await openPager("plain");
	expect((await app.terminal.cells()).map(copied)).toEqual(
		expect.arrayContaining([
			expect.stringMatching(/^ ┆ {2}› question 0 +hidden by tail$/),
			" ◆▸ [Earlier work: the price code was read.]",
			" ▎  › one more",
			"→▎  ok",
		]),
	);
});

test("/copy copies the reply without the gutter", async () => {
	const app = await startApp();
	app.provider.reply("Hello.");
	await app.submit("hi");
	await app.terminal.waitFor("▎ Hello.");
	await app.submit("/copy");
	await app.terminal.waitFor(/[Cc]opied/);
	const [, copy = ""] = /\x1b\]52;c;([^\x07\x1b]*)/.exec(app.terminal.output) ?? [];
	expect(Buffer.from(copy, "base64").toString()).toBe("Hello.");
});
