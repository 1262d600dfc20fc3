import type { BashExecutionMessage } from "../log/entry.js";
import type { AnyTool, BashToolDetails, ToolResult } from "../tools/tool.js";
import type { SessionActivity } from "./activity.js";
import type { AgentSessionEvent } from "./events.js";
import type { SessionSetup } from "./session-setup.js";
import type { SessionState } from "./session-state.js";

/** What running a shell command of the user needs. */
export interface UserBashOptions {
	/** The bash tool: the user's commands run as the model's do. */
	tool: AnyTool;
	cwd: string;
	tmpDir: string;
	shellPath?: string;
	excludeFromContext: boolean;
	signal: AbortSignal;
	onOutput(output: string): void;
}

/** What the user's shell commands are run with. */
export interface UserShellDeps {
	setup: SessionSetup;
	state: SessionState;
	activity: SessionActivity;
	emit(event: AgentSessionEvent): void;
}

/** Runs `!` commands, one at a time, and keeps each as an entry. */
export class UserShell {
	constructor(private readonly deps: UserShellDeps) {}

	/** @throws PiError `session_busy` while another command runs */
	async run(command: string, excludeFromContext: boolean): Promise<void> {
		const { setup, state, activity, emit } = this.deps;
		activity.check("shell");
		const operation = activity.begin("shell", { name: command });
		emit({ type: "bash_start", command });
		try {
			const message = await runUserBash(command, {
				tool: setup.bashTool,
				cwd: setup.cwd,
				tmpDir: setup.tmpDir,
				shellPath: setup.settings.current.shellPath,
				excludeFromContext,
				signal: operation.signal,
				onOutput: (output) => emit({ type: "bash_update", output }),
			});
			// Inside a tool loop a message between call and result would break the request: it waits for the run's end.
			await activity.until("run");
			emit({ type: "bash_end", entryIndex: state.record(message) });
		} finally {
			operation.end();
		}
	}
}

/** Runs a `!` command. Never throws: a command that cannot start is a message that says so. */
export async function runUserBash(command: string, options: UserBashOptions): Promise<BashExecutionMessage> {
	const { tool, cwd, tmpDir, shellPath, signal } = options;
	const result = await tool.run(
		{ command },
		{
			cwd,
			tmpDir,
			signal,
			toolCallId: "user",
			...(shellPath ? { shellPath } : {}),
			onUpdate: (partial) => options.onOutput(textOf(partial)),
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
		...(options.excludeFromContext ? { excludeFromContext: true } : {}),
		timestamp: Date.now(),
	};
}

function textOf(result: ToolResult): string {
	return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function isBashDetails(details: unknown): details is BashToolDetails {
	return typeof details === "object" && details !== null;
}
