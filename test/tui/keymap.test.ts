import { expect, onTestFinished, test } from "vitest";
import { createKeymap } from "../../src/tui/keymap.js";

test("actions have their default keys, in legacy and in Kitty form", () => {
	const keymap = createKeymap();
	expect(keymap.matches("\x03", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b[99;5u", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b[27;5;99~", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b", "app.abort")).toBe(true);
	expect(keymap.matches("\x1b[Z", "app.thinkingLevel")).toBe(true);
	expect(keymap.matches("\x1b\r", "app.followUp")).toBe(true);
	expect(keymap.matches("\x0f", "app.interrupt")).toBe(false);
	expect(keymap.problems).toEqual([]);
});

test("key releases never match", () => {
	const keymap = createKeymap();
	expect(keymap.matches("\x1b[99;5:1u", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b[99;5:3u", "app.interrupt")).toBe(false);
});

test("a user's keys take the place of the defaults and show as they are read", () => {
	const keymap = createKeymap({ "app.model": ["alt+m", "f2"], "app.suspend": [] });
	onTestFinished(() => void createKeymap());
	expect(keymap.matches("\x1bm", "app.model")).toBe(true);
	expect(keymap.matches("\x0c", "app.model")).toBe(false);
	expect(keymap.matches("\x1a", "app.suspend")).toBe(false);
	expect(keymap.keysOf("app.model")).toBe("alt+m / f2");
	expect(keymap.keyOf("app.editQueue")).toBe("alt+↑");
	expect(keymap.keysOf("dialog.cancel")).toBe("esc / ctrl+c");
	expect(keymap.list()).toContainEqual(["alt+m / f2", "Choose the model"]);
	expect(keymap.list().map(([, text]) => text)).not.toContain("Suspend; fg comes back");
});

test("only keys that do something are listed", () => {
	const listed = createKeymap().list();
	expect(listed.filter(([keys]) => /^ctrl\+c\b/.test(keys))).toEqual([["ctrl+c", "Clear the editor; twice: quit"]]);
	expect(listed).toContainEqual(["ctrl+k", "Delete to line end"]);
});

test("what is wrong with a user's keys is told, and the rest is used", () => {
	const keymap = createKeymap({
		"app.none": "f1",
		"app.model": "ctrl+nokey",
		"app.exit": 7,
		"app.modelNext": "ctrl+o",
		"app.toggleThinking": "f4",
	});
	onTestFinished(() => void createKeymap());
	expect(keymap.problems).toEqual([
		'No action is called "app.none"',
		'"app.model" has a key that does not exist',
		'"app.exit" has a key that does not exist',
		'ctrl+o is bound to both "app.modelNext" and "app.expandTools"',
	]);
	expect(keymap.keyOf("app.toggleThinking")).toBe("f4");
	expect(createKeymap([1]).problems).toEqual(["Key bindings must be an object of action and key"]);
});
