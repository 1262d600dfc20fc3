import { existsSync, renameSync } from "node:fs";
import { describeError, errorText, PiError } from "../errors.js";
import { atomicWriteFile, isNotFound, readRegularFileSync } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { findJsonError, type JsonKeys, locateJson } from "./json-error.js";

/** A parsed JSON object. */
export type JsonObject = { [key: string]: unknown };

const MAX_BYTES = 10 * 1024 * 1024;
const FIX_HINT = "fix the file; until then it is not used";

/**
 * Parses the text of a configuration file; a byte order mark is allowed.
 * @throws PiError `config_invalid` with file, line, column and reason
 */
function parseJson(text: string, path: string): unknown {
	const plain = text.replace(/^\ufeff/, "");
	try {
		return JSON.parse(plain);
	} catch (cause) {
		const error = findJsonError(plain);
		if (!error) throw new PiError("config_invalid", `${path} is not valid JSON`, { cause });
		throw new PiError("config_invalid", `${path}:${error.line}:${error.column}: ${error.reason}`, { hint: FIX_HINT });
	}
}

/**
 * Describes why a file cannot be read again while pi keeps its earlier content.
 * @param kept what is kept, such as `colors`
 */
export function describeReread(error: unknown, kept: string): string {
	const isInvalid = error instanceof PiError && error.hint === FIX_HINT;
	return isInvalid ? `${errorText(error)} · fix the file; the ${kept} read before are kept` : describeError(error);
}

/** Reads the bytes of a file. @throws PiError `file_unreadable` */
export type ReadJsonBytes = (path: string, limits: { maxBytes: number }) => Buffer;

/** A configuration file as read. */
export interface JsonFile {
	value: JsonObject;
	/** `<file>:<line>:<column>` of the value at these keys, or of its key; the path alone if the file has no such value. */
	locate(keys: JsonKeys, part?: "key" | "value"): string;
}

/**
 * Reads a configuration file; `{}` if it is empty.
 * @param read default: any regular file
 * @returns null if the file does not exist
 * @throws PiError `config_invalid` if it is not a JSON object, `file_unreadable` if it cannot be read
 */
export function readJsonFile(path: string, read: ReadJsonBytes = readRegularFileSync): JsonFile | null {
	let text: string;
	try {
		text = read(path, { maxBytes: MAX_BYTES })
			.toString("utf8")
			.replace(/^\ufeff/, "");
	} catch (error) {
		if (isNotFound(error)) return null;
		throw error;
	}
	const value = text.trim() === "" ? {} : parseJson(text, path);
	if (!isRecord(value)) {
		throw new PiError("config_invalid", `${path}:1:1: expected an object in braces`, { hint: FIX_HINT });
	}
	const locate: JsonFile["locate"] = (keys, part) => {
		const at = locateJson(text, keys, part);
		return at ? `${path}:${at.line}:${at.column}` : path;
	};
	return { value, locate };
}

/** The object in a configuration file, as `readJsonFile` reads it. */
export function readJsonObject(path: string, read?: ReadJsonBytes): JsonObject | null {
	return readJsonFile(path, read)?.value ?? null;
}

/** Options of `updateJsonFile`. */
export interface UpdateOptions {
	/** Permission bits of the file; default 0600. */
	mode?: number;
	/** Replaces the content of a file that cannot be parsed. Default: `{}`. */
	lastGood?: JsonObject;
	/** Also replaces a file that cannot be read, such as one that is too large. */
	replacesUnreadable?: boolean;
}

/**
 * Changes a configuration file: reads it again under a lock, changes it and replaces it atomically, so other keys and
 * edits by other processes are preserved. A file that cannot be parsed is kept as `<file>.bad-<date>` when it is replaced.
 * @param change returns the new object, or null to leave the file unchanged
 * @returns `keptAside`: path of the copy of a file that could not be parsed
 * @throws PiError `config_write_failed`
 */
export async function updateJsonFile(
	path: string,
	change: (current: JsonObject) => JsonObject | null,
	{ mode = 0o600, lastGood = {}, replacesUnreadable = false }: UpdateOptions = {},
): Promise<{ keptAside?: string }> {
	// The first paint reads settings, but writes none.
	const { withFileLock } = await import("../util/file-lock.js");
	return withFileLock(path, async () => {
		try {
			const { current, isInvalid } = readForUpdate(path, { lastGood, replacesUnreadable });
			const next = change(current);
			if (next === null) return {};
			const text = `${JSON.stringify(next, null, 2)}\n`;
			if (Buffer.byteLength(text) > MAX_BYTES) {
				const limit = `${MAX_BYTES / 1024 / 1024} MB`;
				throw new PiError("config_write_failed", `${path} would be larger than ${limit}, which pi does not read`);
			}
			const keptAside = isInvalid ? keepAside(path) : undefined;
			await atomicWriteFile(path, text, { mode });
			return { keptAside };
		} catch (cause) {
			if (cause instanceof PiError && cause.code === "config_write_failed") throw cause;
			throw new PiError("config_write_failed", `Cannot write ${path}`, { cause });
		}
	});
}

function readForUpdate(
	path: string,
	{ lastGood, replacesUnreadable }: Required<Pick<UpdateOptions, "lastGood" | "replacesUnreadable">>,
): { current: JsonObject; isInvalid: boolean } {
	try {
		return { current: readJsonObject(path) ?? {}, isInvalid: false };
	} catch (error) {
		const isReplaced = error instanceof PiError && (error.code === "config_invalid" || replacesUnreadable);
		if (!isReplaced) throw error;
		return { current: lastGood, isInvalid: true };
	}
}

/** Renames a file to a name that says when it was found broken. @returns its new path */
function keepAside(path: string): string {
	const start = `${path}.bad-${new Date().toISOString().slice(0, 10)}`;
	let name = start;
	for (let count = 2; existsSync(name); count++) name = `${start}-${count}`;
	renameSync(path, name);
	return name;
}
