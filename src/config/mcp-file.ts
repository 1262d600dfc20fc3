import { dirname } from "node:path";
import { PiError } from "../errors.js";
import { withFileLock } from "../util/file-lock.js";
import { atomicWriteFile, ensurePrivateDir } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { type JsonObject, readJsonFile } from "./json-file.js";

/**
 * The servers that a file such as mcp.json defines, by name and as written; empty without the file.
 * @throws PiError `config_invalid` for a malformed file, `file_unreadable`
 */
export function readServers(path: string): JsonObject {
	const file = readJsonFile(path);
	const { mcpServers = {} } = file?.value ?? {};
	if (isRecord(mcpServers)) return mcpServers;
	throw new PiError("config_invalid", `${file?.locate(["mcpServers"])}: mcpServers must be an object`, {
		hint: "fix the file; until then it is not used",
	});
}

/**
 * Changes the servers of a file such as mcp.json under its lock. Everything else in the file is kept, and a malformed file is never
 * replaced. Values may be secret, so only the user can read the file then.
 * @param change returns the new servers; null leaves the file unchanged
 * @throws PiError as `readServers`, `config_write_failed`, or an error of `change`; otherwise the system's error
 */
export function changeServers(path: string, change: (servers: JsonObject) => JsonObject | null): Promise<void> {
	ensurePrivateDir(dirname(path));
	return withFileLock(path, async () => {
		const mcpServers = change(readServers(path));
		if (mcpServers === null) return;
		const changed = { ...readJsonFile(path)?.value, mcpServers };
		await atomicWriteFile(path, `${JSON.stringify(changed, null, 2)}\n`, { mode: 0o600 });
	});
}
