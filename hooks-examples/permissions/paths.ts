/** The paths of tool calls, with links resolved. */
import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** Maximum length of a chain of links; a longer one is a loop, which no tool can go through. */
const MAX_LINKS = 40;

/**
 * Every form of a path that a tool may open: relative to the project with `/`, or absolute outside of it, after links are
 * resolved.
 */
export function resolvedPaths(cwd: string, path: string): string[] {
	const root = realpathSync(cwd);
	return [...new Set(possiblePaths(cwd, path).map((absolute) => relativeTo(root, realPath(absolute))))];
}

/** True for a path that `resolvedPaths` returned and that is in the project. */
export function isInside(path: string): boolean {
	return !isAbsolute(path) && path !== ".." && !path.startsWith("../");
}

/** True if a path, or what it links to, is a `.env` file or in `.git` or `node_modules`. Names above the project do not count. */
export function isProtected(cwd: string, path: string): boolean {
	const root = realpathSync(cwd);
	return possiblePaths(cwd, path)
		.flatMap((absolute) => [relativeTo(cwd, absolute), relativeTo(root, realPath(absolute))])
		.some((found) => found.toLowerCase().split("/").some(isProtectedName));
}

/** @param name in lowercase, because some file systems ignore case */
function isProtectedName(name: string): boolean {
	if (name === ".env.example") return false;
	return name === ".git" || name === "node_modules" || name === ".env" || name.startsWith(".env.");
}

function relativeTo(root: string, path: string): string {
	const inside = relative(root, path);
	const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
	return isOutside ? path : inside.split(sep).join("/") || ".";
}

/** The paths that a tool may resolve `path` to: `~` is the home directory, and users mark files with a leading `@`. */
function possiblePaths(cwd: string, path: string): string[] {
	const expanded = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path);
	return path.startsWith("@") ? [expanded, ...possiblePaths(cwd, path.slice(1))] : [expanded];
}

/** Resolves links as far as the path exists, including a link with a missing target, which a write would create. */
function realPath(path: string, links = 0): string {
	if (existsSync(path)) return realpathSync(path);
	const parent = dirname(path);
	if (parent === path || links > MAX_LINKS) return path;
	const here = join(realPath(parent, links), basename(path));
	const target = readLink(here);
	return target === null ? here : realPath(resolve(dirname(here), target), links + 1);
}

/** @returns null if the path is not a link */
function readLink(path: string): string | null {
	try {
		return readlinkSync(path);
	} catch {
		return null;
	}
}
