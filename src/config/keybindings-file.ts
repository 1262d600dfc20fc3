import { basename } from "node:path";
import { describeError } from "../errors.js";
import { readJsonFile } from "./json-file.js";

/** The user's key bindings as they stand in their file. */
export interface KeybindingsFile {
	/** Action to key or keys, as parsed; `{}` when there is no file or it cannot be used. */
	value: unknown;
	/** Where a binding stands, such as `keybindings.json:3:17`. */
	placeOf(action: string, key?: string): string;
	/** Why the file cannot be used, in a sentence; null when it can, or when there is none. */
	problem: string | null;
}

/** Reads the file again. Never throws: what is wrong with it is told in `problem`. */
export function readKeybindings(path: string): KeybindingsFile {
	const name = basename(path);
	try {
		const file = readJsonFile(path);
		// For editors; it is no action.
		const { $schema, ...value } = file?.value ?? {};
		return {
			value,
			problem: null,
			placeOf: (action, key) => {
				const keys = value[action];
				const index = Array.isArray(keys) && key !== undefined ? keys.indexOf(key) : -1;
				const place = index === -1 ? file?.placeOf([action], "key") : file?.placeOf([action, index]);
				return `${name}${place?.slice(path.length) ?? ""}`;
			},
		};
	} catch (error) {
		return { value: {}, problem: describeError(error), placeOf: () => name };
	}
}
