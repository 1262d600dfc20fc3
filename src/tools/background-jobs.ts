import { join } from "node:path";
import { onAbort } from "../util/abort.js";
import { monotonicMs } from "../util/clock.js";
import type { ProcessResult } from "../util/process.js";
import { JobOutput } from "./job-output.js";
import { type JobStatus, type JobStopper, MAX_RUNNING_JOBS } from "./job-status.js";
import type { HostExecOptions, ToolHost } from "./machine/machine.js";
import type { Truncated } from "./output.js";
import type { RecordedOutput } from "./output-recorder.js";
import { type RunningShell, type ShellOptions, type ShellResult, startShell } from "./shell.js";

/** Number of ended commands that are still listed. */
const MAX_ENDED_JOBS = 16;

/** Options of `BackgroundJobs.start`. */
export interface StartJobOptions extends Pick<HostExecOptions, "shellPath" | "timeoutMs"> {
	/** The machine on which it runs, in its working directory. */
	host: ToolHost;
	/** Directory of the file with the output. */
	tmpDir: string;
}

/** A command that the user moved to the background while a call waited for it, and its output until then. */
export interface MovedCommand {
	job: JobStatus;
	output: RecordedOutput;
	/** Until it was moved. */
	durationMs: number;
}

/** The background commands of a session, as tools use them. */
export interface ToolJobs {
	/** Runs a command until it ends, or the user moves it to the background. Then `signal` no longer ends it. */
	run(host: ToolHost, command: string, options: ShellOptions): Promise<ShellResult | MovedCommand>;
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
	/** Move the commands that are waited for to the background, oldest first. */
	readonly #waitedFor = new Set<() => JobStatus | null>();

	/** @param onChange called when a command has started or ended, once for each */
	constructor(private readonly onChange: (job: JobStatus, lastLines: string[]) => void) {}

	start(command: string, options: StartJobOptions): JobStatus | null {
		const { host, tmpDir, ...rest } = options;
		return this.#add(command, tmpDir, monotonicMs(), (signal, onOutput) =>
			host.exec(command, { ...rest, signal, waitsForGroup: true, onOutput }),
		);
	}

	async run(host: ToolHost, command: string, options: ShellOptions): Promise<ShellResult | MovedCommand> {
		const startedAt = monotonicMs();
		const abort = new AbortController();
		const unlink = options.signal ? onAbort(options.signal, () => abort.abort()) : () => {};
		const shell = startShell(host, command, { ...options, signal: abort.signal });
		let move = (): JobStatus | null => null;
		const moved = new Promise<MovedCommand>((resolve) => {
			move = () => {
				let output: Promise<RecordedOutput> | undefined;
				const job = this.#add(command, options.tmpDir, startedAt, (signal, onOutput) => {
					unlink();
					onAbort(signal, () => abort.abort());
					output = adopt(shell, onOutput);
					return shell.ended;
				});
				if (!job || !output) return null;
				this.#waitedFor.delete(move);
				// The call returns what it has printed so far: `read` returns what follows.
				this.#find(job.id)?.output.take(true);
				const durationMs = Math.round(monotonicMs() - startedAt);
				void output.then((text) => resolve({ job, output: text, durationMs }));
				return job;
			};
		});
		this.#waitedFor.add(move);
		const ended = shell.ended.then(() => this.#waitedFor.delete(move));
		const isMoved = await Promise.race([ended.then(() => false), moved.then(() => true)]);
		if (isMoved) return moved;
		unlink();
		return shell.result();
	}

	/** Moves the commands that calls wait for to the background, as many as may run there. @returns null if there are none */
	move(): JobStatus[] | null {
		if (this.#waitedFor.size === 0) return null;
		return [...this.#waitedFor].map((move) => move()).filter((job) => job !== null);
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

	/** @returns null when as many commands run as may */
	#add(command: string, tmpDir: string, startedAt: number, run: RunJob): JobStatus | null {
		if (this.#jobs.filter(({ isRunning }) => isRunning).length >= MAX_RUNNING_JOBS) return null;
		const ended = this.#jobs.filter(({ isRunning }) => !isRunning);
		const dropped = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED_JOBS)));
		this.#jobs = this.#jobs.filter((job) => !dropped.has(job));
		this.#started += 1;
		const job = new Job(`job-${this.#started}`, command, { tmpDir, startedAt, run }, () => this.#changed(job));
		this.#jobs.push(job);
		this.#changed(job);
		return job.status();
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

/** Starts, or continues, a command. */
type RunJob = (signal: AbortSignal, onOutput: (chunk: Buffer) => Promise<void>) => Promise<ProcessResult>;

/** Continues a command whose output goes to `onOutput` from now on, after what it printed last. */
function adopt(shell: RunningShell, onOutput: (chunk: Buffer) => Promise<void>): Promise<RecordedOutput> {
	const { output, last } = shell.redirect(onOutput);
	void onOutput(last);
	return output;
}

class Job {
	readonly output: JobOutput;
	/** Resolves when the command has ended and its output is complete. */
	readonly ended: Promise<void>;
	readonly #abort = new AbortController();
	readonly #startedAt: number;
	#stopper: JobStopper | undefined;
	#result: Partial<ProcessResult> | undefined;

	constructor(
		readonly id: string,
		private readonly command: string,
		{ tmpDir, startedAt, run }: { tmpDir: string; startedAt: number; run: RunJob },
		private readonly onEnd: () => void,
	) {
		this.#startedAt = startedAt;
		// The global: an import would load all of node:crypto before the first paint.
		this.output = new JobOutput(tmpDir, join(tmpDir, `${id}-${crypto.randomUUID().slice(0, 13)}.log`));
		this.ended = run(this.#abort.signal, (chunk) => this.output.add(chunk)).then(async (result) => {
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
