import type { KeybindingDefinitions, KeybindingsConfig, KeyId } from "@mariozechner/pi-tui";
import { isKeyName, KEY_PATTERN, keyByte, nearestKey, sortedKey, VALID_KEYS } from "../util/key-name.js";
import { didYouMean } from "../util/nearest.js";
import { canConflict, KEY_DEFINITIONS } from "./key-table.js";

/** @returns the location of a binding in the user's file, such as `keybindings.json:3` */
export type LocateBinding = (action: string, key?: string) => string;

/** A key that a hook registered for the editor. */
export interface HookKey {
	/** Its name in keybindings.json: `hook.<hook>.<n>`. */
	readonly id: string;
	/** The key that the hook asks for. */
	readonly key: string;
	readonly description: string;
	/** Name of the hook. */
	readonly hook: string;
}

/** A key of a hook that another action has. */
export interface LostKey extends HookKey {
	/** Name of the action or key of a hook that has it. */
	readonly owner: string;
}

/** The user's bindings and their effect on the defaults. */
export interface ResolvedBindings {
	/** The keys of every action that the user has bound, and of actions that lost a key to one of them. */
	bindings: KeybindingsConfig;
	/** One message for each binding that is ignored or conflicts. */
	problems: string[];
	/** Keys of hooks that are in use. */
	lost: LostKey[];
}

/** Ids of the keys of hooks. The hook may be absent today, so the file may name any. */
const HOOK_KEY_ID = /^hook\..+\.\d+$/;

/**
 * Reads the user's bindings. If two actions have the same key, a user binding wins over a default, and the first of two
 * user bindings wins; the other action loses the key. Without a binding of the user, a hook gets only a key that is free.
 * @param value parsed JSON: action to key or keys; an empty list unbinds the action
 * @param hookKeys the keys of the loaded hooks; bindings of other hooks have no effect
 */
export function resolveBindings(
	value: unknown,
	locate: LocateBinding = () => "keybindings.json",
	hookKeys: readonly HookKey[] = [],
): ResolvedBindings {
	const problems: string[] = [];
	const lostKeys: LostKey[] = [];
	const definitions = withHookKeys(hookKeys);
	const given = Object.fromEntries(
		Object.entries(readBindings(value, locate, problems)).filter(([id]) => Object.hasOwn(definitions, id)),
	);
	const bindings: KeybindingsConfig = { ...given };
	const owners = new Map<string, string[]>();
	/** Like `owners`, by what a plain terminal sends. */
	const byteOwners = new Map<string, string[]>();
	const actions = [...Object.keys(given), ...Object.keys(definitions).filter((id) => !(id in given))];
	for (const id of actions) {
		const wanted = [given[id] ?? definitions[id]?.defaultKeys ?? []].flat();
		const hookKey = id in given ? undefined : hookKeys.find((candidate) => candidate.id === id);
		const lost = wanted.filter((key) => {
			const others = hookKey ? byteOwners.get(keyByte(key)) : owners.get(sortedKey(key));
			const owner = others?.find((other) => (hookKey !== undefined || other in given) && canConflict(other, id));
			if (owner === undefined) return false;
			if (hookKey) {
				lostKeys.push({ ...hookKey, owner });
			} else if (id in given) {
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
		for (const key of kept) {
			owners.set(sortedKey(key), [...(owners.get(sortedKey(key)) ?? []), id]);
			byteOwners.set(keyByte(key), [...(byteOwners.get(keyByte(key)) ?? []), id]);
		}
	}
	return { bindings, problems, lost: lostKeys };
}

/** Every action with its default keys, those of hooks last. */
export function withHookKeys(hookKeys: readonly HookKey[]): KeybindingDefinitions {
	const own = hookKeys.map(({ id, key, description }) => [id, { defaultKeys: [key].filter(isKeyId), description }]);
	return { ...KEY_DEFINITIONS, ...Object.fromEntries(own) };
}

function readBindings(value: unknown, locate: LocateBinding, problems: string[]): Record<string, KeyId[]> {
	const bindings: Record<string, KeyId[]> = {};
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		problems.push("Key bindings must be a JSON object of actions and keys");
		return bindings;
	}
	for (const [id, given] of Object.entries(value)) {
		if (!Object.hasOwn(KEY_DEFINITIONS, id) && !HOOK_KEY_ID.test(id)) {
			const near =
				didYouMean(id, Object.keys(KEY_DEFINITIONS)) ?? "/hotkeys lists the keys, docs/keybindings.md the actions";
			problems.push(`${locate(id)}: unknown action "${id}" · ${near}`);
			continue;
		}
		const candidates: unknown[] = Array.isArray(given) ? given : [given];
		for (const key of candidates.filter((candidate) => !isKeyId(candidate))) {
			const location = typeof key === "string" ? locate(id, key) : locate(id);
			const near = (typeof key === "string" ? nearestKey(key) : undefined) ?? VALID_KEYS;
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
	const key = { type: "string", pattern: KEY_PATTERN.source };
	const members = actions.map(({ action, keys, description }) => [
		action,
		{ description, default: keys, $ref: "#/$defs/keys" },
	]);
	const $defs = { key, keys: { anyOf: [{ $ref: "#/$defs/key" }, { type: "array", items: { $ref: "#/$defs/key" } }] } };
	return {
		type: "object",
		properties: Object.fromEntries(members),
		patternProperties: {
			[HOOK_KEY_ID.source]: { description: "A key of a hook: see /hotkeys", $ref: "#/$defs/keys" },
		},
		additionalProperties: false,
		$defs,
	};
}

function isKeyId(value: unknown): value is KeyId {
	return isKeyName(value);
}
