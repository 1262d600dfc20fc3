import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { realPathOrNull } from "./fs.js";

/** A file or directory through which other users can change a file. */
export interface ForeignWriter {
	/** Such as `other users can write to /a/b`. */
	problem: string;
	/** Next step for the user. */
	hint: string;
}

/** Owner of files whose real owner is unknown in a container. */
const UNKNOWN_USER = 65_534;

/**
 * Whoever can write to a file, to a directory that contains it, or to what a link leads to, chooses what pi reads there.
 * Its owner must be the user or root, and others must not be able to write to it: nor to the directories from it up to `dir`,
 * and to those of its real path up to the root, where a sticky directory such as /tmp is safe.
 * @param options `allowsOwnGroup`: a group of the user alone, as many systems make it, may write to the file
 * @returns null if only the user and root can; for a file that does not exist; and on Windows
 */
export function findForeignWriter(
	file: string,
	dir: string,
	{ allowsOwnGroup = false }: { allowsOwnGroup?: boolean } = {},
): ForeignWriter | null {
	const real = realPathOrNull(file);
	if (process.platform === "win32" || real === null) return null;
	const own = allowsOwnGroup ? isOpenParent : isOpen;
	const near = [real, ...parentsUpTo(file, dir), dirname(real)];
	for (const path of near) {
		const problem = describe(path, own);
		if (problem) return problem;
	}
	for (const path of parentsUpTo(real, "/")) {
		const problem = describe(path, isOpenParent, true);
		if (problem) return problem;
	}
	return null;
}

function parentsUpTo(file: string, last: string): string[] {
	const found: string[] = [];
	for (let at = dirname(file); ; at = dirname(at)) {
		if (!at.startsWith(last)) return found;
		found.push(at);
		if (at === last || at === dirname(at)) return found;
	}
}

function describe(path: string, isOpenFor: (stats: Stats) => boolean, isParent = false): ForeignWriter | null {
	const stats = statSync(path, { throwIfNoEntry: false });
	if (!stats) return null;
	const { uid } = stats;
	const isKnown = [0, process.getuid?.() ?? uid].includes(uid) || (isParent && uid === UNKNOWN_USER);
	if (!isKnown) return { problem: `${path} belongs to another user`, hint: `chown ${path}, or replace it with a copy` };
	return isOpenFor(stats) ? { problem: `other users can write to ${path}`, hint: `chmod go-w ${path}` } : null;
}

function isOpen({ mode }: Stats): boolean {
	return (mode & 0o022) !== 0;
}

/** A group with the number of the user has no other members. */
function isOpenParent(stats: Stats): boolean {
	const { mode, gid } = stats;
	if (stats.isDirectory() && (mode & 0o1000) !== 0) return false;
	const isOwnGroup = gid === 0 || (gid === process.getgid?.() && gid === process.getuid?.());
	return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !isOwnGroup);
}
