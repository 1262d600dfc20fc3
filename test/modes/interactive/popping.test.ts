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
	await app.terminal.waitFor("popped to turn 2");
	await app.submit("/unpop");
	await app.terminal.waitFor("undid the pop to turn 2");
	const screen = (await app.terminal.screen()).filter((line) => /pop/i.test(line)).map((line) => line.trim());
	expect(screen).toEqual(["popped to turn 2 · /unpop restores it", "◇ undid the pop to turn 2"]);
});
