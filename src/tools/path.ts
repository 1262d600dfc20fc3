import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { didYouMean } from "../util/nearest.js";

/** Startup files of shells, in the home directory. */
const SHELL_FILES = new Set(
	".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login"
		.split(" ")
		.concat(".config/fish/config.fish"),
);
/** Maximum number of directories and links resolved for one path; more are a loop. */
const MAX_STEPS = 200;

/**
 * Resolves a path from a model: `~` is the home directory, relative paths start at `cwd`, and a leading `@`, with which
 * users mention files, is removed unless a file has that name.
 */
export function resolvePath(cwd: string, path: string, home: string = homedir()): string {
	if (path.startsWith("@") && !existsSync(resolve(cwd, path))) return resolvePath(cwd, path.slice(1), home);
	if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
	return resolve(cwd, path);
}

/** Formats a path for display: relative to `cwd` if it is inside, else absolute. */
export function displayPath(cwd: string, path: string): string {
	const inside = relative(cwd, path);
	if (inside === "") return ".";
	return inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside;
}

/**
 * Describes a missing path in a sentence, with similar names in its directory, or with the closest parent directory that
 * exists.
 */
export async function describeMissing(cwd: string, path: string): Promise<string> {
	const shown = displayPath(cwd, path);
	const parent = dirname(path);
	try {
		const names = await readdir(parent);
		const guess = didYouMean(basename(path), names);
		if (guess === undefined) {
			return `${shown} does not exist in ${parent === cwd ? "the working directory" : displayPath(cwd, parent)}.`;
		}
		const question = guess.charAt(0).toUpperCase() + guess.slice(1);
		return `${shown} does not exist. In ${displayPath(cwd, parent)}: ${question}`;
	} catch {
		if (parent === path) return `${shown} does not exist.`;
		return `${shown} does not exist: ${await describeMissing(cwd, parent)}`;
	}
}

/**
 * A warning about files that determine which code runs later: pi's own files (any `.pi` directory in the project or the
 * home directory) and startup files of shells. Links are followed.
 * @returns undefined for all other files
 */
export function warnOfSensitivePath(cwd: string, path: string, home: string = homedir()): string | undefined {
	for (const each of new Set([path, realPathOf(path)])) {
		for (const base of new Set([cwd, home, realPathOf(cwd), realPathOf(home)])) {
			const inside = relative(base, each);
			if (inside.startsWith("..") || isAbsolute(inside)) continue;
			// Some file systems ignore case.
			if (inside.toLowerCase().split(sep).includes(".pi")) {
				return `Warning: ${displayPath(cwd, path)} is one of pi's own files, which determine the code that pi loads and runs. Tell the user about this change.`;
			}
			if ((base === home || base === realPathOf(home)) && SHELL_FILES.has(inside.split(sep).join("/"))) {
				return `Warning: ${displayPath(cwd, path)} runs in the user's shell. Tell the user about this change.`;
			}
		}
	}
	return undefined;
}

/** Resolves links as far as the path exists, including broken links. */
function realPathOf(path: string, stepsLeft = MAX_STEPS): string {
	try {
		return realpathSync(path);
	} catch {
		const parent = dirname(path);
		if (parent === path || stepsLeft === 0) return path;
		const directory = realPathOf(parent, stepsLeft - 1);
		const file = join(directory, basename(path));
		const target = linkTarget(file);
		return target === undefined ? file : realPathOf(resolve(directory, target), stepsLeft - 1);
	}
}

function linkTarget(path: string): string | undefined {
	try {
		return readlinkSync(path);
	} catch {
		return undefined; // missing, or not a link
	}
}
