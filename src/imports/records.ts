import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PiError } from "../errors.js";
import { MAX_LINE_BYTES } from "../log/check-session.js";
import { parseLine } from "../log/line-patterns.js";
import { unopened } from "../log/open-error.js";
import { OpenFile } from "../log/open-file.js";
import { rawLines } from "../log/raw-lines.js";
import { onOneLine } from "../log/session-summary.js";
import { isRecord } from "../util/is-record.js";

/** A JSON object as another program wrote it. */
export type ForeignRecord = Readonly<Record<string, unknown>>;

const HEAD_BYTES = 256 * 1024;
/** A document in one piece, such as an export, is read completely. */
const MAX_DOCUMENT_BYTES = 512 * 1024 * 1024;
const MAX_TITLE = 200;

/** The objects of complete lines in the first 256 kB of a file; empty if it cannot be read. */
export function headRecords(path: string): ForeignRecord[] {
	let file: OpenFile | undefined;
	try {
		file = OpenFile.open(path, false);
		if (!file.stats().isFile()) return [];
		const records: ForeignRecord[] = [];
		for (const line of rawLines(file, MAX_LINE_BYTES)) {
			const value = line.bytes ? parseLine(line.bytes.toString()) : undefined;
			if (isRecord(value)) records.push(value);
			// The first line of a pretty-printed document is a bracket.
			else if (records.length === 0 && !line.isBlank) return [];
			if (line.offset + line.length > HEAD_BYTES) break;
		}
		return records;
	} catch {
		return [];
	} finally {
		file?.close();
	}
}

/**
 * Reads the objects of all lines. @param onDamage receives nothing, once for each line that is no object or too long
 * @throws PiError `log_not_found`, `file_unreadable`
 */
export function allRecords(path: string, onDamage: () => void): ForeignRecord[] {
	let file: OpenFile | undefined;
	try {
		file = OpenFile.open(path, false);
		const records: ForeignRecord[] = [];
		for (const line of rawLines(file, MAX_LINE_BYTES)) {
			if (line.isBlank) continue;
			const value = line.bytes ? parseLine(line.bytes.toString()) : undefined;
			if (isRecord(value)) records.push(value);
			else onDamage();
		}
		return records;
	} catch (error) {
		throw error instanceof PiError ? error : unopened(path, error);
	} finally {
		file?.close();
	}
}

/** The text of a file that is one document. @throws PiError `log_not_found`, `file_unreadable`, `log_not_a_session` */
export function documentText(path: string): string {
	try {
		const { size } = statSync(path);
		if (size > MAX_DOCUMENT_BYTES) throw notASession(path, "it is larger than 512 MB");
		return readFileSync(path, "utf8");
	} catch (error) {
		throw error instanceof PiError ? error : unopened(path, error);
	}
}

/** The object that a file contains; undefined for another file. */
export function documentOf(path: string): ForeignRecord | undefined {
	try {
		const value: unknown = JSON.parse(documentText(path));
		return isRecord(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Paths of the files of a directory that match, sorted; empty if it does not exist. @param isDeep with all directories below */
export function filesIn(dir: string, pattern: RegExp, isDeep = false): string[] {
	try {
		return readdirSync(dir, { recursive: isDeep, encoding: "utf8" })
			.filter((name) => pattern.test(name))
			.sort()
			.map((name) => join(dir, name));
	} catch {
		return [];
	}
}

/** When a file was changed, ms since the epoch; 0 if it cannot be told. */
export function modifiedAt(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The start of a text, on one line. */
export function titleText(text: string): string {
	return onOneLine(text, MAX_TITLE);
}

export function notASession(path: string, reason: string): PiError {
	return new PiError("log_not_a_session", `Cannot import ${path}: ${reason}`);
}

/** The text, or undefined for another value. */
export function textOf(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

/** The record, or an empty one for another value. */
export function recordOf(value: unknown): ForeignRecord {
	return isRecord(value) ? value : {};
}

/** The records of a list; empty for another value. */
export function recordsOf(value: unknown): ForeignRecord[] {
	return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A number of tokens or dollars; 0 for another value. */
export function amountOf(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** A time in ms since the epoch, of an ISO text or of ms; undefined for another value. */
export function timeOf(value: unknown): number | undefined {
	const ms = typeof value === "string" ? Date.parse(value) : value;
	return typeof ms === "number" && Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? ms : undefined;
}
