import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Cache of compiled project files across runs, by path and checksum. */
export const COMPILED = join(ROOT, "node_modules", ".cache", "pi-tests", "jiti");

/** Whether a file belongs to the project. Files of a test have a different path in each run. */
export function isOfProject(path: string): boolean {
	return path.startsWith(ROOT);
}

/** Creates an empty directory and removes it at the end of the test. @returns its real path */
export function tempDir(prefix = "pi-test-"): string {
	const dir = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
	onTestFinished(() => removeDir(dir));
	return dir;
}

/** Removes a directory, also one in which a process that is being killed still creates files: Node lists each directory only once. */
function removeDir(dir: string): void {
	for (let attempt = 1; ; attempt++) {
		try {
			rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
			return;
		} catch (error) {
			if (attempt === 5 || (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
		}
	}
}

/** Writes files into a directory, with missing folders: relative path → text, or a value to write as JSON. */
export function writeFiles(dir: string, files: Record<string, unknown>): void {
	for (const [path, content] of Object.entries(files)) {
		const target = join(dir, path);
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, typeof content === "string" ? content : `${JSON.stringify(content, null, "\t")}\n`);
	}
}

/** Content of an agent directory. */
export interface AgentDirContent {
	settings?: unknown;
	/** Content of models.json, such as `provider.modelsJson()`. */
	models?: unknown;
	auth?: unknown;
	/** Hook files by name: `"pop.ts": source`. */
	hooks?: Record<string, string>;
	/** Other files by relative path. */
	files?: Record<string, unknown>;
}

/** Creates an agent directory (mode 0700) for `PI_CODING_AGENT_DIR` and removes it at the end of the test. */
export function tempAgentDir(content: AgentDirContent = {}): string {
	const dir = tempDir("pi-agent-");
	if (content.settings !== undefined) writeFiles(dir, { "settings.json": content.settings });
	if (content.models !== undefined) writeFiles(dir, { "models.json": content.models });
	if (content.auth !== undefined) {
		writeFileSync(join(dir, "auth.json"), JSON.stringify(content.auth), { mode: 0o600 });
	}
	for (const [name, source] of Object.entries(content.hooks ?? {})) writeHook(join(dir, "hooks"), name, source);
	writeFiles(dir, content.files ?? {});
	return dir;
}

/** Makes this agent directory use the cache in `COMPILED`, for tests whose hooks are files of the project. */
export function shareCompiled(agentDir: string): void {
	mkdirSync(COMPILED, { recursive: true });
	mkdirSync(join(agentDir, "cache"));
	symlinkSync(COMPILED, join(agentDir, "cache", "jiti"));
}

/**
 * Writes a hook file into a hooks directory, which is created if missing.
 * @returns the path of the file
 */
export function writeHook(hooksDir: string, name: string, source: string): string {
	mkdirSync(hooksDir, { recursive: true });
	const path = join(hooksDir, name);
	writeFileSync(path, source);
	return path;
}
