import { getKeybindings } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test } from "vitest";
import { KEY_ACTIONS } from "../../src/tui/key-table.js";
import { createKeymap, type Keymap } from "../../src/tui/keymap.js";

test("actions have their default keys, in legacy and in Kitty form", () => {
	const keymap = createKeymap();
	expect(keymap.matches("\x03", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b[99;5u", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b[27;5;99~", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b", "app.abort")).toBe(true);
	expect(keymap.matches("\x1b[Z", "app.mode")).toBe(true);
	expect(keymap.matches("\x1bt", "app.thinkingLevel")).toBe(true);
	expect(keymap.matches("\x1b[116;3u", "app.thinkingLevel")).toBe(true);
	expect(keymap.matches("\x1b\r", "app.followUp")).toBe(true);
	expect(keymap.matches("\x0f", "app.interrupt")).toBe(false);
	expect(keymap.problems).toEqual([]);
});

test("a user's binding of the thinking level to its former key still works", () => {
	const keymap = createKeymap({ "app.thinkingLevel": "shift+tab" });
	onTestFinished(() => void createKeymap());
	expect(keymap.actionOf("\x1b[Z", { "app.mode": 1, "app.thinkingLevel": 1 })).toBe("app.thinkingLevel");
	expect(keymap.problems).toEqual([expect.stringContaining('leaves "app.mode" without a key')]);
});

test("key releases never match", () => {
	const keymap = createKeymap();
	expect(keymap.matches("\x1b[99;5:1u", "app.interrupt")).toBe(true);
	expect(keymap.matches("\x1b[99;5:3u", "app.interrupt")).toBe(false);
});

test("the user's keys replace the defaults and are displayed", () => {
	const keymap = createKeymap({ "app.model": ["alt+m", "f2"], "app.suspend": [] });
	onTestFinished(() => void createKeymap());
	expect(keymap.matches("\x1bm", "app.model")).toBe(true);
	expect(keymap.matches("\x0c", "app.model")).toBe(false);
	expect(keymap.matches("\x1a", "app.suspend")).toBe(false);
	expect(keymap.keysOf("app.model")).toBe("alt+m / f2");
	expect(keymap.keyOf("app.editQueue")).toBe("alt+↑");
	expect(keymap.keysOf("dialog.cancel")).toBe("esc / ctrl+c");
	expect(keymap.list()).toContainEqual(["alt+m / f2", "Choose the model", "Editor"]);
	expect(keymap.list().map(([, text]) => text)).not.toContain("Suspend; fg comes back");
});

test("only actions that pi uses are listed", () => {
	const listed = createKeymap().list();
	expect(listed.filter(([keys]) => /^ctrl\+c\b/.test(keys))).toEqual([
		["ctrl+c", "Clear the editor, or stop the run; twice: quit", "Editor"],
	]);
	expect(listed).toContainEqual(["ctrl+k", "Delete to line end", "Editor"]);
});

test("mistakes in the user's keys are reported with their location, and the rest applies", () => {
	const bindings = {
		"app.modle": "f1",
		"app.model": "ctrl+pagup",
		"app.exit": ["ctrl+q", 7],
		"app.toggleThinking": "f4",
	};
	const keymap = createKeymap(bindings, (action, key) => `keybindings.json (${action} ${key ?? ""})`);
	onTestFinished(() => void createKeymap());
	expect(keymap.problems).toEqual([
		'keybindings.json (app.modle ): unknown action "app.modle" · did you mean app.model or app.mode?',
		'keybindings.json (app.model ctrl+pagup): unknown key "ctrl+pagup" for "app.model" · did you mean pageup?',
		'keybindings.json (app.exit ): unknown key 7 for "app.exit" · valid keys look like "ctrl+e", "alt+up" or "f5"',
	]);
	expect(["app.model", "app.exit", "app.toggleThinking"].map((id) => keysOf(keymap, id))).toEqual([
		"ctrl+l",
		"ctrl+q",
		"f4",
	]);
	expect(createKeymap([1]).problems).toEqual(["Key bindings must be a JSON object of actions and keys"]);
});

/** Keys of an action, which may be one of pi-tui's editor. */
function keysOf(keymap: Keymap, action: string): string | undefined {
	const { description } = KEY_ACTIONS.find((known) => known.action === action) ?? {};
	return keymap.list().find(([, does]) => does === description)?.[0];
}

test("on the same key, a user's action wins over a default, and the user's first action over the second", () => {
	const keymap = createKeymap({
		"app.modelNext": "ctrl+o",
		"app.model": ["f2", "Ctrl+E"],
		"tui.editor.undo": ["alt+j", "f2"],
		"dialog.up": "f2",
		"app.exit": ["ctrl+d", "ctrl+q"],
	});
	onTestFinished(() => void createKeymap());
	expect(keymap.problems).toEqual([
		'keybindings.json: f2 is already bound to "app.model", so "tui.editor.undo" does not get it · choose another key for one',
		'keybindings.json: binding ctrl+o to "app.modelNext" leaves "app.transcript" without a key · bind it to another one',
	]);
	expect(keymap.matches("\x0f", "app.modelNext")).toBe(true);
	expect(keymap.matches("\x0f", "app.transcript")).toBe(false);
	expect(keysOf(keymap, "tui.editor.undo")).toBe("alt+j");
	expect(keysOf(keymap, "tui.editor.cursorLineEnd")).toBe("end");
	expect(keymap.keysOf("dialog.up")).toBe("f2");
	expect(keysOf(keymap, "tui.editor.deleteCharForward")).toBe("delete / ctrl+d");
});

test("no two actions share a default key, except those that share it on purpose", () => {
	for (const { action, keys } of KEY_ACTIONS) {
		const keymap = createKeymap({ [action]: keys });
		expect([action, keymap.problems]).toEqual([action, []]);
		expect(keymap.list()).toEqual(createKeymap().list());
	}
});

test("reloaded keys apply at once, in pi-tui's components too", () => {
	const keymap = createKeymap({ "app.model": "f2" });
	onTestFinished(() => void createKeymap());
	keymap.reload({ "tui.editor.undo": "f3" });
	expect(keymap.matches("\x0c", "app.model")).toBe(true);
	expect(getKeybindings().matches("\x1bOR", "tui.editor.undo")).toBe(true);
	expect(getKeybindings().matches("\x1f", "tui.editor.undo")).toBe(false);
});

test("actions conflict only if they are active at the same time", () => {
	const keymap = createKeymap({
		"contextPanel.filter": "y",
		"compactionPanel.edit": "r",
		"question.no": "q",
		"hooksPanel.reload": "escape",
	});
	onTestFinished(() => void createKeymap());
	expect(keymap.problems).toEqual([
		'keybindings.json: binding y to "contextPanel.filter" leaves "contextPanel.copy" without a key · bind it to another one',
		'keybindings.json: binding r to "compactionPanel.edit" leaves "compactionPanel.redraft" without a key · bind it to another one',
	]);
	expect(keymap.keysOf("pager.copy")).toBe("y");
	expect(keymap.keysOf("pager.close")).toBe("q");
	expect(keymap.keysOf("question.yes")).toBe("y / Y");
	expect(keymap.keysOf("dialog.cancel")).toBe("ctrl+c");
	expect(keymap.keysOf("app.abort")).toBe("esc");
});

test("a capital letter means Shift, and punctuation matches on every keyboard layout", () => {
	const keymap = createKeymap({ "contextPanel.copyAll": "W" });
	onTestFinished(() => void createKeymap());
	expect(keymap.keyOf("contextPanel.copyAll")).toBe("W");
	expect([keymap.matches("W", "contextPanel.copyAll"), keymap.matches("w", "contextPanel.copyAll")]).toEqual([
		true,
		false,
	]);
	expect(keymap.matches("\x1b[47:63;2u", "app.help")).toBe(true);
	expect(keymap.matches("\x1b[200~?\x1b[201~", "app.help")).toBe(false);
});
