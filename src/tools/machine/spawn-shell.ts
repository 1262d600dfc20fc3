import { existsSync } from "node:fs";
import { basename } from "node:path";
import { type ProcessResult, type SpawnGroupOptions, spawnGroup } from "../../util/process.js";
import { ANNOUNCE_GROUP } from "../../util/reaper.js";

/** Linux rejects longer arguments. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1024;
const BASH_PATHS = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
const POSIX_SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);
/** Joins stdout and stderr in the shell, because two pipes would lose the order of the output. */
const PREAMBLE = `${ANNOUNCE_GROUP}exec 2>&1; `;

/** Options of `spawnShell`. */
export interface SpawnShellOptions
	extends Pick<SpawnGroupOptions, "env" | "stdin" | "signal" | "timeoutMs" | "waitsForGroup"> {
	cwd: string;
	/** Runs with `-c command`. Absent: bash, or sh if bash is missing. */
	shellPath?: string;
	/** Receives the combined output. A returned promise pauses it until the promise settles. */
	onOutput(chunk: Buffer): Promise<void> | undefined;
}

/** Runs a command line in the user's shell, by default with empty stdin. Never rejects because of the command. */
export function spawnShell(command: string, options: SpawnShellOptions): Promise<ProcessResult> {
	const rejection = rejectCommand(command);
	if (rejection !== undefined) return Promise.resolve(rejection);
	const shell = options.shellPath ?? BASH_PATHS.find((path) => existsSync(path)) ?? "sh";
	const isPosix = POSIX_SHELLS.has(basename(shell));
	return spawnGroup(shell, ["-c", isPosix ? PREAMBLE + command : command], {
		...options,
		announcesItself: isPosix,
		// On a syntax error the preamble does not run, so the message, which quotes it, arrives on stderr.
		onOutput: (chunk, stream) => options.onOutput(isPosix && stream === "stderr" ? withoutPreamble(chunk) : chunk),
	});
}

/** The result of a command that no shell accepts. */
export function rejectCommand(command: string): ProcessResult | undefined {
	const failure = command.includes("\0")
		? "The command contains a NUL character, which shells do not accept"
		: Buffer.byteLength(command) > MAX_COMMAND_BYTES
			? "The command exceeds the system's limit of 127 KB: write it to a file and run that"
			: undefined;
	if (failure === undefined) return undefined;
	return { exitCode: 126, exitSignal: null, endedBy: "itself", leftRunning: false, durationMs: 0, failure };
}

function withoutPreamble(chunk: Buffer): Buffer {
	return chunk.includes(PREAMBLE) ? Buffer.from(chunk.toString("latin1").replace(PREAMBLE, ""), "latin1") : chunk;
}
