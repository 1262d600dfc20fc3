import { readFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWriteFile, ensurePrivateDir } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { parseLine } from "./line-patterns.js";

/** A text that the user typed, and when. */
export interface TypedText {
	text: string;
	/** ms since the epoch. */
	at: number;
}

/** Next to the session files. Commands are not entries because the model never sees them. */
const FILE = "commands.history";
const MAX_LENGTH = 2000;
/** When the file exceeds this size, its older half is deleted. */
const MAX_BYTES = 128 * 1024;

/**
 * Saves a slash command for the editor's history in later sessions of the directory.
 * @throws the system's error
 */
export async function rememberCommand(dir: string, { text, at }: TypedText): Promise<void> {
	if (text.length > MAX_LENGTH) return;
	ensurePrivateDir(dir);
	const path = join(dir, FILE);
	await appendFile(path, `${JSON.stringify({ timestamp: new Date(at).toISOString(), text })}\n`, { mode: 0o600 });
	const lines = readLines(path);
	if (lines.join("\n").length < MAX_BYTES) return;
	await atomicWriteFile(path, `${lines.slice(Math.floor(lines.length / 2)).join("\n")}\n`, { mode: 0o600 });
}

/** The commands typed in a directory, newest first; empty if they cannot be read. */
export function earlierCommands(dir: string): TypedText[] {
	return readLines(join(dir, FILE)).flatMap(readCommand).reverse();
}

function readLines(path: string): string[] {
	try {
		return readFileSync(path, "utf8")
			.split("\n")
			.filter((line) => line !== "");
	} catch {
		return []; // no command was typed here yet
	}
}

/** @returns no command for a line that is incomplete or was written by another program */
function readCommand(line: string): TypedText[] {
	const value = parseLine(line);
	if (!isRecord(value) || typeof value.text !== "string" || typeof value.timestamp !== "string") return [];
	const at = Date.parse(value.timestamp);
	return value.text.startsWith("/") && Number.isFinite(at) ? [{ text: value.text, at }] : [];
}
