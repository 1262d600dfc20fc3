import { isKeyName, nearestKey, typesText, VALID_KEYS } from "../util/key-name.js";
import { stripAll } from "../util/sanitize.js";
import type { ShortcutOptions } from "./types.js";

/** A shortcut as a mode shows it. */
export interface SessionShortcut {
	/** Its name in keybindings.json: `hook.<hook>.<n>`, n from 0 in order of registration. */
	readonly id: string;
	readonly key: string;
	/** On one line, without control characters. */
	readonly description: string;
	/** Name of the hook. */
	readonly hookName: string;
}

/** A key that a hook registered. */
export interface Shortcut {
	key: string;
	options: ShortcutOptions;
}

/** A hook that registers shortcuts. */
interface ShortcutOwner {
	readonly name: string;
	readonly shortcuts: readonly Shortcut[];
}

/** A shortcut of a loaded hook. */
export interface RegisteredShortcut<H> extends SessionShortcut, Pick<Shortcut, "options"> {
	readonly hook: H;
}

/** Checks the arguments of `pi.shortcut`. @throws TypeError with the valid form */
export function checkShortcut(key: unknown, options: unknown): Shortcut {
	if (!isKeyName(key)) {
		const hint = (typeof key === "string" ? nearestKey(key) : undefined) ?? VALID_KEYS;
		throw new TypeError(`${JSON.stringify(key) ?? String(key)} is not a valid key · ${hint}`);
	}
	if (typesText(key)) throw new TypeError(`the key ${key} types a character · add ctrl+ or alt+, or use f1 to f12`);
	const { description, handler }: { description?: unknown; handler?: unknown } = Object(options);
	if (typeof handler !== "function") throw new TypeError(`the shortcut ${key} has no handler`);
	if (description !== undefined && typeof description !== "string") {
		throw new TypeError(`the description of the shortcut ${key} is not a string`);
	}
	return { key, options: options as ShortcutOptions };
}

/** The shortcuts of hooks, with their ids. Hooks of the same name are numbered together. */
export function listShortcuts<H extends ShortcutOwner>(hooks: readonly H[]): RegisteredShortcut<H>[] {
	const counts = new Map<string, number>();
	return hooks.flatMap((hook) =>
		hook.shortcuts.map((shortcut) => {
			const number = counts.get(hook.name) ?? 0;
			counts.set(hook.name, number + 1);
			return {
				...shortcut,
				id: `hook.${hook.name}.${number}`,
				description: describeShortcut(shortcut),
				hookName: stripAll(hook.name),
				hook,
			};
		}),
	);
}

function describeShortcut({ key, options }: Shortcut): string {
	const text = stripAll(options.description ?? "")
		.replace(/\s+/g, " ")
		.trim();
	return text === "" ? `Shortcut ${key}` : text;
}
