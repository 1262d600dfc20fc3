import { Type } from "typebox";
import { MAX_READ_BYTES } from "../util/fs.js";
import { announceCut, formatBytes } from "./output.js";
import { runShell, type ShellResult } from "./shell.js";
import { type BashToolDetails, defineTool, type ToolResult } from "./tool.js";

const parameters = Type.Object({
	command: Type.String({
		description:
			"Command line for the user's shell, run in the working directory. Stdin is empty: nothing can be typed or confirmed. Each call starts a new shell, so cd and variables do not last.",
	}),
	timeout: Type.Optional(
		Type.Number({
			exclusiveMinimum: 0,
			description: "Seconds after which the command and all it started are ended. Without it there is no limit.",
		}),
	),
});

export const bashTool = defineTool<typeof parameters, BashToolDetails>({
	name: "bash",
	description:
		"Run a shell command and return what it prints, stdout and stderr together. Only the last 2000 lines or 50 KB are returned; when output is longer, the whole of it is in a file that the result names.",
	parameters,
	promptLine: "run a shell command: tests, builds, git, anything without a tool of its own",
	guidelines: [
		"bash: prefer the tools read, grep, find, ls, edit and write to cat, grep, find, ls, sed and echo. Give a timeout to commands that may hang; start servers in the background with their output sent to a file.",
	],
	async run({ command, timeout }, { cwd, signal, shellPath, tmpDir, onUpdate }) {
		const result = await runShell(command, {
			cwd,
			shellPath,
			tmpDir,
			signal,
			timeoutMs: timeout === undefined ? undefined : timeout * 1000,
			onProgress: ({ text, truncation }) =>
				onUpdate?.({
					content: [{ type: "text", text }],
					details: { ...(truncation.truncated && { truncation }) } satisfies BashToolDetails,
				}),
		});
		return bashResult(result, timeout);
	},
});

function bashResult(result: ShellResult, timeout: number | undefined): ToolResult<BashToolDetails> {
	const { output, exitCode, endedBy, durationMs } = result;
	const { truncated } = output.truncation;
	const ender = endedBy === "itself" ? result.exitSignal : endedBy;
	const end = describeEnd(result, timeout);
	const parts = [
		output.text.trimEnd() || (result.failure === undefined ? "(no output)" : ""),
		truncated ? announceCut("last", output, describeFile(output)) : "",
		end ?? "",
		result.leftRunning ? "[Processes started in the background may still be running; they end when pi ends.]" : "",
	];
	return {
		content: [{ type: "text", text: parts.filter((part) => part !== "").join("\n\n") }],
		details: {
			exitCode: endedBy === "itself" ? exitCode : null,
			durationMs,
			...(ender !== null && { endedBy: ender }),
			...(truncated && { truncation: output.truncation }),
			...(output.fullOutputPath !== undefined && { fullOutputPath: output.fullOutputPath }),
		},
		...(end !== undefined && { isError: true }),
	};
}

/** undefined for a command that has ended by itself and well. */
function describeEnd({ endedBy, failure, exitCode, exitSignal }: ShellResult, timeout?: number): string | undefined {
	if (endedBy === "abort") return "Aborted by the user; the command and all it started were ended.";
	if (endedBy === "timeout") {
		return `Timed out after ${timeout} s; the command and all it started were ended. Give a larger timeout if it needs one.`;
	}
	if (failure !== undefined) return failure;
	if (exitSignal !== null) return `Ended by signal ${exitSignal}.`;
	return exitCode === 0 ? undefined : `exit code ${exitCode}`;
}

function describeFile({ fullOutputPath, truncation }: ShellResult["output"]): string {
	if (fullOutputPath === undefined) return "The whole output could not be kept; print less, or to a file.";
	if (truncation.totalBytes > MAX_READ_BYTES) {
		return `Whole output, ${formatBytes(truncation.totalBytes)}: ${fullOutputPath} (use grep, or sed -n with bash).`;
	}
	return `Whole output: ${fullOutputPath} (use grep, or read with offset).`;
}
