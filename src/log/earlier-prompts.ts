import { setImmediate as nextTick } from "node:timers/promises";
import { newestFirst } from "./catalog.js";
import { decodeLine } from "./codec.js";
import { earlierCommands, type TypedText } from "./command-history.js";
import { isMessageEntry, promptOfEntry } from "./entry.js";
import { LineIndex } from "./line-index.js";
import { withFile } from "./open-file.js";

/** What is looked for and how far. */
export interface EarlierPromptsOptions {
	/** Path of a session that is left out: its prompts are known. */
	except?: string | null;
	maxPrompts?: number;
}

/** Of each session its end; of all sessions together what is read in a moment. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 48 * 1024 * 1024;
/** A prompt that is longer was pasted; nobody looks for it with the arrows. */
const MAX_LINE_BYTES = 256 * 1024;

/**
 * What the user typed into the sessions of a directory, newest session and newest prompt first, and the commands that
 * were typed, each where its time puts it. Reads the ends of the session files, never holds up the event loop for longer
 * than one of them takes, and skips what cannot be read.
 */
export async function earlierPrompts(dir: string, options: EarlierPromptsOptions = {}): Promise<string[]> {
	const { except = null, maxPrompts = 500 } = options;
	const prompts: TypedText[] = [];
	let budget = MAX_BYTES;
	for (const path of newestFirst(dir)) {
		if (path === except) continue;
		if (prompts.length >= maxPrompts || budget <= 0) break;
		budget -= collectPrompts(path, Math.min(budget, MAX_FILE_BYTES), prompts, maxPrompts);
		await nextTick();
	}
	return inTime(prompts, earlierCommands(dir), maxPrompts);
}

/** Commands between prompts; the order of the prompts, which is that of their sessions, stays. */
function inTime(prompts: readonly TypedText[], commands: readonly TypedText[], max: number): string[] {
	const left = [...commands];
	const texts = prompts.flatMap(({ at, text }) => {
		const later = left.findIndex((command) => command.at <= at);
		const before = left.splice(0, later < 0 ? left.length : later);
		return [...before.map((command) => command.text), text];
	});
	return [...texts, ...left.map(({ text }) => text)].slice(0, max);
}

/**
 * Collects the prompts at the end of a file, newest first. Decodes only lines of the user, and those whose heads do not
 * say what they are. @returns how many bytes were read
 */
function collectPrompts(path: string, maxBytes: number, prompts: TypedText[], maxPrompts: number): number {
	const read = withFile(path, (file) => {
		const stats = file.stats();
		if (!stats.isFile()) return 0;
		const from = Math.max(0, stats.size - maxBytes);
		const index = new LineIndex();
		index.scan(file, from, stats.size);
		for (let line = index.length - 1; line >= 0 && prompts.length < maxPrompts; line--) {
			const length = index.byteLength(line);
			if (!mayBePrompt(index, line) || length > MAX_LINE_BYTES) continue;
			const bytes = Buffer.allocUnsafe(length);
			file.read(bytes, index.start(line));
			const entry = decodeLine(bytes);
			// The images of that session are not here: their marks would stand for others.
			const text = promptOfEntry(entry)?.replace(/\[image #\d+\]/g, "[image]");
			if (text !== undefined && isMessageEntry(entry)) prompts.push({ text, at: Date.parse(entry.timestamp) || 0 });
		}
		return stats.size - from;
	});
	return read ?? 0;
}

function mayBePrompt(index: LineIndex, line: number): boolean {
	const role = index.roleHint(line) ?? "user";
	return (index.typeHint(line) ?? "message") === "message" && (role === "user" || role === "bashExecution");
}
