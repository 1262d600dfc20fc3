import type { BashExecutionMessage } from "../log/entry.js";
import type { AnyTool, BashToolDetails, ToolResult } from "../tools/tool.js";

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
