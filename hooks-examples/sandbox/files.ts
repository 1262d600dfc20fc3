import { accessSync, constants, readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Directories of temporary files of other programs, which the sandbox replaces. */
export const TEMP_DIRS = ["/tmp", "/var/tmp"];

export function contains(dir: string, path: string): boolean {
	return path === dir || path.startsWith(dir.endsWith("/") ? dir : `${dir}/`);
}

/** The directories between two, outermost first, without both. */
export function directoriesBetween(outer: string, inner: string): string[] {
	const dirs: string[] = [];
	for (let dir = dirname(inner); contains(outer, dir) && dir !== outer; dir = dirname(dir)) dirs.unshift(dir);
	return dirs;
}

/** The real path of what exists, else the path. */
export function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

export function exists(path: string): boolean {
	return kindOf(path) !== null;
}

export function canRead(path: string): boolean {
	try {
		accessSync(path, constants.R_OK);
		return true;
	} catch {
		return false;
	}
}

export function isDirectory(path: string): boolean {
	return kindOf(path)?.isDirectory() === true;
}

export function isFile(path: string): boolean {
	return kindOf(path)?.isFile() === true;
}

/** null for what does not exist or what the user cannot reach, and therefore no program in the sandbox either. */
export function kindOf(path: string): Stats | null {
	try {
		return statSync(path, { throwIfNoEntry: false }) ?? null;
	} catch {
		return null;
	}
}

/** Paths whose names start with the last part of a path. */
export function startingWith(path: string): string[] {
	const dir = dirname(path);
	if (!isDirectory(dir)) return [];
	return readdirSync(dir).flatMap((name) => (join(dir, name).startsWith(path) ? [join(dir, name)] : []));
}

export function readText(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}

export function distinct(paths: readonly string[]): string[] {
	return [...new Set(paths)];
}

export function words([text = ""]: TemplateStringsArray): string[] {
	return text.trim().split(/\s+/);
}
