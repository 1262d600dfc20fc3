import { readFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWriteFile, ensurePrivateDir } from "../util/fs.js";
import { parseLine } from "./line-patterns.js";
import { isRecord } from "./read-message.js";

/** Something that was typed, and when. */
export interface TypedText {
	text: string;
	/** ms since the epoch. */
	at: number;
}

/** Stands beside the sessions of a directory: commands are no entries, for the model never hears of them. */
const FILE = "commands.history";
const MAX_LENGTH = 2000;
/** Of a file that is larger the newest half stays, bytes. */
const MAX_BYTES = 128 * 1024;

/**
 * Keeps a slash command that was typed, for the editor's history in later sessions of the directory.
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

/** The commands that were typed in a directory, newest first; none when they cannot be read. */
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

/** A line that another program wrote, or that was torn, is left out. */
function readCommand(line: string): TypedText[] {
	const value = parseLine(line);
	if (!isRecord(value) || typeof value.text !== "string" || typeof value.timestamp !== "string") return [];
	const at = Date.parse(value.timestamp);
	return value.text.startsWith("/") && Number.isFinite(at) ? [{ text: value.text, at }] : [];
}
