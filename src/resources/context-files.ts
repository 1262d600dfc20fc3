import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ProjectFiles, projectRoot, segmentsInside } from "../config/project-files.js";
import { describeError } from "../errors.js";
import { isNotFound, realPathOrNull } from "../util/fs.js";
import { projectReader, type ReadBytes, type ResourceProblems, readText } from "./front-matter.js";

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
 * at `cwd`. Each file is read once, empty files are omitted. Links in the agent directory and in the home directory may lead
 * anywhere, others only to a file of the project. Never throws: unreadable files cause warnings.
 * @param sandbox reads files that are not the user's; default: from this machine
 */
export async function loadContextFiles(
	source: ContextFileSource,
	sandbox?: ReadBytes,
): Promise<ResourceProblems & { files: ContextFile[] }> {
	const problems: ResourceProblems = { warnings: [], broken: new Set() };
	const seen = new Set<string>();
	const files: ContextFile[] = [];
	for (const dir of directories(source)) {
		const within = boundary(dir, source);
		const file = await readFirst(dir, problems, { seen, ...(within && { readBytes: projectReader(within, sandbox) }) });
		if (!file || file.content.trim() === "") continue;
		seen.add(file.realPath);
		files.push({ path: file.path, content: file.content });
	}
	return { files, ...problems };
}

/** Where the context file of a directory must be: the project, or above it the directory; null for a directory of the user. */
function boundary(dir: string, { agentDir, cwd, home }: ContextFileSource): ProjectFiles | null {
	const root = projectRoot({ cwd, home });
	if (dir === agentDir || (dir === resolve(home) && dir !== root)) return null;
	return new ProjectFiles(segmentsInside(root, dir) === null ? dir : root, agentDir);
}

function directories({ agentDir, cwd, home }: ContextFileSource): string[] {
	const chain: string[] = [];
	for (let dir = resolve(cwd); ; dir = dirname(dir)) {
		chain.unshift(dir);
		if (existsSync(join(dir, ".git")) || dir === resolve(home)) return [agentDir, ...chain];
		if (dir === dirname(dir)) return [agentDir, resolve(cwd)];
	}
}

/**
 * Reads `AGENTS.md`, or else `CLAUDE.md`, in a directory.
 * @param options `seen`: real paths of files that are not read again
 * @returns null if neither can be read, and if it was seen
 */
export async function readFirst(
	dir: string,
	{ warnings, broken }: ResourceProblems,
	{ readBytes, seen }: { readBytes?: ReadBytes; seen: ReadonlySet<string> },
): Promise<(ContextFile & { realPath: string }) | null> {
	for (const name of NAMES) {
		const path = join(dir, name);
		try {
			const realPath = realPathOrNull(path) ?? path;
			if (seen.has(realPath)) return null;
			return { path, content: await readText(path, readBytes), realPath };
		} catch (error) {
			if (isNotFound(error)) continue;
			broken.add(path);
			warnings.push(describeError(error));
		}
	}
	return null;
}
