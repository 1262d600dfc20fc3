/**
 * Sends what another program writes into a file to the agent as a prompt:
 *
 *     echo "the build failed, see build.log" > .pi/trigger.txt
 *
 * Whoever can write that file can talk to the agent. It lies in the project and not in /tmp, where every user of the
 * machine could; what is in it before pi starts is left alone, because a cloned project may bring such a file along.
 * A file that is taken is removed, so each text is sent once, also when several pi watch the same project.
 */
import { constants, lstatSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

const TRIGGER = join(".pi", "trigger.txt");
const MAX_BYTES = 64 * 1024;
/** The file is looked at this often; one that did not change since the last look is complete. */
const INTERVAL_MS = 250;

export default function fileTrigger(pi: HookAPI): void {
	const ended = new AbortController();

	pi.on("session", (event, ctx) => {
		if (event.reason === "start") void watch(join(ctx.cwd, TRIGGER), ended.signal, (text) => pi.send(text));
		if (event.reason === "shutdown") ended.abort();
	});
}

/** Looks instead of waiting for events: that works where the file does not exist yet, and on network drives. */
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

/** What changes with every write; null while there is no file. */
function stamp(path: string): string | null {
	const stats = lstatSync(path, { throwIfNoEntry: false });
	return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : null;
}

/** Takes the file away and reads it. @returns null when it is gone, empty, too long or no plain file */
async function take(path: string): Promise<string | null> {
	const taken = `${path}.${process.pid}`;
	try {
		// First out of the way, then read: what is written meanwhile goes into a new file.
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
		// Someone else took it, or it is a link: nothing to send either way.
		return null;
	} finally {
		await rm(taken, { force: true, recursive: true }).catch(() => {});
	}
}
