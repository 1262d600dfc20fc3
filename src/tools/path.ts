import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isNotFound } from "../util/fs.js";
import { didYouMean } from "../util/nearest.js";
import type { ToolHost } from "./host/tool-host.js";

/** Startup files of shells, in the home directory. */
const SHELL_FILES = new Set(
	".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login"
		.split(" ")
		.concat(".config/fish/config.fish"),
);

/** The directories from which paths start. */
export type PathRoots = Pick<ToolHost, "cwd" | "home">;

/**
 * The absolute paths that a path from a model may mean: `~` is the home directory, relative paths start at `cwd`. A leading
 * `@`, with which users mention files, is part of the name only if such a file exists: then the first of two.
 */
export function possiblePaths({ cwd, home }: PathRoots, path: string): [string, ...string[]] {
	if (path.startsWith("@")) return [resolve(cwd, path), ...possiblePaths({ cwd, home }, path.slice(1))];
	return [path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(cwd, path)];
}

/** The absolute path on a host that a path from a model means, as `possiblePaths`. */
export async function resolvePath(host: ToolHost, path: string): Promise<string> {
	const paths = possiblePaths(host, path);
	const last = paths.pop() ?? path;
	for (const possible of paths) {
		const exists = await host.stat(possible).then(
			() => true,
			(thrown: unknown) => !isNotFound(thrown),
		);
		if (exists) return possible;
	}
	return last;
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
export async function describeMissing(host: ToolHost, path: string): Promise<string> {
	const { cwd } = host;
	const shown = displayPath(cwd, path);
	const parent = dirname(path);
	try {
		const names = (await host.list(parent)).map(({ name }) => name);
		const guess = didYouMean(basename(path), names);
		if (guess === undefined) {
			return `${shown} does not exist in ${parent === cwd ? "the working directory" : displayPath(cwd, parent)}.`;
		}
		const question = guess.charAt(0).toUpperCase() + guess.slice(1);
		return `${shown} does not exist. In ${displayPath(cwd, parent)}: ${question}`;
	} catch {
		if (parent === path) return `${shown} does not exist.`;
		return `${shown} does not exist: ${await describeMissing(host, parent)}`;
	}
}

/**
 * A warning about files that determine which code runs later: pi's own files (any `.pi` directory in the project or the
 * home directory) and startup files of shells.
 * @param realPath the same path with links resolved
 * @returns undefined for all other files
 */
export async function warnOfSensitivePath(host: ToolHost, path: string, realPath: string): Promise<string | undefined> {
	const { cwd, home } = host;
	const [realCwd, realHome] = await Promise.all([host.realPath(cwd), host.realPath(home)]);
	for (const each of new Set([path, realPath])) {
		for (const base of new Set([cwd, home, realCwd, realHome])) {
			const inside = relative(base, each);
			if (inside.startsWith("..") || isAbsolute(inside)) continue;
			// Some file systems ignore case.
			if (inside.toLowerCase().split(sep).includes(".pi")) {
				return `Warning: ${displayPath(cwd, path)} is one of pi's own files, which determine the code that pi loads and runs. Tell the user about this change.`;
			}
			if ((base === home || base === realHome) && SHELL_FILES.has(inside.split(sep).join("/"))) {
				return `Warning: ${displayPath(cwd, path)} runs in the user's shell. Tell the user about this change.`;
			}
		}
	}
	return undefined;
}
