/**
 * Sends the text that another program writes to a file to the agent as a prompt:
 *
 *     echo "the build failed, see build.log" > .pi/trigger.txt
 *
 * Anyone who can write this file can send prompts to the agent. It is in the project instead of /tmp, where every user of
 * the machine could write it. A file that exists before pi starts is ignored, because a cloned project may contain one.
 * The hook deletes the file before it sends the text, so each text is sent once, even if several instances of pi watch
 * the same project.
 */
import { constants, lstatSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

const TRIGGER = join(".pi", "trigger.txt");
const MAX_BYTES = 64 * 1024;
/** Poll interval. A file that did not change between two polls is complete. */
const INTERVAL_MS = 250;

export default function fileTrigger(pi: HookAPI): void {
	const ended = new AbortController();

	pi.on("session", (event, ctx) => {
		if (event.reason === "start") void watch(join(ctx.cwd, TRIGGER), ended.signal, (text) => pi.send(text));
		if (event.reason === "shutdown") ended.abort();
	});
}

/** Polls, because file system events need an existing file and do not work on network drives. */
async function watch(path: string, signal: AbortSignal, onText: (text: string) => void): Promise<void> {
	const initial = stamp(path);
	let previous = initial;
	try {
		for await (const _ of setInterval(INTERVAL_MS, undefined, { signal, ref: false })) {
			const now = stamp(path);
			const isComplete = now !== null && now !== initial && now === previous;
			previous = now;
			const text = isComplete ? await take(path) : null;
			if (text !== null && !signal.aborted) onText(text);
		}
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}

/** A value that changes with every write; null if there is no file. */
function stamp(path: string): string | null {
	const stats = lstatSync(path, { throwIfNoEntry: false });
	return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : null;
}

/** Removes the file and returns its text; null if it is missing, empty, too long or not a regular file. */
async function take(path: string): Promise<string | null> {
	const taken = `${path}.${process.pid}`;
	try {
		// Rename first, then read: text written meanwhile goes into a new file.
		await rename(path, taken);
		const file = await open(taken, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		try {
			const stats = await file.stat();
			if (!stats.isFile() || stats.size > MAX_BYTES) return null;
			return (await file.readFile("utf8")).trim() || null;
		} finally {
			await file.close();
		}
	} catch {
		// Another process took it, or it is a link: nothing to send.
		return null;
	} finally {
		await rm(taken, { force: true, recursive: true }).catch(() => {});
	}
}
