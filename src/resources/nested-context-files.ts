import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { realPathOrNull } from "../util/fs.js";
import { type ContextFile, projectRoot, readFirst } from "./context-files.js";
import type { ReadBytes, ResourceProblems } from "./front-matter.js";

/** What determines which context files below the working directory a path reaches. */
export interface NestedFileSource {
	cwd: string;
	home: string;
	/** Paths of the context files that the session has from its start. */
	loaded: readonly string[];
	/** Reads the files. Default: from this machine. */
	readBytes?: ReadBytes;
}

/** Directories of other projects and of version control. */
const IGNORED = new Set(["node_modules", ".git"]);

/**
 * Reads the context files that apply to the given paths and are not loaded at the start: those in each directory of the
 * project from its root down to a path, except the working directory and its parents. Links are resolved: a path or a
 * context file outside the project, or in `node_modules` or `.git`, does not count. Empty files are omitted. Never throws.
 * @param paths absolute; files or directories that may not exist
 * @returns `files`: each once, parent directories first
 */
export async function findNestedContextFiles(
	paths: readonly string[],
	source: NestedFileSource,
): Promise<{ files: ContextFile[]; warnings: string[] }> {
	const problems: ResourceProblems = { warnings: [], broken: new Set() };
	const root = projectRoot(source);
	const realRoot = realPath(root);
	const directories = new Set(paths.flatMap((path) => nestedDirectories(path, realRoot, realPath(source.cwd))));
	const seen = new Set(source.loaded.map(realPath));
	const files: ContextFile[] = [];
	for (const directory of directories) {
		const file = await readFirst(join(root, directory), problems, source.readBytes);
		if (!file || file.content.trim() === "" || seen.has(file.realPath)) continue;
		seen.add(file.realPath);
		const inside = segmentsInside(realRoot, file.realPath);
		if (inside === null || inside.some((name) => IGNORED.has(name))) {
			problems.warnings.push(`${file.path}: ignored, because it is a link to a file outside the project`);
		} else files.push({ path: file.path, content: file.content });
	}
	return { files, warnings: problems.warnings };
}

/** Directories from the root to a path, relative to the root, without `cwd` and its parents. */
function nestedDirectories(path: string, root: string, cwd: string): string[] {
	const segments = segmentsInside(root, directoryOf(path));
	if (segments === null || segments.some((name) => IGNORED.has(name))) return [];
	const inside = segments.map((_, at) => segments.slice(0, at + 1).join(sep));
	return inside.filter((directory) => segmentsInside(join(root, directory), cwd) === null);
}

/** The names on the way from a directory to a path inside it; null for a path outside. */
function segmentsInside(directory: string, path: string): string[] | null {
	const inside = relative(directory, path);
	if (isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`)) return null;
	return inside === "" ? [] : inside.split(sep);
}

/** The directory that a path names, or the one that contains it, links resolved; the nearest one that exists. */
function directoryOf(path: string): string {
	for (let at = resolve(path); ; at = dirname(at)) {
		try {
			const real = realpathSync(at);
			return statSync(real).isDirectory() ? real : dirname(real);
		} catch {
			if (at === dirname(at)) return at;
		}
	}
}

/** A path that no longer exists is unchanged: nothing is inside it. */
function realPath(path: string): string {
	return realPathOrNull(path) ?? path;
}
