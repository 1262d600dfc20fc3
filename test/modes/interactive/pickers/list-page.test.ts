import { expect, test } from "vitest";
import { type App, startApp } from "../app.js";

const HOOK = `export default (pi) => pi.command("pop", { description: "Pop to a turn", argumentHint: "[turn]", handler: () => {} });`;

async function overlay(app: App): Promise<string> {
	const screen = await app.terminal.screen();
	const end = screen.findLastIndex((line) => line.startsWith("~"));
	return `${screen
		.slice(
			screen.findIndex((line) => line.startsWith("──")),
			end,
		)
		.join("\n")}\n`;
}

test.each([80, 40])(
	"? shows what can be typed over the editor, and leaves nothing behind, at %d columns",
	async (columns) => {
		const app = await startApp({ columns, rows: 24, hooks: { "stack.ts": HOOK } });
		const { terminal } = app;
		await terminal.waitFor("0%");
		const before = await terminal.text();
		await terminal.type("?");
		await terminal.waitFor("What you can type");
		await expect(await overlay(app)).toMatchFileSnapshot(`../../../screens/help-${columns}.txt`);
		await terminal.press("escape");
		await terminal.waitFor((screen) => !screen.join("").includes("What you can type"));
		expect(await terminal.text()).toBe(before);
		expect(await terminal.scrollback()).toEqual(await terminal.screen());
	},
);

test("in the help a command is looked for and put into the editor", async () => {
	const { terminal, submit } = await startApp({ hooks: { "stack.ts": HOOK } });
	await terminal.waitFor("0%");
	await submit("/help");
	await terminal.waitFor("What you can type");
	await terminal.type("pop");
	await terminal.press("enter");
	await terminal.waitFor(/^ *\/pop *$/m);
	await terminal.type("2");
	await terminal.waitFor(/^ *\/pop 2 *$/m);
});

test("/hotkeys lists the keys as they are bound, and typing finds one", async () => {
	const app = await startApp({ rows: 24, mode: { keybindings: { "app.model": "ctrl+e" } } });
	await app.terminal.waitFor("0%");
	await app.submit("/hotkeys");
	await app.terminal.waitFor(/^ Keys/m);
	await expect(await overlay(app)).toMatchFileSnapshot("../../../screens/hotkeys.txt");
	await app.terminal.type("choose the");
	await app.terminal.waitFor(/→ ctrl\+e +Choose the model/);
	await app.terminal.press("enter");
	await app.terminal.waitFor((screen) => !screen.join("").includes("Keys"));
});
