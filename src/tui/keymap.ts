import {
	isKeyRelease,
	type Keybinding,
	type KeybindingDefinitions,
	type KeybindingsConfig,
	KeybindingsManager,
	type KeyId,
	matchesKey,
	setKeybindings,
	TUI_KEYBINDINGS,
} from "@mariozechner/pi-tui";
import { type PlaceOfBinding, resolveBindings } from "./key-bindings.js";

/** What keys do in pi, with their default keys. The editor's own keys come from pi-tui. */
const APP_KEYS = {
	"app.abort": { defaultKeys: "escape", description: "Stop the run; twice: branch" },
	"app.interrupt": { defaultKeys: "ctrl+c", description: "Clear the editor; twice: quit" },
	"app.exit": { defaultKeys: "ctrl+d", description: "Quit when the editor is empty" },
	"app.suspend": { defaultKeys: "ctrl+z", description: "Suspend; fg comes back" },
	"app.model": { defaultKeys: "ctrl+l", description: "Choose the model" },
	"app.modelNext": { defaultKeys: "ctrl+p", description: "Next model" },
	"app.modelPrevious": { defaultKeys: "shift+ctrl+p", description: "Previous model" },
	"app.thinkingLevel": { defaultKeys: "shift+tab", description: "Next thinking level" },
	"app.expandTools": { defaultKeys: "ctrl+o", description: "Show all tool output, or a preview" },
	"app.toggleThinking": { defaultKeys: "ctrl+t", description: "Show or hide thinking" },
	"app.externalEditor": { defaultKeys: "ctrl+g", description: "Write the prompt in $VISUAL or $EDITOR" },
	"app.followUp": { defaultKeys: "alt+enter", description: "Send after the run" },
	"app.editQueue": { defaultKeys: "alt+up", description: "Put queued prompts back into the editor" },
	"app.redo": { defaultKeys: ["alt+z", "shift+ctrl+z"], description: "Take an undo back" },
	"app.searchHistory": { defaultKeys: "ctrl+r", description: "Search what was sent before" },
	"app.pasteImage": { defaultKeys: "ctrl+v", description: "Paste an image" },
	"dialog.accept": { defaultKeys: "enter", description: "Accept" },
	"dialog.cancel": { defaultKeys: ["escape", "ctrl+c"], description: "Cancel" },
	"dialog.up": { defaultKeys: ["up", "ctrl+p"], description: "Up" },
	"dialog.down": { defaultKeys: ["down", "ctrl+n"], description: "Down" },
	"dialog.pageUp": { defaultKeys: "pageUp", description: "Page up" },
	"dialog.pageDown": { defaultKeys: "pageDown", description: "Page down" },
	"dialog.scope": { defaultKeys: "tab", description: "List fewer, or all" },
	"dialog.rename": { defaultKeys: "ctrl+r", description: "Rename what is selected" },
	"dialog.delete": { defaultKeys: ["ctrl+d", "delete"], description: "Delete what is selected" },
} as const satisfies KeybindingDefinitions;

/** The name of something that a key does. */
export type KeyAction = keyof typeof APP_KEYS;

/** Resolved keys: the defaults, with the user's in place of those they name. */
export interface Keymap {
	/** Whether an input sequence is a key of `action`. Releases never match. */
	matches(data: string, action: KeyAction): boolean;
	/** The keys of `action` for display, such as `ctrl+o` or `esc / ctrl+c`; empty when it has none. */
	keysOf(action: KeyAction): string;
	/** The first key of `action` for display; empty when it has none. */
	keyOf(action: KeyAction): string;
	/** Every action that has keys, as `[keys, description]`; pi's own first, then the editor's. */
	list(): [string, string][];
	/** Takes other bindings of the user from here on, as `createKeymap` does. */
	reload(userBindings: unknown, placeOf?: PlaceOfBinding): void;
	/** One sentence for each user binding that was left out or clashes. */
	readonly problems: readonly string[];
}

/** What nothing in pi listens for: the terminal's own selection is what copies, and lists of completions have no pages. */
const UNUSED = new Set(["tui.input.copy", "tui.select.pageUp", "tui.select.pageDown"]);
/** Ctrl and underscore, which is Ctrl and minus on a plain terminal, as keyboards with more keys report it. */
const CTRL_UNDERSCORE = /^\x1b\[(?:95;[56](?::\d)?u|45(?::95)?;6(?::\d)?u|27;[56];95~|27;6;45~)$/;
const CTRL_MINUS = "\x1f";
/** A line feed is Ctrl and J, which a terminal in raw mode never sends for Enter. */
const CTRL_J = "\x1b[106;5u";
const DISPLAY: Record<string, string> = { escape: "esc", up: "↑", down: "↓", left: "←", right: "→" };
const DEFINITIONS: KeybindingDefinitions = {
	...TUI_KEYBINDINGS,
	// A plain terminal sends a line feed for it, which the editor takes for a new line; other keyboards name the key.
	"tui.input.newLine": { defaultKeys: ["shift+enter", "ctrl+j"], description: "Insert newline" },
	...APP_KEYS,
};

/** Every action that keys can be given, with its default keys, as the documentation lists them. */
export const KEY_ACTIONS: readonly { action: string; keys: readonly string[]; description: string }[] = [
	...Object.keys(APP_KEYS),
	...Object.keys(TUI_KEYBINDINGS).filter((id) => !UNUSED.has(id)),
].map((action) => ({
	action,
	keys: [DEFINITIONS[action]?.defaultKeys ?? []].flat(),
	description: DEFINITIONS[action]?.description ?? action,
}));

/**
 * Resolves the keys and makes them those of every pi-tui component too.
 * `userBindings` is the parsed `keybindings.json`: action to key or keys; an empty list unbinds. Anything else in it is
 * left out and told in `problems`.
 */
export function createKeymap(userBindings: unknown = {}, placeOf?: PlaceOfBinding): Keymap {
	let keysByAction: KeybindingsConfig = {};
	let problems: readonly string[] = [];
	const keys = (id: string): KeyId[] => [keysByAction[id] ?? []].flat();
	const keymap: Keymap = {
		get problems() {
			return problems;
		},
		matches: (data, action) => {
			if (isKeyRelease(data)) return false;
			const key = plainKey(data);
			return keys(action).some((id) => matchesKey(key, id));
		},
		keysOf: (action) => keys(action).map(displayKey).join(" / "),
		keyOf: (action) => keys(action).map(displayKey)[0] ?? "",
		list: () =>
			KEY_ACTIONS.filter(
				({ action }) => /^(?:app|tui\.editor|tui\.input)\./.test(action) && keys(action).length > 0,
			).map(({ action, description }) => [keys(action).map(displayKey).join(" / "), description]),
		reload: (value, place) => {
			const resolved = resolveBindings(value, DEFINITIONS, place);
			problems = resolved.problems;
			const manager = new PiKeybindings(DEFINITIONS, resolved.bindings);
			setKeybindings(manager);
			keysByAction = manager.getResolvedBindings();
		},
	};
	keymap.reload(userBindings, placeOf);
	return keymap;
}

/** The keys as the components of pi-tui ask for them. */
class PiKeybindings extends KeybindingsManager {
	override matches(data: string, keybinding: Keybinding): boolean {
		return !isKeyRelease(data) && super.matches(plainKey(data), keybinding);
	}
}

function plainKey(data: string): string {
	if (data === "\n") return CTRL_J;
	return CTRL_UNDERSCORE.test(data) ? CTRL_MINUS : data;
}

function displayKey(key: string): string {
	return key
		.split("+")
		.map((part) => DISPLAY[part] ?? part)
		.join("+");
}
