import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { didYouMean } from "../util/nearest.js";

/** Files in the home directory that a shell runs. */
const SHELL_FILES = new Set(
	".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login"
		.split(" ")
		.concat(".config/fish/config.fish"),
);
/** Directories and links that are looked at for one path; more of them are a loop. */
const MAX_STEPS = 200;

/**
 * The absolute path that a model means: `~` is the home directory, relative paths start at `cwd`, and an `@` in front,
 * as users mark files, is dropped unless a file has that name.
 */
export function resolvePath(cwd: string, path: string, home: string = homedir()): string {
	if (path.startsWith("@") && !existsSync(resolve(cwd, path))) return resolvePath(cwd, path.slice(1), home);
	if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
	return resolve(cwd, path);
}

/** A path as people write it: relative to `cwd` when it is inside, absolute otherwise. */
export function displayPath(cwd: string, path: string): string {
	const inside = relative(cwd, path);
	if (inside === "") return ".";
	return inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside;
}

/**
 * The sentence for a path at which nothing stands: with the nearest names in its directory, or with the last directory
 * on the way that exists.
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
 * A warning when a file decides what runs later: pi's own files (any `.pi` directory in the project or home) and the
 * start files of shells. Links are followed, so that the file that is really written counts.
 * @returns undefined for all other files
 */
export function warnOfSensitivePath(cwd: string, path: string, home: string = homedir()): string | undefined {
	for (const each of new Set([path, realPathOf(path)])) {
		for (const base of new Set([cwd, home, realPathOf(cwd), realPathOf(home)])) {
			const inside = relative(base, each);
			if (inside.startsWith("..") || isAbsolute(inside)) continue;
			// Some file systems make no difference between capitals and others.
			if (inside.toLowerCase().split(sep).includes(".pi")) {
				return `Warning: ${displayPath(cwd, path)} belongs to pi's own files, which can change what pi loads and runs. Tell the user about this change.`;
			}
			if ((base === home || base === realPathOf(home)) && SHELL_FILES.has(inside.split(sep).join("/"))) {
				return `Warning: ${displayPath(cwd, path)} is run by the user's shell. Tell the user about this change.`;
			}
		}
	}
	return undefined;
}

/** Links resolved as far as the path exists, those that point at nothing yet included. */
function realPathOf(path: string, stepsLeft = MAX_STEPS): string {
	try {
		return realpathSync(path);
	} catch {
		const parent = dirname(path);
		if (parent === path || stepsLeft === 0) return path;
		const place = realPathOf(parent, stepsLeft - 1);
		const target = linkTarget(join(place, basename(path)));
		return target === undefined ? join(place, basename(path)) : realPathOf(resolve(place, target), stepsLeft - 1);
	}
}

function linkTarget(path: string): string | undefined {
	try {
		return readlinkSync(path);
	} catch {
		return undefined; // nothing there, or no link
	}
}
