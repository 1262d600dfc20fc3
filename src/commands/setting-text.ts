import type { SettingState } from "./pickers.js";

/** The value of a setting in a few words; of what may hold a secret no more than how much there is. */
export function settingText(value: unknown): string {
	if (value === undefined) return "unset";
	if (Array.isArray(value)) return count(value.length);
	if (typeof value === "object" && value !== null) return count(Object.keys(value).length);
	return String(value);
}

/** Where a setting is from, in a word: `user`, `project`, or `default`. */
export function sourceText({ source, value }: SettingState): string {
	return source === "default" && value === undefined ? "" : source;
}

function count(entries: number): string {
	if (entries === 0) return "none";
	return entries === 1 ? "1 entry" : `${entries} entries`;
}
