import { formatDuration, plural } from "../util/format-amounts.js";

/** Maximum number of background commands that run at the same time. */
export const MAX_RUNNING_JOBS = 16;

/** Who stopped a background command: a call of the tool `jobs`, the user, or the end of the session. */
export type JobStopper = "model" | "user" | "session";

/** The state of a background command. */
export interface JobStatus {
	/** `job-1`, `job-2`, …: not used again while pi runs. */
	id: string;
	command: string;
	isRunning: boolean;
	/** So far, or in total. */
	durationMs: number;
	/** null while it runs, and if a signal ended it. */
	exitCode: number | null;
	/** Absent if it exited with a code, or still runs. */
	endedBy?: "timeout" | JobStopper | NodeJS.Signals;
	/** The reason why the command could not be started. */
	failure?: string;
	/** True if the command has ended and left processes that still run. `stop` ends them. */
	leftRunning?: boolean;
	/** The last line of its output that is not empty; empty for none. */
	lastLine: string;
	/** The file with its output, up to the last 10 MB; absent if it could not be written. */
	outputPath?: string;
}

/** `running for 12 s`, `exit code 1 after 3.0 s`, `stopped by the user after 3.0 s`. */
export function describeJobState(job: JobStatus): string {
	const { isRunning, durationMs, exitCode, endedBy, failure, leftRunning } = job;
	const time = formatDuration(durationMs);
	if (isRunning) return `running for ${time}`;
	if (failure !== undefined) return `not started: ${failure}`;
	const rest = leftRunning ? "; processes that it started still run" : "";
	if (endedBy === undefined) return `exit code ${exitCode} after ${time}${rest}`;
	return `${ENDINGS.get(endedBy) ?? `ended by signal ${endedBy}`} after ${time}${rest}`;
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
	["timeout", "timed out"],
	["model", "stopped"],
	["user", "stopped by the user"],
	["session", "ended with the session"],
]);

/** `2 background commands`. */
export function countJobs(jobs: number): string {
	return plural(jobs, "background command");
}

/** The start of a command in one line. */
export function shortCommand(command: string, maxLength = 100): string {
	const [first = "", ...others] = command.trim().split("\n");
	const isCut = first.length > maxLength || others.length > 0;
	return isCut ? `${first.slice(0, maxLength)}…` : first;
}
