import { existsSync } from "node:fs";
import { basename } from "node:path";
import { type ProcessResult, spawnGroup } from "../util/process.js";
import { ANNOUNCE_GROUP } from "../util/reaper.js";
import type { Truncated } from "./output.js";
import { OutputRecorder, type RecordedOutput } from "./output-recorder.js";

/** Minimum time between two updates of growing output. */
const UPDATE_INTERVAL_MS = 100;
/** Linux rejects longer arguments. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1024;
const BASH_PATHS = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
const POSIX_SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);
/** Joins stdout and stderr in the shell, because two pipes would lose the order of the output. */
const PREAMBLE = `${ANNOUNCE_GROUP}exec 2>&1; `;

/** Options of `runShell`. */
export interface ShellOptions {
	cwd: string;
	/** Runs with `-c command`. Absent: bash, or sh if bash is missing. */
	shellPath?: string;
	/** Directory for output that is too long for a result. */
	tmpDir: string;
	signal?: AbortSignal;
	timeoutMs?: number;
	/** Receives the end of the output while it grows: first at once, then about ten times per second. */
	onProgress?(output: Truncated): void;
}

/** The combined output of a shell command, and how it ended. */
export interface ShellResult extends ProcessResult {
	output: RecordedOutput;
}

/** Runs a command in the user's shell, with empty stdin. Never rejects because of the command. */
export async function runShell(command: string, options: ShellOptions): Promise<ShellResult> {
	const shell = options.shellPath ?? BASH_PATHS.find((path) => existsSync(path)) ?? "sh";
	const recorder = new OutputRecorder(options.tmpDir);
	const rejection = reject(command);
	if (rejection !== undefined) return { ...rejection, output: await recorder.finish() };

	const isPosix = POSIX_SHELLS.has(basename(shell));
	const progress = createProgress(() => options.onProgress?.(recorder.live()));
	const outcome = await spawnGroup(shell, ["-c", isPosix ? PREAMBLE + command : command], {
		cwd: options.cwd,
		announcesItself: isPosix,
		signal: options.signal,
		timeoutMs: options.timeoutMs,
		onOutput: (chunk, stream) => {
			// On a syntax error the preamble does not run, so the message, which quotes it, arrives on stderr.
			const text = isPosix && stream === "stderr" ? withoutPreamble(chunk) : chunk;
			const ready = recorder.add(text);
			progress.note();
			return ready;
		},
	});
	progress.stop();
	return { ...outcome, output: await recorder.finish() };
}

function reject(command: string): ProcessResult | undefined {
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

/** Throttles `update`: the first note calls it at once, later ones together at intervals. */
function createProgress(update: () => void): { note(): void; stop(): void } {
	let timer: NodeJS.Timeout | undefined;
	let isPending = false;
	const tick = () => {
		timer = undefined;
		if (!isPending) return;
		isPending = false;
		timer = setTimeout(tick, UPDATE_INTERVAL_MS);
		update();
	};
	return {
		note() {
			isPending = true;
			if (timer === undefined) tick();
		},
		stop() {
			clearTimeout(timer);
			isPending = false;
		},
	};
}
