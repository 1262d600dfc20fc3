import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { ProjectFiles, projectRoot, segmentsInside } from "../config/project-files.js";
import { realPathOrNull } from "../util/fs.js";
import { type ContextFile, readFirst } from "./context-files.js";
import { projectReader, type ReadBytes, type ResourceProblems } from "./front-matter.js";

/** What determines which context files below the working directory a path reaches. */
export interface NestedFileSource {
	cwd: string;
	home: string;
	/** Files in it are the user's. */
	agentDir?: string;
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
	const readBytes = projectReader(new ProjectFiles(root, source.agentDir), source.readBytes);
	for (const directory of directories) {
		const file = await readFirst(join(root, directory), problems, { readBytes, seen });
		if (!file || file.content.trim() === "") continue;
		seen.add(file.realPath);
		files.push({ path: file.path, content: file.content });
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
