import { didYouMean } from "./nearest.js";

/** The name of a key, such as `ctrl+e`, `alt+up` or `f5`. */
export type KeyName = string;

/** Examples of valid keys, for messages. */
export const VALID_KEYS = 'valid keys look like "ctrl+e", "alt+up" or "f5"';

const NAMED_KEYS = new Set(
	(
		"escape esc enter return tab space backspace delete insert clear home end pageup pagedown up down left right " +
		"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12"
	).split(" "),
);

/** A key with its modifiers. Spells out both cases because patterns in JSON Schema have no flags. */
export const KEY_PATTERN = new RegExp(
	`^(?:(?:${anyCase("ctrl|shift|alt|super")})\\+)*(?:${anyCase([...NAMED_KEYS].join("|"))}|[!-~])$`,
);

/** Keys that a plain terminal sends as the same byte. */
const SAME_BYTE: Readonly<Record<string, string>> = {
	"ctrl+i": "tab",
	"ctrl+m": "enter",
	"ctrl+[": "escape",
	"ctrl+h": "backspace",
};

export function isKeyName(value: unknown): value is KeyName {
	return typeof value === "string" && KEY_PATTERN.test(value);
}

/** A hint that names the key that was probably meant; undefined if none is similar. */
export function nearestKey(key: string): string | undefined {
	const base = baseOf(key);
	return base === "" ? undefined : didYouMean(base, NAMED_KEYS);
}

/** @returns the same text for every spelling of a key */
export function sortedKey(key: KeyName): string {
	const base = baseOf(key).toLowerCase();
	return [...modifiersOf(key).sort(), base === "esc" ? "escape" : base === "return" ? "enter" : base].join("+");
}

/** @returns the same text for every spelling of a key, and for keys that a plain terminal cannot distinguish */
export function keyByte(key: KeyName): string {
	const sorted = sortedKey(key);
	return SAME_BYTE[sorted] ?? sorted;
}

/** True if the key types a character. */
export function typesText(key: KeyName): boolean {
	const base = baseOf(key).toLowerCase();
	return (base.length === 1 || base === "space") && modifiersOf(key).every((modifier) => modifier === "shift");
}

/** @returns the modifiers in lower case, in the order of `key` */
function modifiersOf(key: KeyName): string[] {
	return key
		.toLowerCase()
		.slice(0, key.length - baseOf(key).length)
		.split("+")
		.filter(Boolean);
}

/** @returns the key without its modifiers; it may be `+` itself */
function baseOf(key: KeyName): string {
	return key.slice(key.lastIndexOf("+", key.length - 2) + 1);
}

function anyCase(words: string): string {
	return words.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
