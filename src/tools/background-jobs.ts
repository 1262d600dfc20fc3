import { join } from "node:path";
import { onAbort } from "../util/abort.js";
import { monotonicMs } from "../util/clock.js";
import { formatDuration, plural } from "../util/format-amounts.js";
import type { ProcessResult } from "../util/process.js";
import { JobOutput } from "./job-output.js";
import type { HostExecOptions, ToolHost } from "./machine/machine.js";
import type { Truncated } from "./output.js";

/** Maximum number of background commands that run at the same time. */
export const MAX_RUNNING_JOBS = 16;
/** Number of ended commands that are still listed. */
const MAX_ENDED_JOBS = 16;

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

/** Options of `BackgroundJobs.start`. */
export interface StartJobOptions extends Pick<HostExecOptions, "shellPath" | "timeoutMs"> {
	/** The machine on which it runs, in its working directory. */
	host: ToolHost;
	/** Directory of the file with the output. */
	tmpDir: string;
}

/** The background commands of a session, as tools use them. */
export interface ToolJobs {
	/** Starts a command. @returns null when as many commands run as may */
	start(command: string, options: StartJobOptions): JobStatus | null;
	/** All commands, oldest first. */
	list(): JobStatus[];
	/** @returns undefined for an unknown id */
	find(id: string): JobStatus | undefined;
	/** The output since the last call, cut to the limits of tools. */
	read(id: string): Truncated | undefined;
	/** Resolves when the command has ended, or `signal` aborts. */
	wait(id: string, signal: AbortSignal): Promise<void>;
	/**
	 * Ends a command with the processes of its group, also those that it left running. Resolves when the command has ended;
	 * processes left by a command that had ended before are not awaited.
	 */
	stop(id: string, by: JobStopper): Promise<void>;
}

/** Starts and ends background commands, and keeps their output. */
export class BackgroundJobs implements ToolJobs {
	#jobs: Job[] = [];
	#started = 0;

	/** @param onChange called when a command has started or ended, once for each */
	constructor(private readonly onChange: (job: JobStatus, lastLines: string[]) => void) {}

	start(command: string, options: StartJobOptions): JobStatus | null {
		if (this.#jobs.filter(({ isRunning }) => isRunning).length >= MAX_RUNNING_JOBS) return null;
		const ended = this.#jobs.filter(({ isRunning }) => !isRunning);
		const dropped = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED_JOBS)));
		this.#jobs = this.#jobs.filter((job) => !dropped.has(job));
		this.#started += 1;
		const job = new Job(`job-${this.#started}`, command, options, () => this.#changed(job));
		this.#jobs.push(job);
		this.#changed(job);
		return job.status();
	}

	list(): JobStatus[] {
		return this.#jobs.map((job) => job.status());
	}

	find(id: string): JobStatus | undefined {
		return this.#find(id)?.status();
	}

	read(id: string): Truncated | undefined {
		return this.#find(id)?.read();
	}

	/** The last lines of the output, read or not; empty for an unknown id. */
	lastLines(id: string, lines: number): string[] {
		return this.#find(id)?.output.lastLines(lines) ?? [];
	}

	async wait(id: string, signal: AbortSignal): Promise<void> {
		const job = this.#find(id);
		if (!job) return;
		await new Promise<void>((resolve) => {
			const release = onAbort(signal, resolve);
			void job.ended.then(() => {
				release();
				resolve();
			});
		});
	}

	async stop(id: string, by: JobStopper): Promise<void> {
		const job = this.#find(id);
		job?.stop(by);
		await job?.ended;
	}

	/**
	 * Ends all commands at once because the session ends, and forgets them. Their processes end within about a second.
	 * @returns the commands that were running
	 */
	endAll(): JobStatus[] {
		const jobs = this.#jobs;
		const running = jobs.filter(({ isRunning }) => isRunning);
		for (const job of jobs) job.stop("session");
		this.#jobs = [];
		return running.map((job) => job.status());
	}

	#changed(job: Job): void {
		this.onChange(job.status(), job.output.lastLines(LAST_LINES));
	}

	#find(id: string): Job | undefined {
		return this.#jobs.find((job) => job.id === id);
	}
}

/** Number of lines that a note about the end of a command shows. */
const LAST_LINES = 5;

class Job {
	readonly output: JobOutput;
	/** Resolves when the command has ended and its output is complete. */
	readonly ended: Promise<void>;
	readonly #abort = new AbortController();
	readonly #startedAt = monotonicMs();
	#stopper: JobStopper | undefined;
	#result: Partial<ProcessResult> | undefined;

	constructor(
		readonly id: string,
		private readonly command: string,
		{ host, tmpDir, ...options }: StartJobOptions,
		private readonly onEnd: () => void,
	) {
		// The global: an import would load all of node:crypto before the first paint.
		this.output = new JobOutput(tmpDir, join(tmpDir, `${id}-${crypto.randomUUID().slice(0, 13)}.log`));
		this.ended = host
			.exec(command, {
				...options,
				signal: this.#abort.signal,
				waitsForGroup: true,
				onOutput: (chunk) => this.output.add(chunk),
			})
			.then(async (result) => {
				await this.output.close();
				this.#finish(result);
			});
	}

	get isRunning(): boolean {
		return this.#result === undefined;
	}

	read(): Truncated {
		return this.output.take(this.isRunning);
	}

	/** Also ends processes that an ended command has left running. */
	stop(by: JobStopper): void {
		if (this.isRunning) this.#stopper = by;
		this.#abort.abort();
		// Nothing that happens after the end of the session belongs to it.
		if (by === "session") this.#finish({ endedBy: "abort" });
	}

	status(): JobStatus {
		const result = this.#result;
		const endedBy = result?.endedBy === "abort" ? this.#stopper : result?.endedBy === "timeout" ? "timeout" : undefined;
		const cause = endedBy ?? result?.exitSignal;
		const { path } = this.output;
		return {
			id: this.id,
			command: this.command,
			isRunning: this.isRunning,
			durationMs: result?.durationMs ?? Math.round(monotonicMs() - this.#startedAt),
			exitCode: endedBy === undefined ? (result?.exitCode ?? null) : null,
			...(cause ? { endedBy: cause } : {}),
			...(result?.failure === undefined ? {} : { failure: result.failure }),
			...(result?.leftRunning ? { leftRunning: true } : {}),
			lastLine: this.output.lastLines(1)[0] ?? "",
			...(path === undefined ? {} : { outputPath: path }),
		};
	}

	#finish(result: Partial<ProcessResult>): void {
		if (this.#result) return;
		this.#result = { ...result, durationMs: Math.round(monotonicMs() - this.#startedAt) };
		this.onEnd();
	}
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
