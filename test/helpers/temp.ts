import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Where compiled files of the project are kept from run to run, by path and checksum. */
export const COMPILED = join(ROOT, "node_modules", ".cache", "pi-tests", "jiti");

/** Whether a file is one of the project: those of a test have another path each time. */
export function isOfProject(path: string): boolean {
	return path.startsWith(ROOT);
}

/** A new, empty directory, by its real path; gone when the test is over. */
export function tempDir(prefix = "pi-test-"): string {
	const dir = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
	onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
	return dir;
}

/** Writes files into a directory, creating folders on the way: relative path → text, or a value that becomes JSON. */
export function writeFiles(dir: string, files: Record<string, unknown>): void {
	for (const [path, content] of Object.entries(files)) {
		const target = join(dir, path);
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, typeof content === "string" ? content : `${JSON.stringify(content, null, "\t")}\n`);
	}
}

/** What an agent directory starts with. */
export interface AgentDirContent {
	settings?: unknown;
	/** Content of models.json, such as `provider.modelsJson()`. */
	models?: unknown;
	auth?: unknown;
	/** Hook files by name: `"pop.ts": source`. */
	hooks?: Record<string, string>;
	/** Anything else, by relative path. */
	files?: Record<string, unknown>;
}

/** An agent directory (mode 0700) for `PI_CODING_AGENT_DIR`; gone when the test is over. */
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

/** Keeps what is compiled for this agent directory in `COMPILED`: for tests whose hooks are files of the project. */
export function shareCompiled(agentDir: string): void {
	mkdirSync(COMPILED, { recursive: true });
	mkdirSync(join(agentDir, "cache"));
	symlinkSync(COMPILED, join(agentDir, "cache", "jiti"));
}

/**
 * Writes a hook file into a hooks directory, which is created when missing.
 * @returns the path of the file
 */
export function writeHook(hooksDir: string, name: string, source: string): string {
	mkdirSync(hooksDir, { recursive: true });
	const path = join(hooksDir, name);
	writeFileSync(path, source);
	return path;
}
