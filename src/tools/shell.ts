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
	/** Receives the end of the output while it grows: first at once, then about ten times per second. */
	onProgress?(output: Truncated): void;
}

/** The combined output of a shell command, and how it ended. */
export interface ShellResult extends ProcessResult {
	output: RecordedOutput;
}

/** Runs a command in the user's shell on a host, with empty stdin. Never rejects because of the command. */
export async function runShell(host: ToolHost, command: string, options: ShellOptions): Promise<ShellResult> {
	const recorder = new OutputRecorder(options.tmpDir);
	const progress = throttle(() => options.onProgress?.(recorder.live()), UPDATE_INTERVAL_MS);
	const outcome = await host.exec(command, {
		...(options.shellPath === undefined ? {} : { shellPath: options.shellPath }),
		...(options.signal && { signal: options.signal }),
		...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
		onOutput: (chunk) => {
			const ready = recorder.add(chunk);
			progress.note();
			return ready;
		},
	});
	progress.stop();
	return { ...outcome, output: await recorder.finish() };
}
