import type { BashExecutionMessage } from "../log/entry.js";
import type { BashToolDetails, ToolResult } from "../tools/tool.js";
import type { SessionCore } from "./session-setup.js";

/** Runs the user's `!` commands, one at a time, and writes each as an entry. */
export class UserShell {
	constructor(private readonly deps: Pick<SessionCore, "setup" | "state" | "activity" | "emit">) {}

	/**
	 * Runs a command with the bash tool, as the model's commands run. A command that cannot start becomes a message that
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
		const result = await setup.bashTool.run(
			{ command },
			{
				cwd: setup.cwd,
				tmpDir: setup.tmpDir,
				signal,
				toolCallId: "user",
				...(shellPath ? { shellPath } : {}),
				onUpdate: (partial) => emit({ type: "bash_update", output: textOf(partial) }),
			},
		);
		const details = isBashDetails(result.details) ? result.details : {};
		return {
			role: "bashExecution",
			command,
			output: textOf(result),
			exitCode: details.exitCode ?? null,
			cancelled: signal.aborted,
			truncated: details.truncation?.truncated === true,
			...(details.fullOutputPath ? { fullOutputPath: details.fullOutputPath } : {}),
			...(excludeFromContext ? { excludeFromContext: true } : {}),
			timestamp: Date.now(),
		};
	}
}

function textOf(result: ToolResult): string {
	return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function isBashDetails(details: unknown): details is BashToolDetails {
	return typeof details === "object" && details !== null;
}
