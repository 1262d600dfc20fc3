import { linkSignals } from "../util/abort.js";
import type { ToolJobs } from "./background-jobs.js";
import { describeJobState, type JobStatus, shortCommand } from "./job-status.js";
import { announceCut } from "./output.js";
import { failed, textResult } from "./result.js";
import { defineTool, type JobsToolDetails, type ToolResult } from "./tool.js";

/** How long `wait` waits without a timeout. */
const DEFAULT_WAIT_MS = 60_000;
/** Maximum time that `wait` waits. */
const MAX_WAIT_MS = 600_000;

const ACTIONS = ["list", "read", "wait", "stop"] as const;

const parameters = {
	type: "object",
	properties: {
		// A plain enum: not every provider supports unions of constants.
		action: {
			type: "string",
			enum: ACTIONS,
			description:
				"list: all background commands; read: the output since the last read; wait: wait for the end, then read; stop: end the command and all processes it started, then read",
		},
		id: { type: "string", description: "The command, such as job-1. Not needed for list, or if there is only one" },
		timeoutMs: {
			type: "number",
			exclusiveMinimum: 0,
			maximum: MAX_WAIT_MS,
			description: `Maximum time to wait, in ms; default ${DEFAULT_WAIT_MS}. The command continues after it`,
		},
	},
	required: ["action"],
} as const;

/** Follows and ends the background commands that `bash` starts. */
export const jobsTool = defineTool<typeof parameters, JobsToolDetails>({
	name: "jobs",
	description:
		"List, read, wait for and stop the commands that bash started with background: true. The output of a read is cut like that of bash; a file has all of it, up to the last 10 MB.",
	parameters,
	promptLine: "follow and stop background commands",
	async run({ action, id, timeoutMs = DEFAULT_WAIT_MS }, { jobs, signal }) {
		if (!jobs) return failed("Background commands are not available here.");
		const all = jobs.list();
		if (action === "list") return textResult([all.map(listLine).join("\n") || "There are no background commands."], {});
		const job = choose(all, id);
		if (!job) return failed(describeChoice(all, id));
		if (action === "wait") await waitFor(job, jobs, timeoutMs, signal);
		if (action === "stop") await jobs.stop(job.id, "model");
		return readResult(job.id, jobs, action === "wait" && signal.aborted);
	},
});

/** A model may write `1` for `job-1`. */
function choose(jobs: readonly JobStatus[], id: string | undefined): JobStatus | undefined {
	if (id === undefined) return jobs.length === 1 ? jobs[0] : undefined;
	return jobs.find((job) => job.id === id || job.id === `job-${id}`);
}

function describeChoice(jobs: readonly JobStatus[], id: string | undefined): string {
	if (jobs.length === 0) return "There are no background commands: they end with their session.";
	const problem = id === undefined ? "The id is missing." : `There is no background command ${JSON.stringify(id)}.`;
	return [`${problem} The commands are:`, ...jobs.map(listLine)].join("\n");
}

function listLine(job: JobStatus): string {
	const lines = [`${job.id}: ${describeJobState(job)}: ${shortCommand(job.command)}`];
	if (job.lastLine !== "") lines.push(`  ${job.lastLine}`);
	return lines.join("\n");
}

async function waitFor(job: JobStatus, jobs: ToolJobs, timeoutMs: number, signal: AbortSignal): Promise<void> {
	const timeout = new AbortController();
	const timer = setTimeout(() => timeout.abort(), timeoutMs);
	const until = linkSignals(signal, timeout.signal);
	await jobs.wait(job.id, until.signal);
	until.unlink();
	clearTimeout(timer);
}

function readResult(id: string, jobs: ToolJobs, isAborted: boolean): ToolResult<JobsToolDetails> {
	const output = jobs.read(id);
	const job = jobs.find(id);
	if (!job || !output) return failed(`${id} ended with its session.`);
	const { truncation } = output;
	const file =
		job.outputPath === undefined
			? "The output could not be saved; print less, or redirect it to a file."
			: `Output: ${job.outputPath} (use grep, or read with offset).`;
	const state = `[${id}: ${describeJobState(job)}${isAborted ? "; the user stopped waiting for it" : ""}]`;
	return textResult(
		[output.text.trimEnd() || "(no new output)", truncation.truncated ? announceCut("last", output, file) : "", state],
		{ job: job.id, isRunning: job.isRunning, ...(truncation.truncated && { truncation }) },
	);
}
