import { existsSync } from "node:fs";
import { basename } from "node:path";
import { type ProcessResult, spawnGroup } from "../util/process.js";
import { ANNOUNCE_GROUP } from "../util/reaper.js";
import type { Truncated } from "./output.js";
import { OutputRecorder, type RecordedOutput } from "./output-recorder.js";

/** Least time between two views of growing output. */
const UPDATE_INTERVAL_MS = 100;
/** Linux takes no longer argument. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1024;
const POSIX_SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);
/** Two pipes would lose the order of what is printed; a shell can join them, at no cost, before it runs the command. */
const PREAMBLE = `${ANNOUNCE_GROUP}exec 2>&1; `;

/** How a shell command is run. */
export interface ShellOptions {
	cwd: string;
	/** Takes `-c command`. Absent: bash, else sh. */
	shellPath?: string;
	/** Where output goes that is too long for a model. */
	tmpDir: string;
	signal?: AbortSignal;
	timeoutMs?: number;
	/** Sees the end of the output while it grows: the first piece at once, then about ten times a second. */
	onProgress?(output: Truncated): void;
}

/** What a shell command printed, both streams in one, and how it ended. */
export interface ShellResult extends ProcessResult {
	output: RecordedOutput;
}

/** Runs a command in the user's shell, with an empty stdin. Never rejects because of what the command does. */
export async function runShell(command: string, options: ShellOptions): Promise<ShellResult> {
	const shell = options.shellPath ?? findShell();
	const recorder = new OutputRecorder(options.tmpDir);
	const refusal = refuse(command);
	if (refusal !== undefined) return { ...refusal, output: await recorder.finish() };

	const isPosix = POSIX_SHELLS.has(basename(shell));
	const progress = createProgress(() => options.onProgress?.(recorder.live()));
	const outcome = await spawnGroup(shell, ["-c", isPosix ? PREAMBLE + command : command], {
		cwd: options.cwd,
		announcesItself: isPosix,
		signal: options.signal,
		timeoutMs: options.timeoutMs,
		onOutput: (chunk, stream) => {
			// Of a command that is no valid shell the streams are never joined: the complaint about it arrives here.
			const text = isPosix && stream === "stderr" ? withoutPreamble(chunk) : chunk;
			const room = recorder.add(text);
			progress.note();
			return room;
		},
	});
	progress.stop();
	return { ...outcome, output: await recorder.finish() };
}

function findShell(): string {
	return ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) => existsSync(path)) ?? "sh";
}

function refuse(command: string): ProcessResult | undefined {
	const failure = command.includes("\0")
		? "The command contains a NUL character, which no shell takes"
		: Buffer.byteLength(command) > MAX_COMMAND_BYTES
			? "The command is longer than the 127 KB that the system takes: write it to a file and run that"
			: undefined;
	if (failure === undefined) return undefined;
	return { exitCode: 126, exitSignal: null, endedBy: "itself", leftRunning: false, durationMs: 0, failure };
}

function withoutPreamble(chunk: Buffer): Buffer {
	return chunk.includes(PREAMBLE) ? Buffer.from(chunk.toString("latin1").replace(PREAMBLE, ""), "latin1") : chunk;
}

/** Calls `update` for the first note at once and for later ones together, at intervals. */
function createProgress(update: () => void): { note(): void; stop(): void } {
	let timer: NodeJS.Timeout | undefined;
	let isNews = false;
	const tick = () => {
		timer = undefined;
		if (!isNews) return;
		isNews = false;
		timer = setTimeout(tick, UPDATE_INTERVAL_MS);
		update();
	};
	return {
		note() {
			isNews = true;
			if (timer === undefined) tick();
		},
		stop() {
			clearTimeout(timer);
			isNews = false;
		},
	};
}
