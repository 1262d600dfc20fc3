import { errorText, PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";
import { entryTimestamp, RESERVED_ENTRY_TYPES, type SessionEntry } from "./entry.js";
import { freezeDeep } from "./freeze.js";
import { isTyped, opaqueEntry, readEntry } from "./read-entry.js";

/** A surrogate in a JSON escape. Complete pairs match too: a match only means that the text must be checked. */
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Encodes an entry as one line of a session file, including `\n`: JSON in well-formed Unicode (a lone surrogate becomes
 * U+FFFD). Reads each property of the entry once. Refuses custom entries with values that JSON cannot represent; such
 * values are dropped from core entries, whose details come from tools.
 * @throws PiError `entry_refused` with the reason
 */
export function encodeEntry(entry: SessionEntry): string {
	const type = typeof entry === "object" && entry !== null ? entry.type : undefined;
	if (typeof type !== "string" || type === "") {
		throw refused("an entry", "it is not an object with a non-empty string as type");
	}
	const name = nameOf(type);
	let json: string | undefined;
	try {
		json = JSON.stringify(entry, RESERVED_ENTRY_TYPES.has(type) ? undefined : refuseLossy);
		if (json !== undefined && SURROGATE_ESCAPE.test(json)) json = JSON.stringify(wellFormed(JSON.parse(json)));
	} catch (error) {
		throw refused(name, error instanceof RangeError ? "it is nested too deeply or too large" : errorText(error), error);
	}
	if (!json?.startsWith("{")) throw refused(name, "its toJSON does not return an object");
	return `${json}\n`;
}

/**
 * Decodes one line as a deeply frozen entry. Never throws: an unusable line, or a core entry with invalid fields, becomes
 * an opaque entry with the reason, so that callers need not check fields again.
 * @param line with or without its line end
 */
export function decodeLine(line: Uint8Array | string): SessionEntry {
	let value: unknown;
	try {
		const text =
			typeof line === "string" ? line : Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString();
		value = JSON.parse(text);
		if (SURROGATE_ESCAPE.test(text)) value = wellFormed(value);
		if (!isRecord(value)) return opaqueEntry("the line is not a JSON object");
		if (!isTyped(value)) return opaqueEntry("the line has no usable type or timestamp");
		return freezeDeep(readEntry(value));
	} catch (error) {
		return opaqueEntry(error instanceof RangeError ? errorText(error) : "the line is not JSON");
	}
}

/** Refuses values that JSON would silently drop or change. */
function refuseLossy(key: string, value: unknown): unknown {
	const where = key === "" ? "" : ` at "${key}"`;
	if (typeof value === "function" || typeof value === "symbol")
		throw new TypeError(`JSON cannot represent a ${typeof value}${where}`);
	if (typeof value === "number" && !Number.isFinite(value))
		throw new TypeError(`JSON cannot represent the number ${value}${where}`);
	if (value instanceof Map || value instanceof Set) throw new TypeError(`JSON cannot represent a Map or Set${where}`);
	return value;
}

/** A copy of plain data with every lone surrogate, including those in keys, replaced by U+FFFD. */
function wellFormed(value: unknown): unknown {
	if (typeof value === "string") return value.replace(LONE_SURROGATE, "\ufffd");
	if (Array.isArray(value)) return value.map(wellFormed);
	if (!isRecord(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, item]) => [key.replace(LONE_SURROGATE, "\ufffd"), wellFormed(item)]),
	);
}

function nameOf(type: string): string {
	return `an entry of type ${JSON.stringify(type).slice(0, 80)}`;
}

function refused(name: string, reason: string, cause?: unknown): PiError {
	return new PiError("entry_refused", `Cannot save ${name}: ${reason}`, { cause });
}

/** The entry, with the current time if it has none. */
export function withTimestamp(entry: SessionEntry): SessionEntry {
	if ("timestamp" in entry && entry.timestamp !== undefined) return entry;
	return { ...entry, timestamp: entryTimestamp() };
}
