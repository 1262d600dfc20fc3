import { expect, test } from "vitest";
import { type App, startApp } from "./app.js";

const SUGGESTION = "The tests fail. Find out why, fix it and run them again.";

async function start(columns: number): Promise<App> {
	const app = await startApp({ columns, mode: { suggestion: SUGGESTION } });
	await app.terminal.waitFor("0%");
	return app;
}

const PLACEHOLDER = "   Ask anything, or type / for commands";

/** The rows between the editor's borders. */
async function editorRows(app: App): Promise<string[]> {
	const screen = await app.terminal.screen();
	const to = screen.findLastIndex((line) => line.startsWith("──"));
	const from = screen.findLastIndex((line, index) => index < to && line.startsWith("──"));
	return screen.slice(from + 1, to).map((line) => line.trimEnd());
}

test.each([
	[40, [" The tests fail. Find out why, fix it", " and run them again.", " enter sends · tab edits"]],
	[80, [" The tests fail. Find out why, fix it and run them again.", " enter sends · tab edits"]],
	[120, [" The tests fail. Find out why, fix it and run them again.   enter sends · tab edits"]],
])("at %i columns the empty editor shows the suggestion and its keys", async (columns, rows) => {
	const app = await start(columns);
	expect(await editorRows(app)).toEqual(rows);
	// The cursor is on the first letter, and the rest is styled.
	expect(app.terminal.output).toMatch(/T\x1b\[0?m\x1b\[[\d;]+mhe tests fail/);
});

test("typing replaces the suggestion, and an empty editor shows it again until something is sent", async () => {
	const app = await start(80);
	await app.terminal.type("/");
	expect((await editorRows(app))[0]).toBe(" /");
	await app.terminal.press("backspace");
	expect((await editorRows(app))[0]).toBe(` ${SUGGESTION}`);
	app.provider.reply("Hello.");
	await app.submit("hi");
	await app.terminal.waitFor("Hello.");
	expect(await editorRows(app)).toEqual([PLACEHOLDER]);
	expect(app.session().context.messages[0]).toMatchObject({ message: { content: "hi" } });
});

test("enter sends the suggestion", async () => {
	const app = await start(80);
	app.provider.reply("I look.");
	await app.terminal.press("enter");
	await app.terminal.waitFor("I look.");
	expect(app.provider.requests[0]?.messages.at(-1)?.text).toBe(SUGGESTION);
	expect(await editorRows(app)).toEqual([PLACEHOLDER]);
	await app.terminal.press("up");
	expect((await editorRows(app))[0]).toBe(` ${SUGGESTION}`);
});

test.each(["tab", "right"] as const)("%s makes the suggestion text that can be edited", async (key) => {
	const app = await start(120);
	await app.terminal.press(key);
	expect(await editorRows(app)).toEqual([` ${SUGGESTION}`]);
	await app.terminal.type(" Now");
	app.provider.reply("I look.");
	await app.terminal.press("enter");
	await app.terminal.waitFor("I look.");
	expect(app.provider.requests[0]?.messages.at(-1)?.text).toBe(`${SUGGESTION} Now`);
});

test("ctrl+c removes the suggestion", async () => {
	const app = await start(80);
	await app.terminal.press("ctrl+c");
	expect(await editorRows(app)).toEqual([PLACEHOLDER]);
});

test("the placeholder of an empty editor is never sent, and gives way to typed text", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	expect(await editorRows(app)).toEqual([PLACEHOLDER]);
	await app.terminal.press("enter", "tab", "right");
	expect(app.provider.requests).toEqual([]);
	expect(await editorRows(app)).toEqual([PLACEHOLDER]);
	await app.terminal.type("x");
	expect(await editorRows(app)).toEqual([" x"]);
});

test.each([
	[41, PLACEHOLDER],
	[40, PLACEHOLDER],
	[39, ""],
])("at %i columns, a placeholder that does not fit is left out", async (columns, row) => {
	const app = await startApp({ columns });
	await app.terminal.waitFor("────");
	expect(await editorRows(app)).toEqual([row]);
});
