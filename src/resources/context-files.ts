import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeError } from "../errors.js";
import { isNotFound, readRegularFile } from "../util/fs.js";

/** Instructions for the model that the user or a project keeps in a file. */
export interface ContextFile {
	/** Absolute. */
	path: string;
	content: string;
}

/** Where context files are looked for. */
export interface ContextFileSource {
	agentDir: string;
	cwd: string;
	home: string;
}

const NAMES = ["AGENTS.md", "CLAUDE.md"];
const MAX_BYTES = 1024 * 1024;

/**
 * Reads `AGENTS.md`, else `CLAUDE.md`, of the agent directory and of each directory from the root of the repository
 * (without one: the home directory, if it lies above; else only `cwd`) down to `cwd`. In that order, each file once,
 * empty ones left out. Never throws: a file that cannot be read is named in a warning.
 */
export async function loadContextFiles(
	source: ContextFileSource,
): Promise<{ files: ContextFile[]; warnings: string[] }> {
	const warnings: string[] = [];
	const found = await Promise.all(directories(source).map((dir) => readFirst(dir, warnings)));
	const seen = new Set<string>();
	const files = found.flatMap((file) => {
		if (!file || file.content.trim() === "" || seen.has(file.realPath)) return [];
		seen.add(file.realPath);
		return [{ path: file.path, content: file.content }];
	});
	return { files, warnings };
}

function directories({ agentDir, cwd, home }: ContextFileSource): string[] {
	const chain: string[] = [];
	for (let dir = resolve(cwd); ; dir = dirname(dir)) {
		chain.unshift(dir);
		if (existsSync(join(dir, ".git")) || dir === resolve(home)) return [agentDir, ...chain];
		if (dir === dirname(dir)) return [agentDir, resolve(cwd)];
	}
}

async function readFirst(dir: string, warnings: string[]): Promise<(ContextFile & { realPath: string }) | null> {
	for (const name of NAMES) {
		const path = join(dir, name);
		try {
			const bytes = await readRegularFile(path, { maxBytes: MAX_BYTES });
			const content = bytes
				.toString("utf8")
				.replace(/^\ufeff/, "")
				.replace(/\r\n/g, "\n");
			return { path, realPath: realpathSync(path), content };
		} catch (error) {
			if (!isNotFound(error)) warnings.push(describeError(error));
		}
	}
	return null;
}
