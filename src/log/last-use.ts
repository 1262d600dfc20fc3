import { decodeLine } from "./codec.js";
import { isMessageEntry, type SessionEntry } from "./entry.js";
import { LineIndex } from "./line-index.js";
import { type OpenFile, withFile } from "./open-file.js";
import { isPrinted } from "./prompt-text.js";

/** Bytes at the end of a file that are read first, and if they hold no prompt. After that, all of it is. */
const TAILS = [64 * 1024, 4 * 1024 * 1024];

/** When a session was last used. */
export interface LastUse {
	/** Time of the last prompt or shell command of the user, ms since the epoch. */
	at: number;
	/** True if all that was read came from `pi -p` or JSON mode. */
	isPrinted: boolean;
}

/**
 * Reads when a session was last used: to open it is no use.
 * @param withPrinted whether prompts of `pi -p` and JSON mode count; otherwise they do only in sessions that have no others
 * @returns null for a session without prompts, and for a file that cannot be read
 */
export function lastUse(path: string, { withPrinted }: { withPrinted: boolean }): LastUse | null {
	return (
		withFile(path, (file) => {
			const { size, mtimeMs } = file.stats();
			for (const tail of [...TAILS, size]) {
				const from = Math.max(0, size - tail);
				const use = lastUseIn(file, { from, to: size, mtimeMs, withPrinted });
				if (from === 0 || (use !== null && (withPrinted || !use.isPrinted))) return use;
			}
			return null;
		}) ?? null
	);
}

/** Whether a session has a message. False for a file that cannot be read. */
export function hasMessage(path: string): boolean {
	return (
		withFile(path, (file) => {
			const index = new LineIndex();
			index.scan(file, 0, file.stats().size);
			for (let line = 0; line < index.length; line++) {
				if ((index.typeHint(line) ?? "message") === "message" && isMessageEntry(entryAt(file, index, line)))
					return true;
			}
			return false;
		}) ?? false
	);
}

function lastUseIn(
	file: OpenFile,
	{ from, to, mtimeMs, withPrinted }: { from: number; to: number; mtimeMs: number; withPrinted: boolean },
): LastUse | null {
	const index = new LineIndex();
	index.scan(file, from, to);
	let printed: LastUse | null = null;
	for (let line = index.length - 1; line >= 0; line--) {
		const entry = promptAt(file, index, line);
		if (entry === null) continue;
		// Other programs may write no time.
		const at = Date.parse(entry.timestamp) || mtimeMs;
		if (!isPrinted(entry)) return { at, isPrinted: false };
		printed ??= { at, isPrinted: true };
		if (withPrinted) return printed;
	}
	return printed;
}

/** The entry of a prompt or a shell command of the user; null for other lines. */
function promptAt(file: OpenFile, index: LineIndex, line: number) {
	if ((index.typeHint(line) ?? "message") !== "message") return null;
	const role = index.roleHint(line) ?? "user";
	if (role !== "user" && role !== "bashExecution") return null;
	const entry = entryAt(file, index, line);
	if (!isMessageEntry(entry)) return null;
	return entry.message.role === "user" || entry.message.role === "bashExecution" ? entry : null;
}

function entryAt(file: OpenFile, index: LineIndex, line: number): SessionEntry {
	const bytes = Buffer.allocUnsafe(index.byteLength(line));
	file.read(bytes, index.start(line));
	return decodeLine(bytes);
}
