import { expect, test } from "vitest";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { untilIdle } from "../helpers/activity.js";
import { type App, startApp } from "../modes/interactive/app.js";

/** All examples that are off by default and need no grant. */
const OFF = BUNDLED_HOOKS.filter(({ name, isDefault }) => !isDefault && name !== "task-reminder").map(
	({ name }) => `pi:${name}`,
);

async function screenOf(app: App): Promise<string[]> {
	await app.terminal.settle();
	return (await app.terminal.screen()).filter((line) => !line.includes("reload"));
}

test.each([40, 120])(
	"all examples together leave nothing on the screen when they are turned off, at %i columns",
	async (columns) => {
		const clean = await startApp({ columns });
		await clean.terminal.waitFor("0%");
		const before = await screenOf(clean);
		const app = await startApp({ columns, agentSettings: { hooks: OFF } });
		await app.terminal.waitFor("pi · shop");
		expect(await screenOf(app)).not.toEqual(before);
		for (const path of OFF) await app.session().inspector.setHookEnabled(path, false);
		await app.terminal.waitFor("0%");
		expect(await screenOf(app)).toEqual(before);
		expect(app.session().shortcuts).toEqual([]);
		expect(
			app
				.session()
				.palette()
				.filter(({ origin }) => OFF.some((path) => origin.includes(path))),
		).toEqual([]);
	},
);

test("all examples together report nothing when the session starts, reloads and ends", async () => {
	const app = await startApp({ agentSettings: { hooks: OFF } });
	await app.terminal.waitFor("pi · shop");
	const problems: string[] = [];
	app.session().subscribe((event) => {
		if (event.type === "hook_error") problems.push(`${event.hookPath}: ${event.error}`);
	});
	await untilIdle(app.session());
	await app.session().reload();
	expect(app.session().loaded.warnings).toEqual([]);
	await app.session().dispose();
	expect(problems).toEqual([]);
});
