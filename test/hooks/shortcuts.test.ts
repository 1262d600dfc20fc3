import { expect, test } from "vitest";
import { createKeymap } from "../../src/tui/keymap.js";
import { startSession } from "../helpers/session.js";

test.each([
	[`"ctrl+pagup", { handler() {} }`, '"ctrl+pagup" is not a valid key · did you mean pageup?'],
	[`"hyper+§", { handler() {} }`, '"hyper+§" is not a valid key · valid keys look like "ctrl+e", "alt+up" or "f5"'],
	[`7, { handler() {} }`, '7 is not a valid key · valid keys look like "ctrl+e", "alt+up" or "f5"'],
	[`"x", { handler() {} }`, "the key x types a character · add ctrl+ or alt+, or use f1 to f12"],
	[`"shift+space", { handler() {} }`, "the key shift+space types a character"],
	[`"ctrl+q"`, "the shortcut ctrl+q has no handler"],
	[`"ctrl+q", { description: 7, handler() {} }`, "the description of the shortcut ctrl+q is not a string"],
])("pi.shortcut(%s) is refused", async (call, reason) => {
	const { session } = await startSession({ hooks: { "x.ts": `export default (pi) => pi.shortcut(${call});` } });
	expect(session.loaded.warnings.join()).toContain(reason);
	expect(session.shortcuts).toEqual([]);
});

test("ids count the shortcuts of a hook, and descriptions are safe for a terminal", async () => {
	const source = `export default (pi) => {
		pi.shortcut("f5", { description: "red \\x1b[31mtext\\n on two lines", handler() {} });
		pi.shortcut("f6", { handler() {} });
	};`;
	const { session } = await startSession({ hooks: { "a.ts": source, "b.ts": source } });
	expect(session.shortcuts.map(({ id, key, description }) => [id, key, description])).toEqual([
		["hook.a.0", "f5", "red text on two lines"],
		["hook.a.1", "f6", "Shortcut f6"],
		["hook.b.0", "f5", "red text on two lines"],
		["hook.b.1", "f6", "Shortcut f6"],
	]);
});

test("a hook that is turned off has no shortcuts, and its old ones do nothing", async () => {
	const { session, notices } = await startSession({
		hooks: { "a.ts": `export default (pi) => pi.shortcut("f5", { handler: () => ({ status: "done" }) });` },
	});
	const [shortcut] = session.shortcuts;
	if (!shortcut) throw new Error("no shortcut");
	expect(await session.runShortcut(shortcut)).toEqual({ kind: "command", status: "done" });
	await session.reload();
	expect(session.shortcuts).not.toBe([shortcut]);
	expect(session.shortcuts).toHaveLength(1);
	expect(notices()).toContain("done");
});

test("a key that a plain terminal cannot tell from one in use is in use", () => {
	const keymap = createKeymap();
	const key = { id: "hook.a.0", key: "ctrl+i", description: "Italic", hook: "a" };
	keymap.setHookKeys([key]);
	expect(keymap.hookProblems).toHaveLength(1);
	expect(keymap.hookKeyOf("\t")).toBeUndefined();
	keymap.setHookKeys([{ ...key, key: "ctrl+q" }]);
	expect(keymap.hookProblems).toEqual([]);
	expect(keymap.hookKeyOf("\x11")).toBe("hook.a.0");
	keymap.setHookKeys([]);
	expect(keymap.hookKeyOf("\x11")).toBeUndefined();
});
