import type { KeybindingsConfig, KeyId } from "@mariozechner/pi-tui";
import { didYouMean } from "../util/nearest.js";
import { contend, KEY_DEFINITIONS } from "./key-table.js";

/** Says where in the user's file a binding stands, such as `keybindings.json:3`. */
export type PlaceOfBinding = (action: string, key?: string) => string;

/** What each action's keys are. */
export interface ResolvedBindings {
	/** The keys of every action that the user has given some, and of those that lost one to it. */
	bindings: KeybindingsConfig;
	/** One sentence for each binding that was left out or clashes. */
	problems: string[];
}

const NAMED_KEYS = new Set(
	(
		"escape esc enter return tab space backspace delete insert clear home end pageup pagedown up down left right " +
		"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12"
	).split(" "),
);
/** A key with its modifiers. Without flags, which JSON Schema does not have. */
const KEY = new RegExp(
	`^(?:(?:${anyCase("ctrl|shift|alt|super")})\\+)*(?:${anyCase([...NAMED_KEYS].join("|"))}|[!-~])$`,
);
/**
 * Reads the user's bindings. Of two actions on one key the user's own wins over a default, and of two of the user's the
 * first; the other loses the key.
 * @param value parsed JSON: action to key or keys; an empty list takes an action's keys away
 */
export function resolveBindings(value: unknown, placeOf: PlaceOfBinding = () => "keybindings.json"): ResolvedBindings {
	const problems: string[] = [];
	const given = readBindings(value, placeOf, problems);
	const bindings: KeybindingsConfig = { ...given };
	const owners = new Map<string, string[]>();
	const actions = [...Object.keys(given), ...Object.keys(KEY_DEFINITIONS).filter((id) => !(id in given))];
	for (const id of actions) {
		const wanted = [given[id] ?? KEY_DEFINITIONS[id]?.defaultKeys ?? []].flat();
		const lost = wanted.filter((key) => {
			const owner = owners.get(sortedKey(key))?.find((other) => other in given && contend(other, id));
			if (owner === undefined) return false;
			if (id in given) {
				problems.push(
					`${placeOf(id, key)}: ${key} is bound to "${owner}" and to "${id}" · the first has it; give one another key`,
				);
			} else if (wanted.length === 1) {
				problems.push(
					`${placeOf(owner, key)}: ${key} does "${owner}" now and leaves "${id}" without a key · give that another one`,
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

function readBindings(value: unknown, placeOf: PlaceOfBinding, problems: string[]): Record<string, KeyId[]> {
	const bindings: Record<string, KeyId[]> = {};
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		problems.push("Key bindings must be an object of action and key");
		return bindings;
	}
	for (const [id, given] of Object.entries(value)) {
		if (!Object.hasOwn(KEY_DEFINITIONS, id)) {
			const near =
				didYouMean(id, Object.keys(KEY_DEFINITIONS)) ?? "/hotkeys lists the keys, docs/keybindings.md the actions";
			problems.push(`${placeOf(id)}: no action is called "${id}" · ${near}`);
			continue;
		}
		const candidates: unknown[] = Array.isArray(given) ? given : [given];
		for (const key of candidates.filter((candidate) => !isKeyId(candidate))) {
			const place = typeof key === "string" ? placeOf(id, key) : placeOf(id);
			const near =
				(typeof key === "string" ? nearestKey(key) : undefined) ?? 'write one like "ctrl+e", "alt+up" or "f5"';
			problems.push(`${place}: "${id}" cannot have ${JSON.stringify(key)}: there is no such key · ${near}`);
		}
		const keys = candidates.map(withShift).filter(isKeyId);
		// A binding of nothing but mistakes changes nothing; an empty one takes the keys away.
		if (keys.length > 0 || candidates.length === 0) bindings[id] = [...new Set(keys)];
	}
	return bindings;
}

/** A capital letter on its own is typed with Shift. */
function withShift(key: unknown): unknown {
	return typeof key === "string" && /^[A-Z]$/.test(key) ? `shift+${key.toLowerCase()}` : key;
}

/** A schema of keybindings.json for editors, as plain JSON Schema. */
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

/** The key without its modifiers, which may itself be a plus. */
function baseOf(key: string): string {
	return key.slice(key.lastIndexOf("+", key.length - 2) + 1);
}

/** The same for every way to write a key. */
function sortedKey(key: string): string {
	const base = baseOf(key).toLowerCase();
	const modifiers = key
		.toLowerCase()
		.slice(0, key.length - base.length)
		.split("+")
		.filter(Boolean);
	return [...modifiers.sort(), base === "esc" ? "escape" : base === "return" ? "enter" : base].join("+");
}
