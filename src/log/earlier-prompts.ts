import { setImmediate as nextTick } from "node:timers/promises";
import { newestFirst } from "./catalog.js";
import { decodeLine } from "./codec.js";
import { earlierCommands, type TypedText } from "./command-history.js";
import { isMessageEntry, promptOfEntry } from "./entry.js";
import { OpenFile } from "./open-file.js";

/** What is looked for and how far. */
export interface EarlierPromptsOptions {
	/** Path of a session that is left out: its prompts are known. */
	except?: string | null;
	maxPrompts?: number;
}

const LF = 10;
const ROLE = Buffer.from('"role":"');
const LINE_START = Buffer.from('{"type":"message"');
const ROLES = ["user", "bashExecution"].map((role) => Buffer.from(`${role}"`));
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
		const tail = readTail(path, Math.min(budget, MAX_FILE_BYTES));
		budget -= tail.length;
		collectPrompts(tail, prompts, maxPrompts);
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

/** Goes through the lines of messages backwards, and parses only those of the user. */
function collectPrompts(tail: Buffer, prompts: TypedText[], maxPrompts: number): void {
	for (let at = tail.lastIndexOf(ROLE); at > 0 && prompts.length < maxPrompts; ) {
		const start = tail.lastIndexOf(LF, at) + 1;
		const end = tail.indexOf(LF, at);
		const role = tail.subarray(at + ROLE.length);
		const isPrompt = ROLES.some((name) => role.subarray(0, name.length).equals(name));
		const isWhole = tail.subarray(start, start + LINE_START.length).equals(LINE_START);
		if (isPrompt && isWhole && end - start <= MAX_LINE_BYTES) {
			const entry = decodeLine(tail.subarray(start, end < 0 ? tail.length : end));
			const text = promptOfEntry(entry);
			// The images of that session are not here: their marks would stand for others.
			const shown = text?.replace(/\[image #\d+\]/g, "[image]");
			if (shown !== undefined && isMessageEntry(entry)) {
				prompts.push({ text: shown, at: Date.parse(entry.timestamp) || 0 });
			}
		}
		at = start === 0 ? -1 : tail.lastIndexOf(ROLE, start - 1);
	}
}

function readTail(path: string, maxBytes: number): Buffer {
	let file: OpenFile | undefined;
	try {
		file = OpenFile.open(path, false);
		const stats = file.stats();
		if (!stats.isFile()) return Buffer.alloc(0);
		const bytes = Buffer.allocUnsafe(Math.min(stats.size, maxBytes));
		return bytes.subarray(0, file.readSome(bytes, stats.size - bytes.length));
	} catch {
		return Buffer.alloc(0); // it has gone meanwhile, or may not be read
	} finally {
		file?.close();
	}
}
