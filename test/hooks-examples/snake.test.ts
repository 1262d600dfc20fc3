import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { type App, startApp } from "../modes/interactive/app.js";
import { example } from "./example.js";

/** Opens the game. Food is in front of the snake, which starts at the left. */
async function play(columns = 80): Promise<App> {
	const app = await startApp({ columns, rows: 30, agentSettings: { hooks: ["pi:snake"] } });
	await app.terminal.waitFor("0%");
	await app.submit("/snake");
	await app.terminal.waitFor("space pauses");
	return app;
}

test("without a screen the command says that it needs one", async () => {
	const { session } = await startSession({ hookFiles: [example("snake.ts")] });
	expect(await session.prompt("/snake")).toMatchObject({ status: "/snake needs a screen" });
});

test.each([40, 120])("at %i columns the board fits, and Escape closes it with the score", async (columns) => {
	const app = await play(columns);
	const screen = await app.terminal.screen();
	expect(screen.some((line) => line.includes(`╭${"─".repeat(36)}╮`))).toBe(true);
	expect(screen.filter((line) => /│.{36}│/.test(line)).length).toBe(12);
	await app.terminal.press("escape");
	await app.terminal.waitFor(/Score \d+ · best \d+/);
	expect(await app.terminal.text()).not.toContain("space pauses");
});

test("below 40 columns it says what it needs", async () => {
	const app = await startApp({ columns: 36, rows: 30, agentSettings: { hooks: ["pi:snake"] } });
	await app.terminal.waitFor("0%");
	await app.submit("/snake");
	await app.terminal.waitFor("/snake needs 40 columns");
});

test("the snake moves on its own, eats, and dies at the wall; space starts again and the best score stays", async () => {
	const app = await play();
	await app.terminal.waitFor(/snake [1-9]\d* · best [1-9]/);
	await app.terminal.waitFor("game over");
	await app.terminal.press("space");
	await app.terminal.waitFor(/snake 0 · best [1-9]/);
});

test("arrow keys steer, and space stops the snake", async () => {
	const app = await play();
	await app.terminal.press("up", "space");
	await app.terminal.waitFor("paused");
	const [before, after] = [await board(app), await board(app)];
	expect(after).toEqual(before);
	await app.terminal.press("space");
	// From the middle to the upper wall.
	await app.terminal.waitFor("game over");
	expect((await board(app)).findIndex((line) => line.includes("██"))).toBe(0);
});

test("a reload ends the game", async () => {
	const app = await play();
	await app.session().reload();
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("space pauses")));
});

async function board(app: App): Promise<string[]> {
	return (await app.terminal.screen()).filter((line) => /│.{36}│/.test(line));
}
