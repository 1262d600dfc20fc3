import { statSync } from "node:fs";
import { agentDir, processEnvironment } from "../config/paths.js";
import { PiError } from "../errors.js";

/** @throws Error if another process has deleted the current directory */
export function requireWorkingDirectory(): void {
	try {
		process.cwd();
	} catch (cause) {
		throw new Error("the current directory no longer exists · change to another one", { cause });
	}
}

/** @throws PiError `bad_arguments` if the agent directory is a file; it need not exist */
export function requireAgentDirectory(): void {
	const dir = agentDir();
	if (!isOtherThanDirectory(dir)) return;
	throw new PiError("bad_arguments", `The agent directory ${dir} is not a directory`, {
		hint: processEnvironment().PI_CODING_AGENT_DIR
			? "set PI_CODING_AGENT_DIR to a directory, or unset it"
			: "move that file away, or set PI_CODING_AGENT_DIR to a directory",
	});
}

/** False for a path that does not exist or cannot be examined: pi then works without saving. */
function isOtherThanDirectory(path: string): boolean {
	try {
		return !statSync(path).isDirectory();
	} catch {
		return false;
	}
}
