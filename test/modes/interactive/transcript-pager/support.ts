import { join } from "node:path";
import { encodeEntry } from "../../../../src/log/codec.js";
import type { SessionEntry } from "../../../../src/log/entry.js";
import { assistant, header, result, user } from "../../../helpers/entries.js";
import { tempDir, writeFiles } from "../../../helpers/temp.js";
import { type App, type AppOptions, startApp } from "../app.js";

/** The entries of `count` turns: a prompt, a command with three lines of output, an answer. */
export function turns(count: number): SessionEntry[] {
	return Array.from({ length: count }, (_, turn) => [
		user(`question ${turn}`),
		assistant("", [{ id: `c${turn}`, name: "bash", arguments: { command: `echo ${turn}` } }]),
		result(`c${turn}`, `first ${turn}\nsecond ${turn}\nthird ${turn}`, "bash"),
		assistant(`answer ${turn}`),
	]).flat();
}

/** Writes a session file. @returns its path */
export function sessionFile(entries: readonly SessionEntry[]): string {
	const dir = tempDir("pi-session-");
	writeFiles(dir, { "session.jsonl": [header(), ...entries].map(encodeEntry).join("") });
	return join(dir, "session.jsonl");
}

/** Starts the app with a session of these entries. */
export async function startResumed(entries: readonly SessionEntry[], options: AppOptions = {}): Promise<App> {
	const app = await startApp({ session: { kind: "open", target: sessionFile(entries) }, ...options });
	await app.terminal.waitFor(/\d%/);
	return app;
}
