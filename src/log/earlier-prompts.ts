import { setImmediate as nextTick } from "node:timers/promises";
import { newestFirst } from "./catalog.js";
import { decodeLine } from "./codec.js";
import { earlierCommands, type TypedText } from "./command-history.js";
import { isMessageEntry } from "./entry.js";
import { LineIndex } from "./line-index.js";
import { withFile } from "./open-file.js";
import { isPrinted, promptOfEntry } from "./prompt-text.js";

export interface EarlierPromptsOptions {
	/** Path of a session to skip: the caller already has its prompts. */
	except?: string | null;
	maxPrompts?: number;
}

/** Limits of the bytes read from the end of one session, and from all sessions together. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 48 * 1024 * 1024;
/** Longer prompts were pasted; users do not look for them with the arrow keys. */
const MAX_LINE_BYTES = 256 * 1024;

/**
 * The prompts that the user typed in the sessions of a directory, newest session and newest prompt first, with commands
 * inserted by time. Reads the ends of the session files, yields to the event loop after each file, and skips files that
 * cannot be read.
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
	return mergeByTime(prompts, earlierCommands(dir), maxPrompts);
}

/** Inserts commands between prompts without changing the order of the prompts. */
function mergeByTime(prompts: readonly TypedText[], commands: readonly TypedText[], max: number): string[] {
	const left = [...commands];
	const texts = prompts.flatMap(({ at, text }) => {
		const later = left.findIndex((command) => command.at <= at);
		const before = left.splice(0, later < 0 ? left.length : later);
		return [...before.map((command) => command.text), text];
	});
	return [...texts, ...left.map(({ text }) => text)].slice(0, max);
}

/**
 * Collects the prompts at the end of a file, newest first. Decodes only lines of the user, and lines whose heads do not
 * contain type and role. @returns the number of bytes read
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
			// The images of that session are missing here, so its markers could refer to other images.
			const text = promptOfEntry(entry)?.replace(/\[image #\d+\]/g, "[image]");
			// Those of scripts, which the user has not typed here.
			if (text !== undefined && isMessageEntry(entry) && !isPrinted(entry))
				prompts.push({ text, at: Date.parse(entry.timestamp) || 0 });
		}
		return stats.size - from;
	});
	return read ?? 0;
}

function mayBePrompt(index: LineIndex, line: number): boolean {
	const role = index.roleHint(line) ?? "user";
	return (index.typeHint(line) ?? "message") === "message" && (role === "user" || role === "bashExecution");
}
