/**
 * Sends what another program writes into a file to the agent as a prompt:
 *
 *     echo "the build failed, see build.log" > .pi/trigger.txt
 *
 * Whoever can write that file can talk to the agent. It lies in the project and not in /tmp, where every user of the
 * machine could; what is in it before pi starts is left alone, because a cloned project may bring such a file along.
 * A file that is taken is removed, so each text is sent once, also when several pi watch the same project.
 */
import { constants, unwatchFile, watchFile } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

const TRIGGER = join(".pi", "trigger.txt");
const MAX_BYTES = 64 * 1024;
/** The file is looked at this often. Works where it does not exist yet, and on network drives. */
const INTERVAL_MS = 250;
/** A writer that says nothing for so long is done. */
const QUIET_MS = 200;

export default function fileTrigger(pi: HookAPI): void {
	let stop = () => {};

	pi.on("session", (event, ctx) => {
		if (event.reason === "start") stop = watch(join(ctx.cwd, TRIGGER), (text) => pi.send(text));
		if (event.reason === "shutdown") stop();
	});
}

/** @returns a function that ends it */
function watch(path: string, onText: (text: string) => void): () => void {
	let timer: NodeJS.Timeout | undefined;
	let ended = false;
	const changed = (now: { mtimeMs: number }) => {
		// 0: it was removed, by us most likely.
		if (now.mtimeMs === 0 || ended) return;
		clearTimeout(timer);
		timer = setTimeout(async () => {
			const text = await take(path);
			if (text !== null && !ended) onText(text);
		}, QUIET_MS);
		timer.unref();
	};
	watchFile(path, { interval: INTERVAL_MS, persistent: false }, changed);
	return () => {
		ended = true;
		clearTimeout(timer);
		unwatchFile(path, changed);
	};
}

/** Takes the file away and reads it. @returns null when it is gone, empty, too long or no plain file */
async function take(path: string): Promise<string | null> {
	const taken = `${path}.${process.pid}`;
	try {
		// First out of the way, then read: what is written meanwhile goes into a new file.
		await rename(path, taken);
		const file = await open(taken, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		try {
			const { size } = await file.stat();
			if (!(await file.stat()).isFile() || size > MAX_BYTES) return null;
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
