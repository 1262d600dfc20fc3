import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isNotFound } from "../util/fs.js";
import { didYouMean } from "../util/nearest.js";
import type { HostEntry, ToolHost } from "./machine/machine.js";

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
	const inside = partsInside(cwd, path)?.join(sep);
	return inside === "" ? "." : (inside ?? path);
}

/** Like `displayPath`, for a sentence: "." at its end would look like two periods. */
export function directoryWords(cwd: string, path: string): string {
	const shown = displayPath(cwd, path);
	return shown === "." ? "the working directory" : shown;
}

/**
 * Describes a missing path in a sentence, with similar names in its directory, or with the first of its directories that is
 * missing.
 * @param missing the path of which `path` is a directory; default: `path` itself
 */
export async function describeMissing(host: ToolHost, path: string, missing: string = path): Promise<string> {
	const { cwd } = host;
	const shown = displayPath(cwd, path);
	const parent = dirname(path);
	const start = `${displayPath(cwd, missing)} does not exist`;
	const nothing = path === missing ? start : `${start}: there is no directory ${shown}`;
	try {
		const entries = await host.list(parent);
		const same = entries.find(({ name }) => name === basename(path));
		const reason = same && describeUnusable(shown, same);
		if (reason !== undefined) return path === missing ? reason : `${start}: ${reason}`;
		const names = entries.filter((entry) => entry !== same).map(({ name }) => name);
		const guess = didYouMean(basename(path), names);
		if (guess === undefined) return `${nothing} in ${directoryWords(cwd, parent)}.`;
		const question = guess.charAt(0).toUpperCase() + guess.slice(1);
		return `${nothing}. In ${displayPath(cwd, parent)}: ${question}`;
	} catch {
		return parent === path ? `${nothing}.` : describeMissing(host, parent, missing);
	}
}

/** Why an entry that its directory lists was not found. */
function describeUnusable(shown: string, { name, target }: HostEntry): string | undefined {
	if (target !== undefined) return `${shown} is a link to ${target}, which does not exist.`;
	if (!name.includes("\uFFFD")) return undefined;
	const pattern = name.replace(/\uFFFD+/g, "?*");
	return `${shown} is not the real name of the file: it contains bytes that are not UTF-8. Use bash with a pattern, such as ls ${pattern}.`;
}

/**
 * A warning about files that determine which code runs later: pi's own files (the agent directory, any `.pi` directory in the
 * project or the home directory, the project's `.mcp.json`) and startup files of shells.
 * @param realPath the same path with links resolved
 * @returns undefined for all other files
 */
export async function warnOfSensitivePath(host: ToolHost, path: string, realPath: string): Promise<string | undefined> {
	const { cwd, home, agentDir } = host;
	const withReal = async (dir: string) => [dir, await host.realPath(dir)];
	const [ofProject, ofUser, ofPi] = await Promise.all([
		withReal(cwd),
		withReal(home),
		agentDir === undefined ? [] : withReal(agentDir),
	]);
	/** The names between one of the directories and the path, in lower case: some file systems ignore case. */
	const namesIn = (dirs: readonly string[]) =>
		dirs.flatMap((dir) =>
			[path, realPath].flatMap((each) => {
				const inside = partsInside(dir, each);
				return inside ? [inside.map((name) => name.toLowerCase())] : [];
			}),
		);
	const project = namesIn(ofProject);
	const user = namesIn(ofUser);
	const isOfPi =
		namesIn(ofPi).length > 0 ||
		[...project, ...user].some((names) => names.includes(".pi")) ||
		project.some((names) => names.join("/") === ".mcp.json");
	if (isOfPi) {
		return `Warning: ${displayPath(cwd, path)} is one of pi's own files, which determine the code that pi loads and runs. Tell the user about this change.`;
	}
	if (user.some((names) => SHELL_FILES.has(names.join("/")))) {
		return `Warning: ${displayPath(cwd, path)} runs in the user's shell. Tell the user about this change.`;
	}
	return undefined;
}

/** The names of a path below a directory; undefined if it is not inside. */
function partsInside(dir: string, path: string): string[] | undefined {
	const inside = relative(dir, path);
	if (isAbsolute(inside)) return undefined;
	const names = inside.split(sep);
	return names[0] === ".." ? undefined : names;
}
