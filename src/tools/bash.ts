import type { MovedCommand } from "./background-jobs.js";
import { countJobs, MAX_RUNNING_JOBS } from "./job-status.js";
import { announceCut } from "./output.js";
import type { RecordedOutput } from "./output-recorder.js";
import { failed, textResult } from "./result.js";
import { runShell, type ShellResult } from "./shell.js";
import { type BashToolDetails, defineTool, type ToolContext, type ToolResult } from "./tool.js";

const parameters = {
	type: "object",
	properties: {
		command: {
			type: "string",
			description:
				"Command line for the user's shell, run in the working directory. Stdin is empty, so the command cannot ask for input. Each call starts a new shell, so cd and variables do not persist.",
		},
		timeout: {
			type: "number",
			exclusiveMinimum: 0,
			description: "Seconds after which the command and all processes it started are killed; default: no limit",
		},
		background: {
			type: "boolean",
			description:
				"Start the command and return at once. Follow it with the tool jobs; a note tells you when it ends. It ends with the session.",
		},
	},
	required: ["command"],
} as const;

export const bashTool = defineTool<typeof parameters, BashToolDetails>({
	name: "bash",
	description:
		"Run a shell command and return its output, stdout and stderr combined. Only the last 2000 lines or 50 KB are returned; longer output is saved completely in a file that the result names.",
	parameters,
	promptLine: "run a shell command: tests, builds, git, anything without a tool of its own",
	guidelines: [
		"bash: prefer the tools read, grep, find, ls, edit and write to cat, grep, find, ls, sed and echo. Give a timeout to commands that may hang; start servers, watchers and other commands that keep running with background: true.",
	],
	async run({ command, timeout, background }, context) {
		if (background) return startInBackground(command, timeout, context);
		const { host, signal, shellPath, tmpDir, jobs, onUpdate } = context;
		const run = jobs ? jobs.run.bind(jobs) : runShell;
		const result = await run(host, command, {
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
		return "job" in result ? movedResult(result) : bashResult(result, timeout);
	},
});

function startInBackground(
	command: string,
	timeout: number | undefined,
	{ jobs, host, shellPath, tmpDir }: ToolContext,
): ToolResult<BashToolDetails> {
	if (!jobs) return failed("Background commands are not available here: run the command without background.");
	const job = jobs.start(command, {
		host,
		tmpDir,
		...(shellPath === undefined ? {} : { shellPath }),
		...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
	});
	if (!job) {
		const count = countJobs(MAX_RUNNING_JOBS);
		return failed(`${count} are running, which is the maximum: end one with the tool jobs, action stop.`);
	}
	const file = job.outputPath === undefined ? "" : ` Its output is also in ${job.outputPath}.`;
	const text = `Started in the background as ${job.id}. The tool jobs reads its output, waits for it and stops it.${file}`;
	return textResult([text], { job: job.id });
}

function bashResult(result: ShellResult, timeout: number | undefined): ToolResult<BashToolDetails> {
	const { output, exitCode, endedBy, durationMs } = result;
	const { truncated } = output.truncation;
	const cause = endedBy === "itself" ? result.exitSignal : endedBy;
	const problem = describeFailure(result, timeout);
	const paragraphs = [
		output.text.trimEnd() || (result.failure === undefined ? "(no output)" : ""),
		describeCut(output),
		problem ?? "",
		result.leftRunning ? "[Background processes may still be running; pi ends them when it exits.]" : "",
	];
	const details: BashToolDetails = {
		exitCode: endedBy === "itself" ? exitCode : null,
		durationMs,
		...(cause !== null && { endedBy: cause }),
		...(truncated && { truncation: output.truncation }),
		...(output.fullOutputPath !== undefined && { fullOutputPath: output.fullOutputPath }),
	};
	return { ...textResult(paragraphs, details), ...(problem !== undefined && { isError: true }) };
}

/** What a command printed before the user moved it to the background. */
function movedResult({ job, output, durationMs }: MovedCommand): ToolResult<BashToolDetails> {
	const { truncated } = output.truncation;
	const file = job.outputPath === undefined ? "" : ` Its output is also in ${job.outputPath}.`;
	const text = `The user moved this command to the background as ${job.id}, where it still runs. Continue without its end, or use the tool jobs, which reads its further output, waits for it and stops it.${file}`;
	const details: BashToolDetails = {
		durationMs,
		job: job.id,
		moved: true,
		...(truncated && { truncation: output.truncation }),
		...(output.fullOutputPath !== undefined && { fullOutputPath: output.fullOutputPath }),
	};
	return textResult([output.text.trimEnd() || "(no output yet)", describeCut(output), text], details);
}

function describeCut(output: RecordedOutput): string {
	return output.truncation.truncated ? announceCut("last", output, describeFile(output)) : "";
}

/** undefined for a command that exited with code 0. */
function describeFailure(result: ShellResult, timeout?: number): string | undefined {
	const { endedBy, failure, exitCode, exitSignal } = result;
	if (endedBy === "abort") return "Aborted by the user; the command and all processes it started were killed.";
	if (endedBy === "timeout") {
		return `Timed out after ${timeout} s; the command and all processes it started were killed. Use a larger timeout if it needs more time.`;
	}
	if (failure !== undefined) return failure;
	if (exitSignal !== null) return `Ended by signal ${exitSignal}.`;
	return exitCode === 0 ? undefined : `exit code ${exitCode}`;
}

function describeFile({ fullOutputPath }: RecordedOutput): string {
	if (fullOutputPath === undefined) return "The full output could not be saved; print less, or redirect it to a file.";
	return `Full output: ${fullOutputPath} (use grep, or read with offset).`;
}
