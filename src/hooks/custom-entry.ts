import { errorText, locate, PiError } from "../errors.js";
import { type CustomEntry, entryTimestamp, RESERVED_ENTRY_TYPES } from "../log/entry.js";
import { jsonCopy } from "./check-values.js";
import type { LoadedHook } from "./hook-registry.js";
import { positionOfError } from "./source-position.js";

/**
 * Checks an entry that a hook wants to save.
 * @returns a copy of it after a round trip through JSON, with a timestamp
 * @throws PiError `entry_refused` naming the hook and the reason: missing or reserved type, or a value that JSON cannot represent
 */
export function checkCustomEntry(hook: LoadedHook, entry: unknown): CustomEntry {
	const refuse = (reason: string, cause?: unknown): PiError => {
		// A trace has ten frames, and the hook's is far from here.
		const caller = new Error();
		Error.captureStackTrace(caller, checkCustomEntry);
		const { subject, at } = locate({ hookPath: hook.path, ...positionOfError(caller, hook) }, hook.path);
		return new PiError(
			"entry_refused",
			`saveEntry of ${subject}${at}: ${reason}`,
			cause === undefined ? {} : { cause },
		);
	};
	if (typeof entry !== "object" || entry === null || Array.isArray(entry))
		throw refuse("an entry must be an object with a type");
	let copy: unknown;
	try {
		copy = jsonCopy(entry, { changes: "refused" });
	} catch (error) {
		throw refuse(errorText(error), error);
	}
	if (typeof copy !== "object" || copy === null || Array.isArray(copy))
		throw refuse("an entry must be an object with a type");
	const type = "type" in copy ? copy.type : undefined;
	if (typeof type !== "string" || type.trim() === "") throw refuse("the type must be a non-empty string");
	if (RESERVED_ENTRY_TYPES.has(type)) throw refuse(`"${type}" is a type that pi uses; choose another name`);
	return { timestamp: entryTimestamp(), ...copy, type };
}
