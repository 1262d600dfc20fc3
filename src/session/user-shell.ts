import { constants } from "node:os";
import type { BashExecutionMessage } from "../log/entry.js";
import { runShell } from "../tools/shell.js";
import type { SessionCore } from "./session-setup.js";

/** Added to the number of the signal that ended a command, as shells do. */
const SIGNALED = 128;

/** Runs the user's `!` commands, one at a time, and writes each as an entry. */
export class UserShell {
	constructor(private readonly deps: Pick<SessionCore, "setup" | "state" | "activity" | "emit">) {}

	/**
	 * Runs a command in the shell in which the model's commands run, even if the model has no bash tool. A command that cannot start becomes a message that
	 * says so.
	 * @throws PiError `session_busy` while another command runs
	 */
	async run(command: string, excludeFromContext: boolean): Promise<void> {
		const { state, activity, emit } = this.deps;
		activity.check("shell");
		const operation = activity.begin("shell", { name: command });
		emit({ type: "bash_start", command });
		try {
			const message = await this.#execute(command, excludeFromContext, operation.signal);
			// Inside a tool loop, a message between call and result would break the request: wait for the end of the run.
			await activity.until("run");
			emit({ type: "bash_end", entryIndex: state.record(message) });
		} finally {
			operation.end();
		}
	}

	async #execute(command: string, excludeFromContext: boolean, signal: AbortSignal): Promise<BashExecutionMessage> {
		const { setup, emit } = this.deps;
		const { shellPath } = setup.settings.current;
		const { output, exitCode, exitSignal, failure } = await runShell(command, {
			cwd: setup.cwd,
			tmpDir: setup.tmpDir,
			signal,
			...(shellPath ? { shellPath } : {}),
			onProgress: ({ text }) => emit({ type: "bash_update", output: text }),
		});
		return {
			role: "bashExecution",
			command,
			output: output.text.trimEnd() || (failure ?? ""),
			exitCode: exitSignal === null ? exitCode : SIGNALED + constants.signals[exitSignal],
			cancelled: signal.aborted,
			truncated: output.truncation.truncated,
			...(output.fullOutputPath === undefined ? {} : { fullOutputPath: output.fullOutputPath }),
			...(excludeFromContext ? { excludeFromContext: true } : {}),
			timestamp: Date.now(),
		};
	}
}
