import { basename } from "node:path";
import { describeError } from "../errors.js";
import { isNotFound, readRegularFileSync } from "../util/fs.js";
import { readJsonObject } from "./json-file.js";

/** The user's key bindings as they stand in their file. */
export interface KeybindingsFile {
	/** Action to key or keys, as parsed; `{}` when there is no file or it cannot be used. */
	value: unknown;
	/** Where a binding stands, such as `keybindings.json:3`. */
	placeOf(action: string, key?: string): string;
	/** Why the file cannot be used, in a sentence; null when it can, or when there is none. */
	problem: string | null;
}

const MAX_BYTES = 1024 * 1024;

/** Reads the file anew. Never throws: what is wrong with it is told in `problem`. */
export function readKeybindings(path: string): KeybindingsFile {
	const name = basename(path);
	try {
		const value = readJsonObject(path);
		const text = value === null ? "" : readRegularFileSync(path, { maxBytes: MAX_BYTES }).toString("utf8");
		return { value: value ?? {}, problem: null, placeOf: (action, key) => placeIn(text, name, action, key) };
	} catch (error) {
		// Gone between two looks is the same as not there.
		return { value: {}, problem: isNotFound(error) ? null : describeError(error), placeOf: () => name };
	}
}

/** The line of a binding: of the last one with this action, which is the one that counts, and there of the key. */
function placeIn(text: string, name: string, action: string, key?: string): string {
	const quoted = JSON.stringify(action).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
	const binding = [...text.matchAll(new RegExp(`${quoted}\\s*:`, "g"))].at(-1);
	if (!binding) return name;
	const at = key === undefined ? -1 : text.indexOf(JSON.stringify(key), binding.index + binding[0].length);
	return `${name}:${text.slice(0, at === -1 ? binding.index : at).split("\n").length}`;
}
