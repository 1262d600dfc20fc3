import type { KeybindingsConfig, KeyId } from "@mariozechner/pi-tui";
import { didYouMean } from "../util/nearest.js";
import { canConflict, KEY_DEFINITIONS } from "./key-table.js";

/** @returns the location of a binding in the user's file, such as `keybindings.json:3` */
export type LocateBinding = (action: string, key?: string) => string;

/** The user's bindings and their effect on the defaults. */
export interface ResolvedBindings {
	/** The keys of every action that the user has bound, and of actions that lost a key to one of them. */
	bindings: KeybindingsConfig;
	/** One message for each binding that is ignored or conflicts. */
	problems: string[];
}

const NAMED_KEYS = new Set(
	(
		"escape esc enter return tab space backspace delete insert clear home end pageup pagedown up down left right " +
		"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12"
	).split(" "),
);
/** A key with its modifiers. Spells out both cases because patterns in JSON Schema have no flags. */
const KEY = new RegExp(
	`^(?:(?:${anyCase("ctrl|shift|alt|super")})\\+)*(?:${anyCase([...NAMED_KEYS].join("|"))}|[!-~])$`,
);
/**
 * Reads the user's bindings. If two actions have the same key, a user binding wins over a default, and the first of two
 * user bindings wins; the other action loses the key.
 * @param value parsed JSON: action to key or keys; an empty list unbinds the action
 */
export function resolveBindings(value: unknown, locate: LocateBinding = () => "keybindings.json"): ResolvedBindings {
	const problems: string[] = [];
	const given = readBindings(value, locate, problems);
	const bindings: KeybindingsConfig = { ...given };
	const owners = new Map<string, string[]>();
	const actions = [...Object.keys(given), ...Object.keys(KEY_DEFINITIONS).filter((id) => !(id in given))];
	for (const id of actions) {
		const wanted = [given[id] ?? KEY_DEFINITIONS[id]?.defaultKeys ?? []].flat();
		const lost = wanted.filter((key) => {
			const owner = owners.get(sortedKey(key))?.find((other) => other in given && canConflict(other, id));
			if (owner === undefined) return false;
			if (id in given) {
				problems.push(
					`${locate(id, key)}: ${key} is already bound to "${owner}", so "${id}" does not get it · choose another key for one`,
				);
			} else if (wanted.length === 1) {
				problems.push(
					`${locate(owner, key)}: binding ${key} to "${owner}" leaves "${id}" without a key · bind it to another one`,
				);
			}
			return true;
		});
		const kept = wanted.filter((key) => !lost.includes(key));
		if (lost.length > 0) bindings[id] = kept;
		for (const key of kept) owners.set(sortedKey(key), [...(owners.get(sortedKey(key)) ?? []), id]);
	}
	return { bindings, problems };
}

function readBindings(value: unknown, locate: LocateBinding, problems: string[]): Record<string, KeyId[]> {
	const bindings: Record<string, KeyId[]> = {};
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		problems.push("Key bindings must be a JSON object of actions and keys");
		return bindings;
	}
	for (const [id, given] of Object.entries(value)) {
		if (!Object.hasOwn(KEY_DEFINITIONS, id)) {
			const near =
				didYouMean(id, Object.keys(KEY_DEFINITIONS)) ?? "/hotkeys lists the keys, docs/keybindings.md the actions";
			problems.push(`${locate(id)}: unknown action "${id}" · ${near}`);
			continue;
		}
		const candidates: unknown[] = Array.isArray(given) ? given : [given];
		for (const key of candidates.filter((candidate) => !isKeyId(candidate))) {
			const location = typeof key === "string" ? locate(id, key) : locate(id);
			const near =
				(typeof key === "string" ? nearestKey(key) : undefined) ?? 'valid keys look like "ctrl+e", "alt+up" or "f5"';
			problems.push(`${location}: unknown key ${JSON.stringify(key)} for "${id}" · ${near}`);
		}
		const keys = candidates.map(withShift).filter(isKeyId);
		// A list of invalid keys changes nothing; an empty list unbinds the action.
		if (keys.length > 0 || candidates.length === 0) bindings[id] = [...new Set(keys)];
	}
	return bindings;
}

/** Turns a capital letter into its key with Shift. */
function withShift(key: unknown): unknown {
	return typeof key === "string" && /^[A-Z]$/.test(key) ? `shift+${key.toLowerCase()}` : key;
}

/** Creates a JSON Schema of keybindings.json for editors. */
export function keybindingsSchema(
	actions: readonly { action: string; keys: readonly string[]; description: string }[],
) {
	const key = { type: "string", pattern: KEY.source };
	const members = actions.map(({ action, keys, description }) => [
		action,
		{ description, default: keys, $ref: "#/$defs/keys" },
	]);
	const $defs = { key, keys: { anyOf: [{ $ref: "#/$defs/key" }, { type: "array", items: { $ref: "#/$defs/key" } }] } };
	return { type: "object", properties: Object.fromEntries(members), additionalProperties: false, $defs };
}

function isKeyId(value: unknown): value is KeyId {
	return typeof value === "string" && KEY.test(value);
}

function anyCase(words: string): string {
	return words.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

function nearestKey(key: string): string | undefined {
	const base = baseOf(key);
	return base === "" ? undefined : didYouMean(base, NAMED_KEYS);
}

/** @returns the key without its modifiers; it may be `+` itself */
function baseOf(key: string): string {
	return key.slice(key.lastIndexOf("+", key.length - 2) + 1);
}

/** @returns the same text for every spelling of a key */
function sortedKey(key: string): string {
	const base = baseOf(key).toLowerCase();
	const modifiers = key
		.toLowerCase()
		.slice(0, key.length - base.length)
		.split("+")
		.filter(Boolean);
	return [...modifiers.sort(), base === "esc" ? "escape" : base === "return" ? "enter" : base].join("+");
}
