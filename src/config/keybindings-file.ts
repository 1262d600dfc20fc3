import { basename } from "node:path";
import { describeError } from "../errors.js";
import { readJsonFile } from "./json-file.js";

/** The content of the user's key bindings file. */
export interface KeybindingsFile {
	/** Action to key or keys, as parsed; `{}` if the file is missing or invalid. */
	value: unknown;
	/** Location of a binding, such as `keybindings.json:3:17`. */
	placeOf(action: string, key?: string): string;
	/** Why the file cannot be used, in one line; null if it is valid or missing. */
	problem: string | null;
}

/** Reads the file. Never throws: errors are reported in `problem`. */
export function readKeybindings(path: string): KeybindingsFile {
	const name = basename(path);
	try {
		const file = readJsonFile(path);
		// For editors; not an action.
		const { $schema, ...value } = file?.value ?? {};
		return {
			value,
			problem: null,
			placeOf: (action, key) => {
				const keys = value[action];
				const index = Array.isArray(keys) && key !== undefined ? keys.indexOf(key) : -1;
				const location = index === -1 ? file?.locate([action], "key") : file?.locate([action, index]);
				return `${name}${location?.slice(path.length) ?? ""}`;
			},
		};
	} catch (error) {
		return { value: {}, problem: describeError(error), placeOf: () => name };
	}
}
