import { expect, test } from "vitest";
import { createListPage } from "../../../../src/modes/interactive/dialogs/list-page.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { startApp } from "../app.js";
import { panel } from "./support.js";

const HOOK = `export default (pi) => pi.command("pop", { description: "Pop to a turn", argumentHint: "[turn]", handler: () => {} });`;

const ROWS = [
	{ label: "text", text: "says what you want; the model reads, edits and runs things in this directory" },
	{ label: "@file", text: "names a file" },
	{
		label: "/compact [focus]",
		text: "Summarize earlier messages to free context",
		origin: "built-in",
		insert: "/compact ",
	},
	{ label: "/pop [turn]", text: "Pop to a turn", origin: "hook stack", insert: "/pop " },
];

test.each([80, 40])("each row has its text and origin, and the selected one is shown in full, at %d", async (width) => {
	const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 };
	const page = createListPage(look, { title: "Commands and other input", rows: ROWS }, () => {});
	await expect(`${page.render(width).join("\n")}\n`).toMatchFileSnapshot(`../../../screens/help-${width}.txt`);
});

test("? shows the help over the editor and leaves no trace", async () => {
	const { terminal } = await startApp({ hooks: { "stack.ts": HOOK } });
	await terminal.waitFor("0%");
	const before = await terminal.text();
	await terminal.type("?");
	await terminal.waitFor("Commands and other input");
	await terminal.press("escape");
	await terminal.waitFor((screen) => !screen.join("").includes("Commands and other input"));
	expect(await terminal.text()).toBe(before);
	expect(await terminal.scrollback()).toEqual(await terminal.screen());
});

test("a command found in the help is put into the editor", async () => {
	const { terminal, submit } = await startApp({ hooks: { "stack.ts": HOOK } });
	await terminal.waitFor("0%");
	await submit("/help");
	await terminal.waitFor("Commands and other input");
	await terminal.type("pop");
	await terminal.press("enter");
	await terminal.waitFor(/^ *\/pop *$/m);
	await terminal.type("2");
	await terminal.waitFor(/^ *\/pop 2 *$/m);
});

test("/hotkeys lists the current keys, and typing filters them", async () => {
	const app = await startApp({
		rows: 24,
		mode: { keybindings: () => ({ value: { "app.model": "ctrl+e" }, placeOf: () => "", problem: null }) },
	});
	await app.terminal.waitFor("0%");
	await app.submit("/hotkeys");
	await app.terminal.waitFor(/^ Key bindings/m);
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/hotkeys.txt");
	await app.terminal.type("choose the");
	await app.terminal.waitFor(/→ ctrl\+e +Choose the model/);
	await app.terminal.press("enter");
	await app.terminal.waitFor((screen) => !screen.join("").includes("Key bindings"));
});

test("on a narrow screen the description of the selected key is shown in full below the list", async () => {
	const app = await startApp({ columns: 40, rows: 24 });
	await app.terminal.waitFor("0%");
	await app.submit("/hotkeys");
	await app.terminal.waitFor(/^ Key bindings/m);
	const screen = await app.terminal.screen();
	expect(screen).toContainEqual(expect.stringMatching(/^ → esc +Stop the.*…$/));
	expect(screen).toContain(" Stop the run; twice: branch");
});
