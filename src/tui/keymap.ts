import {
	decodeKittyPrintable,
	isKeyRelease,
	KeybindingsManager,
	type KeyId,
	matchesKey,
	setKeybindings,
} from "@mariozechner/pi-tui";
import { type LocateBinding, resolveBindings } from "./key-bindings.js";
import { KEY_ACTIONS, KEY_DEFINITIONS, type KeyAction } from "./key-table.js";

/** Resolved keys: the defaults, overridden by the user's bindings. */
export interface Keymap {
	/** Whether an input sequence is a key of `action`. Releases and pastes never match. */
	matches(data: string, action: KeyAction): boolean;
	/** The first action in a table of handlers whose key the input sequence is. */
	actionOf(data: string, among: Readonly<Partial<Record<KeyAction, unknown>>>): KeyAction | undefined;
	/** The first key of each action for display, such as `ctrl+o` or `↑↓`; empty when none is bound. */
	keyOf(...actions: readonly KeyAction[]): string;
	/** All keys of `action` for display, such as `esc / ctrl+c`; empty when it is unbound. */
	keysOf(action: KeyAction): string;
	/** Every action that has keys, as `[keys, description, scope]`, by scope. */
	list(): [keys: string, description: string, scope: string][];
	/** Replaces the user's bindings, as `createKeymap` reads them. */
	reload(userBindings: unknown, locate?: LocateBinding): void;
	/** One message for each user binding that is ignored or conflicts. */
	readonly problems: readonly string[];
}

/** Ctrl+_ as extended keyboard protocols report it; a plain terminal sends the same byte for it as for Ctrl+-. */
const CTRL_UNDERSCORE = /^\x1b\[(?:95;[56](?::\d)?u|45(?::95)?;6(?::\d)?u|27;[56];95~|27;6;45~)$/;
const CTRL_MINUS = "\x1f";
/** The key that a line feed means: in raw mode a terminal never sends a line feed for Enter. */
const CTRL_J = "\x1b[106;5u";
const SIGN = /^[^\w+]$/;
const DISPLAY: Readonly<Record<string, string>> = { escape: "esc", up: "↑", down: "↓", left: "←", right: "→" };

/**
 * Resolves the keys and installs them in all pi-tui components.
 * @param userBindings the parsed `keybindings.json`: action to key or keys; an empty list unbinds. Anything else is
 * ignored and reported in `problems`
 */
export function createKeymap(userBindings: unknown = {}, locate?: LocateBinding): Keymap {
	let manager = new PiKeybindings(KEY_DEFINITIONS);
	let problems: readonly string[] = [];
	const displayed = (action: string) => manager.keysOf(action).map(displayKey);
	const keymap: Keymap = {
		get problems() {
			return problems;
		},
		matches: (data, action) => manager.matches(data, action),
		actionOf: (data, among) =>
			KEY_ACTIONS.find(({ action }) => Object.hasOwn(among, action) && manager.matches(data, action))?.action,
		keyOf: (...actions) => {
			const keys = actions.flatMap((action) => displayed(action).slice(0, 1));
			return keys.join(" ").replace(/([←-↓]) (?=[←-↓])/g, "$1");
		},
		keysOf: (action) => displayed(action).join(" / "),
		list: () =>
			KEY_ACTIONS.filter(({ action }) => displayed(action).length > 0).map(({ action, description, scope }) => [
				displayed(action).join(" / "),
				description,
				scope,
			]),
		reload: (value, locateBinding) => {
			const resolved = resolveBindings(value, locateBinding);
			problems = resolved.problems;
			manager = new PiKeybindings(KEY_DEFINITIONS, resolved.bindings);
			setKeybindings(manager);
		},
	};
	keymap.reload(userBindings, locate);
	return keymap;
}

/** @returns the text that a key or a paste types; empty for all other keys */
export function typedText(data: string): string {
	const pasted = /^\x1b\[200~([\s\S]*)\x1b\[201~$/.exec(data)?.[1];
	if (pasted !== undefined) return pasted.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
	const printable = decodeKittyPrintable(data) ?? data;
	return /^[^\x00-\x1f\x7f-\x9f]+$/.test(printable) ? printable : "";
}

/** The bindings as pi-tui's components query them. */
class PiKeybindings extends KeybindingsManager {
	readonly #keys = this.getResolvedBindings();

	override matches(data: string, action: string): boolean {
		if (isKeyRelease(data)) return false;
		const input = plainKey(data);
		return this.keysOf(action).some((key) => isKey(input, key));
	}

	keysOf(action: string): KeyId[] {
		return [this.#keys[action] ?? []].flat();
	}
}

/** Punctuation is also matched by its character, because the key that types it depends on the keyboard layout. */
function isKey(input: string, key: KeyId): boolean {
	return matchesKey(input, key) || (SIGN.test(key) && decodeKittyPrintable(input) === key);
}

function plainKey(data: string): string {
	if (data === "\n") return CTRL_J;
	return CTRL_UNDERSCORE.test(data) ? CTRL_MINUS : data;
}

function displayKey(key: string): string {
	if (/^shift\+[a-z]$/i.test(key)) return key.slice(-1).toUpperCase();
	return key.replace(/[a-z]+$/i, (name) => DISPLAY[name] ?? name);
}
