import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SCRATCH_FILES } from "./scratch-files.js";

/** A copy of the demo's broken project. */
export interface ScratchProject {
	/** Absolute real path. */
	dir: string;
	/** Removes it with everything in it. */
	remove(): Promise<void>;
}

/**
 * Creates a small project with a bug and a test that fails because of it, in a new private directory.
 * @param parentDir where to create it; default: the system's temporary directory
 */
export async function createScratchProject(parentDir: string = tmpdir()): Promise<ScratchProject> {
	const dir = await realpath(await mkdtemp(join(parentDir, "pi-demo-")));
	for (const [path, content] of Object.entries(SCRATCH_FILES)) {
		const target = join(dir, path);
		await mkdir(dirname(target), { recursive: true });
		await writeFile(target, content);
	}
	return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}
