import { constants } from "node:os";
import { PiError } from "../../errors.js";
import type { UserBashDecision } from "../../hooks/gates.js";
import type { UserBashResult } from "../../hooks/types.js";
import type { BashExecutionMessage } from "../../log/entry.js";
import type { ToolJobs } from "../../tools/background-jobs.js";
import { runShell, type ShellResult } from "../../tools/shell.js";
import type { SessionCore } from "../session-core.js";

/** Added to the number of the signal that ended a command, as shells do. */
const SIGNALED = 128;

/** Programs that draw on a terminal, and wait for its keys or fail without one. Not in a pipe, where they may be harmless. */
const DRAWS =
	/^(?:(?:sudo|command|exec)\s+)*((?:n?vim?|view|vimdiff|nano|pico|emacs|hx|micro|htop|btop|tmux|mc|tig|lazygit)(?=\s|$))[^|]*$/;

/** Runs the user's `!` commands, one at a time, and writes each as an entry: during a run, once that has ended. */
export class UserShell {
	constructor(
		private readonly deps: Pick<SessionCore, "store" | "machine" | "state" | "activity" | "emit" | "hooks">,
		private readonly jobs: Pick<ToolJobs, "run">,
	) {}

	/**
	 * Runs a command in the shell in which the model's commands run, even if the model has no bash tool. A command that cannot start becomes a message that
	 * says so. @returns the index of its entry
	 * @throws PiError `session_busy` while another command runs; `log_read_only`; `command_failed` when a hook blocks the command,
	 * or it needs a terminal
	 */
	async run(command: string, excludeFromContext: boolean): Promise<number> {
		const { state, activity, emit } = this.deps;
		state.log.checkWritable();
		const program = DRAWS.exec(command)?.[1];
		if (program !== undefined)
			throw new PiError("command_failed", `${program} needs a terminal, which commands in pi do not have`, {
				hint: "press ctrl+z to run it in your shell; fg returns to pi",
			});
		const operation = activity.begin("shell", { name: command });
		try {
			const decision = await this.#askHooks(command, excludeFromContext, operation.signal);
			if ("blocked" in decision) {
				throw new PiError("command_failed", `Hook ${decision.by} blocked the shell command: ${decision.blocked}`);
			}
			const excluded = excludeFromContext ? { excludeFromContext } : {};
			emit({ type: "bash_start", command: decision.command, ...excluded });
			const message =
				"result" in decision
					? resultMessage(decision.command, excludeFromContext, decision.result)
					: await this.#execute(decision.command, excludeFromContext, operation.signal);
			if (decision.command !== command) state.noteTyped(message, { typed: command });
			emit({ type: "bash_done", message });
			operation.enter("ending");
			// Inside a tool loop, a message between call and result would break the request: wait for the end of the run.
			await activity.until("run");
			const entryIndex = state.record(message);
			emit({ type: "bash_end", entryIndex });
			return entryIndex;
		} finally {
			operation.end();
		}
	}

	async #askHooks(command: string, excluded: boolean, signal: AbortSignal): Promise<UserBashDecision> {
		const hooks = this.deps.hooks();
		if (!hooks.registry.has("user_bash")) return { command };
		return hooks.gateUserBash({ type: "user_bash", command, excluded }, signal);
	}

	async #execute(command: string, excludeFromContext: boolean, signal: AbortSignal): Promise<BashExecutionMessage> {
		const { store, machine, emit } = this.deps;
		const { shellPath } = store.settings.current;
		const jobs = this.jobs;
		// The model would hear of the end of a command that it must not know.
		const run = excludeFromContext ? runShell : jobs.run.bind(jobs);
		const result = await run(machine.host, command, {
			tmpDir: store.tmpDir,
			signal,
			...(shellPath ? { shellPath } : {}),
			withStyles: true,
			onProgress: ({ text, styled }) =>
				emit({ type: "bash_update", output: text, ...(styled === undefined ? {} : { styled }) }),
		});
		const { output } = result;
		return {
			role: "bashExecution",
			command,
			...("job" in result
				? { output: output.text.trimEnd(), exitCode: null, cancelled: false, job: result.job.id }
				: ending(result, signal.aborted)),
			...(output.styled === undefined ? {} : { styled: output.styled.trimEnd() }),
			truncated: output.truncation.truncated,
			...(output.fullOutputPath === undefined ? {} : { fullOutputPath: output.fullOutputPath }),
			...(excludeFromContext ? { excludeFromContext: true } : {}),
			timestamp: Date.now(),
		};
	}
}

function ending(
	{ output, exitCode, exitSignal, failure }: ShellResult,
	cancelled: boolean,
): Pick<BashExecutionMessage, "output" | "exitCode" | "cancelled"> {
	const code = exitSignal === null ? exitCode : SIGNALED + constants.signals[exitSignal];
	return { output: output.text.trimEnd() || (failure ?? ""), exitCode: cancelled ? null : code, cancelled };
}

/** The message of a command that a hook ran. */
function resultMessage(
	command: string,
	excludeFromContext: boolean,
	{ output, exitCode = 0, cancelled = false, truncated = false }: UserBashResult,
): BashExecutionMessage {
	return {
		role: "bashExecution",
		command,
		output: output.trimEnd(),
		exitCode,
		cancelled,
		truncated,
		...(excludeFromContext ? { excludeFromContext: true } : {}),
		timestamp: Date.now(),
	};
}
