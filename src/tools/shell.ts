import type { ProcessResult } from "../util/process.js";
import { throttle } from "../util/throttle.js";
import type { HostExecOptions, ToolHost } from "./machine/machine.js";
import type { Truncated } from "./output.js";
import { OutputRecorder, type RecordedOutput } from "./output-recorder.js";

/** Minimum time between two updates of growing output. */
const UPDATE_INTERVAL_MS = 100;

/** Options of `runShell`. */
export interface ShellOptions extends Pick<HostExecOptions, "shellPath" | "signal" | "timeoutMs"> {
	/** Directory on this machine for output that is too long for a result. */
	tmpDir: string;
	/** Returns the colors and styles of the output too. */
	withStyles?: boolean;
	/** Receives the end of the output while it grows: first at once, then about ten times per second. */
	onProgress?(output: Truncated): void;
}

/** The combined output of a shell command, and how it ended. */
export interface ShellResult extends ProcessResult {
	output: RecordedOutput;
}

/** A shell command that runs. */
export interface RunningShell {
	/** Resolves when it has ended. Never rejects because of the command. */
	readonly ended: Promise<ProcessResult>;
	/** The result, when it has ended. */
	result(): Promise<ShellResult>;
	/**
	 * Sends later output elsewhere, and reports no more progress.
	 * @returns the output so far, and its last bytes
	 */
	redirect(onOutput: (chunk: Buffer) => Promise<void>): { output: Promise<RecordedOutput>; last: Buffer };
}

/** Starts a command in the user's shell on a host, with empty stdin. */
export function startShell(host: ToolHost, command: string, options: ShellOptions): RunningShell {
	const recorder = new OutputRecorder(options.tmpDir, options.withStyles);
	const progress = throttle(() => options.onProgress?.(recorder.live()), UPDATE_INTERVAL_MS);
	let onOutput = (chunk: Buffer): Promise<void> | undefined => {
		const ready = recorder.add(chunk);
		progress.note();
		return ready;
	};
	const ended = host.exec(command, {
		...(options.shellPath === undefined ? {} : { shellPath: options.shellPath }),
		...(options.signal && { signal: options.signal }),
		...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
		onOutput: (chunk) => onOutput(chunk),
	});
	return {
		ended,
		async result() {
			const outcome = await ended;
			progress.stop();
			return { ...outcome, output: await recorder.finish() };
		},
		redirect(to) {
			onOutput = to;
			progress.stop();
			return { output: recorder.finish(), last: recorder.last() };
		},
	};
}

/** Runs a command in the user's shell on a host, with empty stdin. Never rejects because of the command. */
export function runShell(host: ToolHost, command: string, options: ShellOptions): Promise<ShellResult> {
	return startShell(host, command, options).result();
}
