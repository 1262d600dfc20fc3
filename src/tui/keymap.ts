import {
	decodeKittyPrintable,
	isKeyRelease,
	KeybindingsManager,
	type KeyId,
	matchesKey,
	setKeybindings,
} from "@mariozechner/pi-tui";
import { sortedKey } from "../util/key-name.js";
import { isOfMouse, mouseAction } from "./clicks.js";
import { type HookKey, type LocateBinding, type LostKey, resolveBindings, withHookKeys } from "./key-bindings.js";
import { describeAction, KEY_ACTIONS, type KeyAction } from "./key-table.js";

export type { HookKey } from "./key-bindings.js";

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
	/** The id of the hook's key that an input sequence is. */
	hookKeyOf(data: string): string | undefined;
	/** Every action that has keys, as `[keys, description, scope]`, by scope; then the keys of hooks, also those in use. */
	list(): [keys: string, description: string, scope: string][];
	/** Replaces the user's bindings, as `createKeymap` reads them. */
	reload(userBindings: unknown, locate?: LocateBinding): void;
	/** Replaces the keys of hooks. */
	setHookKeys(keys: readonly HookKey[]): void;
	/** One message for each key of a hook that is in use. */
	readonly hookProblems: readonly string[];
	/** The same of one hook, without its name. */
	hookProblemsOf(hook: string): string[];
	/** One message for each user binding that is ignored or conflicts. */
	readonly problems: readonly string[];
}

/** Ctrl+_ as extended keyboard protocols report it; a plain terminal sends the same byte for it as for Ctrl+-. */
const CTRL_UNDERSCORE = /^\x1b\[(?:95;[56](?::\d)?u|45(?::95)?;6(?::\d)?u|27;[56];95~|27;6;45~)$/;
const CTRL_MINUS = "\x1f";
/** The key that a line feed means: in raw mode a terminal never sends a line feed for Enter. */
const CTRL_J = "\x1b[106;5u";
/**
 * Alt with a letter, as a plain terminal sends it: pi-tui also reads it as Alt with an arrow, which terminals send in other
 * ways. That of Alt+B and Alt+F does arrive for arrows, and both keys move the cursor by words.
 */
const ALT_LETTER: Readonly<Record<string, KeyId>> = { "\x1bp": "alt+p", "\x1bn": "alt+n" };
const SIGN = /^[^\w+]$/;
const DISPLAY: Readonly<Record<string, string>> = { escape: "esc", up: "↑", down: "↓", left: "←", right: "→" };

/**
 * Resolves the keys and installs them in all pi-tui components.
 * @param userBindings the parsed `keybindings.json`: action to key or keys; an empty list unbinds. Anything else is
 * ignored and reported in `problems`
 */
export function createKeymap(userBindings: unknown = {}, locate?: LocateBinding): Keymap {
	let manager = new PiKeybindings(withHookKeys([]));
	let problems: readonly string[] = [];
	let own: { value: unknown; locate: LocateBinding | undefined } = { value: userBindings, locate };
	let hookKeys: readonly HookKey[] = [];
	let lost: readonly LostKey[] = [];
	const resolve = () => {
		const resolved = resolveBindings(own.value, own.locate, hookKeys);
		problems = resolved.problems;
		lost = resolved.lost;
		manager = new PiKeybindings(withHookKeys(hookKeys), resolved.bindings);
		setKeybindings(manager);
	};
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
		hookKeyOf: (data) => hookKeys.find(({ id }) => manager.matches(data, id))?.id,
		list: () => {
			const actions: readonly ListedKey[] = KEY_ACTIONS;
			const ofHooks = hookKeys.map(({ id, description, hook }) => ({ action: id, description, scope: `Hook ${hook}` }));
			return [...actions, ...ofHooks].flatMap(({ action, description, scope }): [string, string, string][] => {
				const keys = displayed(action).join(" / ");
				if (keys !== "") return [[keys, description, scope]];
				const taken = lost.find(({ id }) => id === action);
				return taken ? [["no key", `${description} · ${describeLost(taken, hookKeys)}`, scope]] : [];
			});
		},
		reload: (value, locateBinding) => {
			own = { value, locate: locateBinding };
			resolve();
		},
		setHookKeys: (keys) => {
			hookKeys = keys;
			resolve();
		},
		get hookProblems() {
			return lost.map((key) => `Hook ${key.hook} gets ${describeProblem(key, hookKeys)}`);
		},
		hookProblemsOf: (hook) => lost.filter((key) => key.hook === hook).map((key) => describeProblem(key, hookKeys)),
	};
	resolve();
	return keymap;
}

/** An action as `Keymap.list` shows it. */
type ListedKey = { readonly action: string; readonly description: string; readonly scope: string };

function describeProblem(key: LostKey, hookKeys: readonly HookKey[]): string {
	return `no key for "${key.description}": ${describeLost(key, hookKeys)} · bind "${key.id}" in keybindings.json`;
}

/** Says what a key does instead: `ctrl+l is in use: Choose the model`. */
function describeLost({ key, owner }: LostKey, hookKeys: readonly HookKey[]): string {
	const other = hookKeys.find(({ id }) => id === owner);
	const does = other ? `${other.description} (hook ${other.hook})` : (describeAction(owner) ?? owner);
	return `${displayKey(key)} is in use: ${does}`;
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
	readonly #bound = new Set(Object.values(this.#keys).flatMap((keys) => [keys ?? []].flat().map(sortedKey)));

	override matches(data: string, action: string): boolean {
		if (isKeyRelease(data)) return false;
		if (isOfMouse(data)) return mouseAction(data) === action;
		const input = plainKey(data);
		const letter = ALT_LETTER[input];
		if (letter !== undefined && this.#bound.has(letter)) {
			return this.keysOf(action).some((key) => sortedKey(key) === letter);
		}
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
	return key.replace(/(?<![a-z])[a-z]+$/i, (name) => DISPLAY[name] ?? name);
}
