import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { contains, kindOf, realPath, TEMP_DIRS } from "./files.js";

/** pi removes directories of sandboxes whose pi was killed after this time. */
const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * Makes a private directory that no program in the sandbox can write to, except for its `tmp`.
 * @param filter the filter for system calls; null for none
 */
export async function makeState(cwd: string, filter: Buffer | null): Promise<string> {
	const base = [tmpdir(), ...TEMP_DIRS].map(realPath).find((dir) => !contains(cwd, dir)) ?? "/tmp";
	await removeStale(base);
	const state = await mkdtemp(join(base, `pi-sandbox-${process.pid}-`));
	await Promise.all([
		mkdir(join(state, "tmp"), { mode: 0o700 }),
		mkdir(join(state, "hidden-dir")).then(() => chmod(join(state, "hidden-dir"), 0)),
		writeFile(join(state, "hidden-file"), "", { mode: 0 }),
		...(filter === null ? [] : [writeFile(filterFile(state), filter)]),
	]);
	return state;
}

/** The file with the filter for system calls. */
export function filterFile(state: string): string {
	return join(state, "system-calls");
}

export async function removeState(state: string): Promise<void> {
	await rm(state, { recursive: true, force: true, maxRetries: 3 }).catch(() => {
		// Files of a directory without permissions remain, as in any temporary directory.
	});
}

/** Removes the directories of sandboxes whose pi was killed. */
async function removeStale(base: string): Promise<void> {
	for (const name of await readdir(base)) {
		const pid = Number(/^pi-sandbox-(\d+)-/.exec(name)?.[1]);
		if (!pid) continue;
		const path = join(base, name);
		const found = kindOf(path);
		// The age is for a process of another container with the same temporary directory.
		if (found?.uid !== userInfo().uid || Date.now() - found.mtimeMs < STALE_MS || isRunning(pid)) continue;
		await removeState(path);
	}
}

function isRunning(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
