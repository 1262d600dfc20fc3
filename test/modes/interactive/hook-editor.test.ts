import { expect, test } from "vitest";
import { start } from "./hook-board.js";

/** A component around the editor that says its name, and turns a key into another one. */
const around = (name: string, key: string, becomes: string) => `ctx.ui.setEditor((tui, theme, keys, editor) => ({
	render: (width) => ["<${name}>", ...editor.render(width)],
	invalidate() {},
	handleInput: (data) => editor.handleInput(data === "${key}" ? "${becomes}" : data),
}))`;

test("a hook draws the editor and changes its keys, and the next one is around it", async () => {
	const app = await start(
		{ one: around("one", "a", "b"), gone: "ctx.ui.setEditor(undefined)" },
		{
			hooks: {
				"other.ts": `export default (pi) => pi.command("two", { handler: (ctx) => { ${around("two", "x", "a")} } });`,
			},
		},
	);
	await app.submit("/one");
	await app.terminal.waitFor("<one>");
	await app.submit("/two");
	await app.terminal.waitFor("<two>");
	const rows = await app.terminal.screen();
	expect(rows.indexOf("<one>")).toBe(rows.indexOf("<two>") + 1);
	// The outer one turns x into a, the inner one that into b.
	await app.terminal.type("x!");
	await app.terminal.waitFor(/^ b! $/m);
	await app.terminal.press("ctrl+c");
	await app.submit("/gone");
	await expect.poll(async () => (await app.terminal.screen()).join("\n")).not.toContain("<one>");
	await app.terminal.type("x!");
	await app.terminal.waitFor(/^ a! $/m);
});

test("the key that ends pi reaches the editor, whatever a hook does with keys", async () => {
	const app = await start({
		wall: `ctx.ui.setEditor((tui, theme, keys, editor) => ({ ...editor, handleInput() {} }))`,
	});
	app.provider.reply("ok");
	await app.submit("/wall");
	await app.terminal.type("lost");
	await app.terminal.press("ctrl+c");
	await app.terminal.waitFor("again to quit");
	await app.terminal.press("ctrl+c");
	expect(await app.exit).toBe(0);
});

test.each([
	["throws when it draws", "render() { throw new Error('no paint') }", "no paint"],
	["throws at a key", "handleInput() { throw new Error('no hands') }", "no hands"],
])("a component around the editor that %s is reported and removed, and the editor works", async (_, member, reason) => {
	const app = await start({
		break: `ctx.ui.setEditor((tui, theme, keys, editor) => ({ ...editor, ${member} }))`,
	});
	await app.submit("/break");
	await app.terminal.type("still here");
	await app.terminal.waitFor(/^ still here $/m);
	await app.terminal.waitFor(reason);
	expect((await app.terminal.screen()).filter((row) => row.startsWith("────"))).toHaveLength(2);
});

test("a factory that returns no component is reported", async () => {
	const app = await start({ break: "ctx.ui.setEditor(() => 7)" });
	await app.submit("/break");
	await app.terminal.waitFor("the factory did not return a");
	await app.terminal.type("still here");
	await app.terminal.waitFor(/^ still here $/m);
});
