import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { MessageEntry } from "../../src/log/entry.js";
import type { OpenFile } from "../../src/log/open-file.js";
import type { SessionLog } from "../../src/log/session-log.js";
import { COMPILED } from "../helpers/temp.js";

export const HEADER = '{"type":"session","version":1,"id":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/work"}\n';

export function tempDir(): string {
	const dir = mkdtempSync(join(tmpdir(), "pi-log-"));
	onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
	return dir;
}

/** Creates a file with these contents in its own directory. */
export function fileWith(contents: string | Uint8Array, name = "2026-01-02T03-04-05-000Z_s1.jsonl"): string {
	const path = join(tempDir(), name);
	writeFileSync(path, contents);
	return path;
}

/** A file in memory that returns at most `most` bytes per read. */
export function fileOf(contents: string | Uint8Array, most = Number.POSITIVE_INFINITY): Pick<OpenFile, "readSome"> {
	const bytes = Buffer.from(contents);
	return {
		readSome: (buffer, position) => bytes.copy(buffer, 0, position, Math.min(bytes.length, position + most)),
	};
}

/** Closes a log when the test ends. */
export function closing<T extends SessionLog>(log: T): T {
	onTestFinished(() => log.close());
	return log;
}

export function userMessage(text: string): MessageEntry {
	return {
		type: "message",
		timestamp: "2026-01-02T03:04:06.000Z",
		message: { role: "user", content: text, timestamp: 1 },
	};
}

export function pathOf(log: SessionLog): string {
	if (log.path === null) throw new Error("the log is in memory");
	return log.path;
}

export function textOf(log: SessionLog): string {
	return readFileSync(pathOf(log), "utf8");
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Starts a Node process that is killed when the test ends. In `script`, `load(name)` imports a file of src/log. */
export function startProcess(
	script: string,
	launcher: readonly string[] = [],
): { child: ChildProcess; nextLine: () => Promise<string | undefined> } {
	const source = JSON.stringify(join(ROOT, "src", "log"));
	const loader = `
		import { createJiti } from "jiti";
		const jiti = createJiti(${source}, { fsCache: ${JSON.stringify(COMPILED)} });
		const load = (name) => jiti.import(${source} + "/" + name);
	`;
	// A launcher may set limits that prevent writing files: what is compiled is written before.
	const loads = [...script.matchAll(/await load\([^)]*\)/g)].join(";");
	if (launcher.length > 0) execFileSync(process.execPath, ["--input-type=module", "-e", loader + loads], { cwd: ROOT });
	const module = loader + script;
	const [command = process.execPath, ...args] = [...launcher, process.execPath, "--input-type=module", "-e", module];
	const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], cwd: ROOT });
	onTestFinished(() => void child.kill("SIGKILL"));
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	return {
		child,
		nextLine: async () => {
			const { value, done } = await lines.next();
			return done ? undefined : value;
		},
	};
}
