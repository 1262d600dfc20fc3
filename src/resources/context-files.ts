import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeError } from "../errors.js";
import { isNotFound } from "../util/fs.js";
import { type ReadBytes, type ResourceProblems, readText } from "./front-matter.js";

/** A file of the user or a project with instructions for the model. */
export interface ContextFile {
	/** Absolute. */
	path: string;
	content: string;
}

/** Directories that determine where context files are searched. */
export interface ContextFileSource {
	agentDir: string;
	cwd: string;
	home: string;
}

const NAMES = ["AGENTS.md", "CLAUDE.md"];

/**
 * Reads `AGENTS.md`, or else `CLAUDE.md`, in the agent directory and in each directory from the root of the repository
 * down to `cwd`, in that order. Outside a repository the search starts at the home directory if it contains `cwd`, else
 * at `cwd`. Each file is read once, empty files are omitted. Never throws: unreadable files cause warnings.
 */
export async function loadContextFiles(
	source: ContextFileSource,
): Promise<ResourceProblems & { files: ContextFile[] }> {
	const problems: ResourceProblems = { warnings: [], broken: new Set() };
	const found = await Promise.all(directories(source).map((dir) => readFirst(dir, problems)));
	const seen = new Set<string>();
	const files = found.flatMap((file) => {
		if (!file || file.content.trim() === "" || seen.has(file.realPath)) return [];
		seen.add(file.realPath);
		return [{ path: file.path, content: file.content }];
	});
	return { files, ...problems };
}

/**
 * The directory below which context files belong to the project: the root of the repository that contains `cwd`, else
 * `cwd`. A repository in the home directory, such as one of settings, counts only if pi runs in the home directory.
 */
export function projectRoot({ cwd, home }: Pick<ContextFileSource, "cwd" | "home">): string {
	const start = resolve(cwd);
	for (let dir = start; dir !== resolve(home) && dir !== dirname(dir); dir = dirname(dir)) {
		if (existsSync(join(dir, ".git"))) return dir;
	}
	return start;
}

function directories({ agentDir, cwd, home }: ContextFileSource): string[] {
	const chain: string[] = [];
	for (let dir = resolve(cwd); ; dir = dirname(dir)) {
		chain.unshift(dir);
		if (existsSync(join(dir, ".git")) || dir === resolve(home)) return [agentDir, ...chain];
		if (dir === dirname(dir)) return [agentDir, resolve(cwd)];
	}
}

/** Reads `AGENTS.md`, or else `CLAUDE.md`, in a directory; null if neither can be read. */
export async function readFirst(
	dir: string,
	{ warnings, broken }: ResourceProblems,
	readBytes?: ReadBytes,
): Promise<(ContextFile & { realPath: string }) | null> {
	for (const name of NAMES) {
		const path = join(dir, name);
		try {
			return { path, content: await readText(path, readBytes), realPath: realpathSync(path) };
		} catch (error) {
			if (isNotFound(error)) continue;
			broken.add(path);
			warnings.push(describeError(error));
		}
	}
	return null;
}
