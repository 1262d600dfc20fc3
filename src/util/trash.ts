import { lstatSync } from "node:fs";
import { exec } from "./process.js";

/** A program that moves files to the trash, and its arguments before the path. */
export type TrashCommand = readonly [program: string, ...args: string[]];

const FREEDESKTOP: readonly TrashCommand[] = [["gio", "trash"], ["trash-put"]];
const FINDER = 'on run argv\ntell application "Finder" to delete (POSIX file (item 1 of argv) as alias)\nend run';

const COMMANDS: Partial<Record<NodeJS.Platform, readonly TrashCommand[]>> = {
	linux: FREEDESKTOP,
	freebsd: FREEDESKTOP,
	openbsd: FREEDESKTOP,
	darwin: [["trash"], ["osascript", "-e", FINDER]],
};

/** A trash that does not answer, such as one on a network drive, must not block pi. */
const TIMEOUT_MS = 5000;
const NOT_FOUND = 127;

/**
 * Moves a file to the trash of the system, with the first of its programs that succeeds.
 * @param path absolute
 * @param commands default: those of this platform
 * @returns null if the file is in the trash, else the reason why it is unchanged
 */
export async function moveToTrash(
	path: string,
	commands: readonly TrashCommand[] = COMMANDS[process.platform] ?? [],
): Promise<string | null> {
	let reason = "this system has no trash that pi can use";
	for (const [program, ...args] of commands) {
		const { code, stderr } = await exec(program, [...args, path], { timeout: TIMEOUT_MS });
		if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
		if (code === NOT_FOUND) continue;
		reason = stderr.trim().split("\n")[0] || `${program} failed with exit code ${code}`;
	}
	return reason;
}
