import { expect, test } from "vitest";
import { skipTime } from "../../helpers/skip-time.js";
import { type App, startApp } from "./app.js";
import { panel, startWithWork, TAIL } from "./dialogs/support.js";

function bind(bindings: unknown) {
	return { keybindings: () => ({ value: bindings, placeOf: () => "keybindings.json", problem: null }) };
}

/** The part of the panel that names its keys. */
async function hints(app: App): Promise<string> {
	return (await panel(app)).filter((line) => line.includes(" · ")).join("\n");
}

test("a letter of the context panel can be rebound, and the panel names the new key", async () => {
	const app = await startWithWork({ "tail.ts": TAIL }, {}, bind({ "contextPanel.hidden": "z", "dialog.up": "k" }));
	await app.submit("/tail");
	await app.submit("/context");
	await app.terminal.waitFor("Next request");
	await app.terminal.waitFor("z 4 hidden");
	expect(await hints(app)).toContain(" k ↓ move ");
	await app.terminal.type("h");
	expect(await hints(app)).toContain("z 4 hidden");
	await app.terminal.type("z");
	await app.terminal.waitFor("z without hidden");
	expect((await panel(app)).filter((line) => line.includes("┆"))).toHaveLength(4);
});

test("an action without a key is not listed", async () => {
	const app = await startWithWork({}, {}, bind({ "contextPanel.diff": [], "contextPanel.copy": "c" }));
	await app.submit("/context");
	await app.terminal.waitFor("c copy");
	expect(await hints(app)).not.toContain("diff to");
});

test("? can be rebound: the header names the new key, and ? inserts a character", async () => {
	const app = await startApp({ columns: 90, mode: bind({ "app.help": "f1" }) });
	await app.terminal.waitFor("f1 help");
	await app.terminal.type("?");
	await app.terminal.waitFor(/^ *\? *$/m);
	expect(await app.terminal.text()).not.toContain("Commands and other input");
	app.terminal.send("\x1bOP");
	await app.terminal.waitFor("Commands and other input");
});

test("help on a letter opens only in an empty editor", async () => {
	const app = await startApp({ mode: bind({ "app.help": "h" }) });
	await app.terminal.waitFor("0%");
	await app.terminal.type("ah");
	await app.terminal.waitFor(/^ *ah *$/m);
	await app.terminal.press("ctrl+u");
	await app.terminal.type("h");
	await app.terminal.waitFor("Commands and other input");
});

test("the keys of a question can be rebound, and the question names them", async () => {
	const app = await startApp({
		hooks: {
			"ask.ts": `export default (pi) => pi.command("ask", { handler: async (ctx) => ctx.ui.notify("sure: " + (await ctx.ui.confirm("Sure?", "it deletes all"))) });`,
		},
		mode: bind({ "question.yes": "j", "dialog.accept": "f2" }),
	});
	await app.terminal.waitFor("0%");
	await app.submit("/ask");
	await app.terminal.waitFor("↑↓ choose · f2 · esc no");
	expect(await app.terminal.text()).toMatch(/→ n {2}No\n +j {2}Yes/);
	await app.terminal.type("y");
	await app.terminal.press("enter");
	expect(await app.terminal.text()).toContain("Sure?");
	skipTime(1);
	await app.terminal.type("j");
	await app.terminal.waitFor("sure: true");
});

test("reloaded keys are shown on the screen immediately", async () => {
	let bindings: unknown = {};
	const app = await startApp({
		mode: { keybindings: () => ({ value: bindings, placeOf: () => "keybindings.json", problem: null }) },
	});
	await app.terminal.waitFor("? help");
	bindings = { "app.help": "f3" };
	await app.submit("/reload");
	await app.terminal.waitFor("f3 help");
});
