import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { contains, directoriesBetween, distinct, isFile, readText } from "./files.js";

/** `.git` of a working directory, and the directories with hooks and configuration that it names if it is a file. */
export function repositoryPaths(cwd: string): string[] {
	const git = join(cwd, ".git");
	const [, named] = isFile(git) ? (/^gitdir: (.*)$/m.exec(readText(git)) ?? []) : [];
	const dir = named === undefined ? git : resolve(cwd, named);
	const [common] = readText(join(dir, "commondir")).split("\n");
	return distinct([git, dir, ...(common ? [resolve(dir, common)] : [])]);
}

/**
 * Which of these paths lead through a link in the working directory, which a program there could replace; null for none. The
 * path itself counts.
 */
export function linkInside(cwd: string, paths: readonly string[]): string | null {
	const inside = paths
		.filter((path) => contains(cwd, path))
		.flatMap((path) => [...directoriesBetween(cwd, path), path]);
	return inside.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) ?? null;
}
