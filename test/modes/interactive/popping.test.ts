import { expect, test } from "vitest";
import { type App, startApp } from "./app.js";

async function startWithTwoTurns(columns: number): Promise<App> {
	const app = await startApp({ columns, rows: 40 });
	app.provider.reply("A shop.", "It is not written yet.", "The tax code was discussed.");
	await app.terminal.waitFor("0%");
	await app.submit("what is this project?");
	await app.terminal.waitFor("A shop.");
	await app.submit("now the tax code");
	await app.terminal.waitFor("It is not written yet.");
	return app;
}

test.each([
	[40, [" → 2  now the tax code  2 messages · 18", "   1  what is this pr…  2 messages · 16"]],
	[
		80,
		[
			" → 2  now the tax code                                          2 messages · 18",
			"   1  what is this project?                                     2 messages · 16",
		],
	],
	[
		120,
		[
			" → 2  now the tax code                                                                                  2 messages · 18",
			"   1  what is this project?                                                                             2 messages · 16",
		],
	],
])("at %i columns /pop lists the turns by number, and /unpop reports once", async (columns, turns) => {
	const app = await startWithTwoTurns(columns);
	await app.submit("/pop");
	const question = await app.terminal.waitFor("Pop to which turn?");
	expect(question.filter((line) => /^ [→ ] \d /.test(line)).map((line) => line.trimEnd())).toEqual(turns);
	await app.terminal.press("enter");
	const hint = await app.terminal.waitFor("◇ popped to turn 2");
	expect(hint.join(" ").replace(/\s+/g, " ")).toContain("◇ popped to turn 2 · /unpop restores it");
	await app.submit("/unpop");
	await app.terminal.waitFor("undid the pop to turn 2");
	const screen = (await app.terminal.screen()).filter((line) => /pop/i.test(line)).map((line) => line.trim());
	expect(screen).toEqual(["◇ popped to turn 2", "◇ undid the pop to turn 2"]);
});

test.each([
	[40, ["◇ folded from turn 1 · /unfold", "  restores the turns"]],
	[80, ["◇ folded from turn 1 · /unfold restores the turns"]],
	[120, ["◇ folded from turn 1 · /unfold restores the turns"]],
])("at %i columns a fold names /unfold until it is undone", async (columns, lines) => {
	const app = await startWithTwoTurns(columns);
	const notes = async () => {
		const screen = (await app.terminal.screen()).map((line) => line.slice(2).trimEnd());
		return screen.slice(screen.findIndex((line) => line.startsWith("◇")));
	};
	await app.submit("/fold 1 1 It is a shop.");
	await app.terminal.waitFor("folded from turn 1");
	expect((await notes()).slice(0, lines.length)).toEqual(lines);
	await app.submit("/unfold");
	await app.terminal.waitFor("◇ restored the turns");
	expect((await notes())[0]).toBe("◇ folded from turn 1");
});
