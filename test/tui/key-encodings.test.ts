import { getKeybindings, type Keybinding, setKittyProtocolActive } from "@mariozechner/pi-tui";
import { afterEach, describe, expect, test } from "vitest";
import { KEY_ACTIONS, type KeyAction } from "../../src/tui/key-table.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { encodingsOf } from "../helpers/key-encodings.js";

/** Keys that a plain terminal cannot send: it sends them without the modifier. */
const NOT_PLAIN = ["shift+ctrl+p", "shift+ctrl+z", "shift+enter"];

/** The actions of the scope of `of` that an input sequence fires, in pi and in pi-tui's components. */
function fired(data: string, of: KeyAction): KeyAction[] {
	const keymap = createKeymap();
	const found = KEY_ACTIONS.filter(({ action, scope }) => scope === scopeOf(of) && keymap.matches(data, action));
	const actions = found.map(({ action }) => action);
	const inEditor = actions.filter(isKeybinding);
	expect(inEditor.filter((action) => getKeybindings().matches(data, action))).toEqual(inEditor);
	return actions;
}

function scopeOf(action: KeyAction): string | undefined {
	return KEY_ACTIONS.find((listed) => listed.action === action)?.scope;
}

function isKeybinding(action: string): action is Keybinding {
	return action.startsWith("tui.");
}

/** Every action of the scope of `of` that a key runs, where one action leaves it to another. */
function expected(key: string, of: KeyAction): KeyAction[] {
	const found = KEY_ACTIONS.filter(({ keys, scope }) => scope === scopeOf(of) && keys.includes(key));
	return found.map(({ action }) => action);
}

const CASES = KEY_ACTIONS.flatMap(({ action, keys }) => keys.map((key): [string, KeyAction] => [key, action]));

afterEach(() => setKittyProtocolActive(false));

describe.each(CASES)("%s fires %s", (key, action) => {
	const { legacy, modifyOtherKeys, csiU, kitty } = encodingsOf(key);

	test("on a plain terminal", () => {
		if (legacy === undefined) expect(NOT_PLAIN).toContain(key);
		else expect(fired(legacy, action)).toEqual(expected(key, action));
	});

	test("with modifyOtherKeys, in both forms", () => {
		expect([fired(modifyOtherKeys, action), fired(csiU, action)]).toEqual([
			expected(key, action),
			expected(key, action),
		]);
	});

	test("with the Kitty protocol: pressed, held, with Caps Lock, but not released", () => {
		setKittyProtocolActive(true);
		expect(Object.entries(kitty).map(([name, data]) => [name, fired(data, action)])).toEqual([
			["press", expected(key, action)],
			["repeat", expected(key, action)],
			["release", []],
			["capsLock", expected(key, action)],
		]);
	});
});

test.each([
	["a plain terminal", "\x1f"],
	["xterm with modifyOtherKeys", "\x1b[27;6;95~"],
	["the same, in the shorter form", "\x1b[95;6u"],
	["the Kitty protocol", "\x1b[45:95;6u"],
])("ctrl+underscore undoes like ctrl+minus on %s", (_, data) => {
	expect(fired(data, "tui.editor.undo")).toEqual(["tui.editor.undo"]);
});

test("a key with a non-Latin letter is recognized by its position on the keyboard", () => {
	setKittyProtocolActive(true);
	expect(fired("\x1b[1089::99;5u", "app.interrupt")).toEqual(["app.interrupt"]);
});
