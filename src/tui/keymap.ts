import {
	isKeyRelease,
	type KeybindingDefinitions,
	type KeybindingsConfig,
	KeybindingsManager,
	type KeyId,
	matchesKey,
	setKeybindings,
	TUI_KEYBINDINGS,
} from "@mariozechner/pi-tui";

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
	"app.searchHistory": { defaultKeys: "ctrl+r", description: "Search what was sent before" },
	"app.pasteImage": { defaultKeys: "ctrl+v", description: "Paste an image" },
	"dialog.accept": { defaultKeys: "enter", description: "Accept" },
	"dialog.cancel": { defaultKeys: ["escape", "ctrl+c"], description: "Cancel" },
	"dialog.up": { defaultKeys: ["up", "ctrl+p"], description: "Up" },
	"dialog.down": { defaultKeys: ["down", "ctrl+n"], description: "Down" },
	"dialog.pageUp": { defaultKeys: "pageUp", description: "Page up" },
	"dialog.pageDown": { defaultKeys: "pageDown", description: "Page down" },
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
	/** One sentence for each user binding that was left out or clashes. */
	readonly problems: readonly string[];
}

/** The terminal's own selection is what copies: in pi the key of this does something else. */
const COPY = "tui.input.copy";
const KEY = /^(?:(?:ctrl|shift|alt|super)\+)*(?:[a-z]+|f\d{1,2}|[!-~])$/i;
const NAMED_KEYS = new Set(
	(
		"escape esc enter return tab space backspace delete insert clear home end pageup pagedown up down left right " +
		"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12"
	).split(" "),
);
const DISPLAY: Record<string, string> = { escape: "esc", up: "↑", down: "↓", left: "←", right: "→" };

/**
 * Resolves the keys and makes them those of every pi-tui component too.
 * `userBindings` is the parsed `keybindings.json`: action to key or keys; an empty list unbinds. Anything else in it is
 * left out and told in `problems`.
 */
export function createKeymap(userBindings: unknown = {}): Keymap {
	const definitions: KeybindingDefinitions = { ...TUI_KEYBINDINGS, ...APP_KEYS };
	const problems: string[] = [];
	const user = readBindings(userBindings, definitions, problems);
	const manager = new KeybindingsManager(definitions, user);
	setKeybindings(manager);
	const resolved = manager.getResolvedBindings();
	const keys = (id: string): KeyId[] => [resolved[id] ?? []].flat();
	problems.push(...clashes(keys));
	return {
		problems,
		matches: (data, action) => !isKeyRelease(data) && keys(action).some((key) => matchesKey(data, key)),
		keysOf: (action) => keys(action).map(displayKey).join(" / "),
		keyOf: (action) => keys(action).map(displayKey)[0] ?? "",
		list: () =>
			[...Object.keys(APP_KEYS), ...Object.keys(TUI_KEYBINDINGS)]
				.filter((id) => /^(?:app|tui\.editor|tui\.input)\./.test(id) && id !== COPY && keys(id).length > 0)
				.map((id) => [keys(id).map(displayKey).join(" / "), definitions[id]?.description ?? id]),
	};
}

function displayKey(key: string): string {
	return key
		.split("+")
		.map((part) => DISPLAY[part] ?? part)
		.join("+");
}

function readBindings(value: unknown, definitions: KeybindingDefinitions, problems: string[]): KeybindingsConfig {
	const bindings: KeybindingsConfig = {};
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		problems.push("Key bindings must be an object of action and key");
		return bindings;
	}
	for (const [id, given] of Object.entries(value)) {
		const candidates: unknown[] = Array.isArray(given) ? given : [given];
		const keys = candidates.filter(isKeyId);
		if (!Object.hasOwn(definitions, id)) problems.push(`No action is called "${id}"`);
		else if (keys.length < candidates.length) problems.push(`"${id}" has a key that does not exist`);
		else bindings[id] = keys;
	}
	return bindings;
}

function isKeyId(value: unknown): value is KeyId {
	if (typeof value !== "string" || !KEY.test(value)) return false;
	const base = value.slice(value.lastIndexOf("+", value.length - 2) + 1).toLowerCase();
	return base.length === 1 || NAMED_KEYS.has(base);
}

/** Two `app` actions on one key: the second would never run. */
function clashes(keys: (id: string) => KeyId[]): string[] {
	const owners = new Map<string, string>();
	const found: string[] = [];
	for (const id of Object.keys(APP_KEYS).filter((name) => name.startsWith("app."))) {
		for (const key of keys(id)) {
			const owner = owners.get(key);
			if (owner) found.push(`${key} is bound to both "${owner}" and "${id}"`);
			else owners.set(key, id);
		}
	}
	return found;
}
