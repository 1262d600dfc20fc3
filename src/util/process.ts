import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { accessSync, existsSync, constants as fsConstants, statSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { errorText } from "../errors.js";
import { MAX_TIMER_MS, onAbort } from "./abort.js";
import { monotonicMs } from "./clock.js";
import { errnoCode } from "./fs.js";
import { ANNOUNCE_GROUP, prepareReaper, reaperPipe, trackedGroups, trackGroup, untrackGroup } from "./reaper.js";

/** Time between SIGTERM and SIGKILL. */
const KILL_DELAY_MS = 1000;
/** Maximum wait for output after the program has ended while another process holds its pipes. */
const LINGER_MS = 200;
/** Maximum output of background processes before pi closes their pipes. */
const MAX_LINGERING_BYTES = 64 * 1024 * 1024;
/** Maximum that `exec` keeps of each stream. */
const MAX_EXEC_BYTES = 10 * 1024 * 1024;

/** Options of `spawnGroup`. */
export interface SpawnGroupOptions {
	/** Defaults to the directory of this process. */
	cwd?: string;
	/** Added to the environment of this process. */
	env?: Readonly<Record<string, string>>;
	/** True: `env` is the complete environment. */
	onlyEnv?: boolean;
	/** Sent to the program. Default: stdin is empty. */
	stdin?: string | Uint8Array;
	/** Ends the process group. */
	signal?: AbortSignal;
	/** Ends the process group after this time, ms. */
	timeoutMs?: number;
	/** True if the program begins with `ANNOUNCE_GROUP`: then it ends with pi even if pi is killed while starting it. */
	announcesItself?: boolean;
	/** For all other programs: a shell registers the group and becomes the program, with the same effect. Takes 1 ms. */
	announcedByShell?: boolean;
	/**
	 * For background programs: resolves only when no process of the group holds the output pipes, and `signal` also ends
	 * processes that remain after that.
	 */
	waitsForGroup?: boolean;
	/**
	 * Receives the output in chunks of at most 64 KB, as bytes. A returned promise pauses that stream until it settles, also
	 * after the end of the program.
	 */
	onOutput?(chunk: Buffer, stream: "stdout" | "stderr"): Promise<void> | undefined;
}

/** How a program ended. */
export interface ProcessResult {
	/** null if a signal ended it, 127 if the command was not found, 126 if it could not be started. */
	exitCode: number | null;
	/** The signal that ended it. */
	exitSignal: NodeJS.Signals | null;
	/** The reason for its end: it exited, timed out or was aborted. */
	endedBy: "itself" | "timeout" | "abort";
	/** The reason why it could not be started. */
	failure?: string;
	/** True if it left background processes, as far as pi can detect. They end with pi. */
	leftRunning: boolean;
	durationMs: number;
}

/**
 * Runs a program without a shell, as the leader of its own process group. Abort and timeout end the
 * group: SIGTERM, then SIGKILL one second later for remaining processes. Processes that remain when pi ends are killed.
 * Never rejects. Resolves when the program has ended and its output is read, at most 200 ms after its end and any pause of
 * `onOutput`, even if a background process still holds the pipes.
 */
export function spawnGroup(
	command: string,
	args: readonly string[],
	options: SpawnGroupOptions = {},
): Promise<ProcessResult> {
	const startedAt = monotonicMs();
	const result = (fields: Partial<ProcessResult>): ProcessResult => ({
		exitCode: null,
		exitSignal: null,
		endedBy: "itself",
		leftRunning: false,
		durationMs: Math.round(monotonicMs() - startedAt),
		...fields,
	});
	if (options.signal?.aborted) return Promise.resolve(result({ endedBy: "abort" }));
	forgetEndedGroups();
	prepareReaper();

	const env = options.env ? { ...(options.onlyEnv ? {} : process.env), ...options.env } : process.env;
	const direct = { program: command, args: [...args], pipes: options.announcesItself ? announcements() : [] };
	const start = options.announcedByShell ? announcedStart(command, args, { cwd: options.cwd, env }) : direct;
	let child: ChildProcess;
	try {
		const stdin = options.stdin === undefined ? "ignore" : "pipe";
		const stdio: StdioOptions = [stdin, "pipe", "pipe", ...start.pipes];
		child = spawn(start.program, start.args, { cwd: options.cwd, env, detached: true, stdio });
	} catch (thrown) {
		return Promise.resolve(result({ exitCode: 126, failure: startFailure(command, options.cwd, thrown) }));
	}
	const group = child.pid;
	if (group === undefined) {
		return new Promise((resolve) => {
			child.once("error", (thrown) => {
				const exitCode = errnoCode(thrown) === "ENOENT" ? 127 : 126;
				resolve(result({ exitCode, failure: startFailure(command, options.cwd, thrown) }));
			});
		});
	}
	trackGroup(group);
	if (options.stdin !== undefined) {
		child.stdin?.on("error", () => {}); // the program need not read it
		child.stdin?.end(options.stdin);
	}

	return new Promise((resolve) => {
		let endedBy: ProcessResult["endedBy"] = "itself";
		let isResolved = false;
		let lingeringBytes = 0;
		let linger: NodeJS.Timeout | undefined;
		let isClosed = false;
		let pausedPipes = 0;

		const finish = () => {
			if (isResolved) return;
			if (options.waitsForGroup && !isClosed && endedBy === "itself" && isGroupAlive(group)) {
				linger = setTimeout(finish, LINGER_MS);
				return;
			}
			isResolved = true;
			clearTimeout(timeout);
			clearTimeout(linger);
			release();
			const leftAny = isGroupAlive(group);
			if (!leftAny) untrackGroup(group);
			const leftRunning = leftAny && endedBy === "itself";
			if (leftRunning && options.waitsForGroup && options.signal) {
				onAbort(options.signal, () => {
					if (trackedGroups().includes(group)) endGroup(group, () => {});
				});
			}
			// Remaining processes must not keep pi running.
			child.unref();
			for (const pipe of [child.stdout, child.stderr]) {
				if (pipe instanceof Socket) pipe.unref();
				pipe?.resume();
			}
			resolve(result({ exitCode: child.exitCode, exitSignal: child.signalCode, endedBy, leftRunning }));
		};
		const end = (by: "timeout" | "abort") => {
			if (endedBy !== "itself" || isResolved) return;
			endedBy = by;
			// A process stuck in the kernel survives even SIGKILL; do not wait for it.
			endGroup(group, () => setTimeout(finish, LINGER_MS));
		};
		const timeout =
			options.timeoutMs === undefined
				? undefined
				: setTimeout(() => end("timeout"), Math.min(options.timeoutMs, MAX_TIMER_MS));

		for (const stream of ["stdout", "stderr"] as const) {
			const pipe = child[stream];
			if (pipe === null) continue; // never the case: `stdio` requests both
			let isPaused = false;
			// When the program ends, Node resumes its pipes, including paused ones.
			pipe.on("resume", () => {
				if (isPaused && !isResolved) pipe.pause();
			});
			pipe.on("data", (chunk: Buffer) => {
				if (isResolved) {
					// A background process may print more: a write to a closed pipe would end it.
					lingeringBytes += chunk.length;
					if (lingeringBytes > MAX_LINGERING_BYTES) pipe.destroy();
					return;
				}
				const paused = options.onOutput?.(chunk, stream);
				if (paused === undefined) return;
				isPaused = true;
				pausedPipes += 1;
				pipe.pause();
				const resume = () => {
					isPaused = false;
					pausedPipes -= 1;
					pipe.resume();
				};
				paused.then(resume, resume);
			});
			pipe.on("error", () => {}); // a broken pipe counts as the end of the output
		}
		child.on("error", () => {}); // a signal could not be sent; pi signals the group separately
		child.once("exit", () => {
			if (!options.waitsForGroup) clearTimeout(timeout);
			const lingerOn = () => {
				// The event loop may have been busy: read the pipes once more before dropping their contents.
				linger = setTimeout(() => (pausedPipes > 0 ? lingerOn() : setImmediate(finish)), LINGER_MS);
			};
			lingerOn();
		});
		child.once("close", () => {
			isClosed = true;
			finish();
		});
		const release = options.signal ? onAbort(options.signal, () => end("abort")) : () => {};
	});
}

/** The output of a command, up to 10 MB of each stream. */
export interface ExecResult {
	stdout: string;
	stderr: string;
	/** Exit code; 127 if the command was not found, 126 if it could not be started, 128 + n if signal n ended it. */
	code: number;
	/** True if a timeout or an abort ended the command; `code` is then never 0. */
	killed?: boolean;
	/** True if a stream was longer than 10 MB and its end was dropped. */
	truncated?: boolean;
}

/** Options of `exec`. */
export interface ExecOptions {
	signal?: AbortSignal;
	/** ms; the process group is ended after it. Absent or 0: no limit. */
	timeout?: number;
	/** Defaults to the directory of this process. */
	cwd?: string;
	/** Added to the environment of this process. */
	env?: Record<string, string>;
	/** True: `env` is the complete environment. */
	onlyEnv?: boolean;
	/** Sent to the program, which reads end-of-file after it. Default: nothing. */
	stdin?: string;
}

/**
 * Runs a program without a shell and collects its output. Never rejects because of the program: failures are reported in
 * `code`, `killed` and, if the program could not be started, in `stderr`.
 */
export async function exec(
	command: string,
	args: readonly string[],
	{ signal, timeout, cwd, env, onlyEnv, stdin }: ExecOptions = {},
): Promise<ExecResult> {
	return collectOutput((onOutput) =>
		spawnGroup(command, args, {
			...{ signal, cwd, env, onlyEnv, stdin, onOutput },
			timeoutMs: timeout || undefined,
			announcedByShell: true,
		}),
	);
}

/** Collects the output of a program and describes its end as `exec` does. @param run passes each chunk on */
export async function collectOutput(
	run: (onOutput: (chunk: Buffer, stream: "stdout" | "stderr") => undefined) => Promise<ProcessResult>,
): Promise<ExecResult> {
	const kept = { stdout: new KeptOutput(MAX_EXEC_BYTES), stderr: new KeptOutput(MAX_EXEC_BYTES) };
	const result = await run((chunk, stream) => void kept[stream].add(chunk));
	const killed = result.endedBy !== "itself";
	const code = result.exitCode ?? 128 + constants.signals[result.exitSignal ?? "SIGTERM"];
	const stderr = kept.stderr.text();
	return {
		stdout: kept.stdout.text(),
		stderr: result.failure === undefined ? stderr : `${stderr}${result.failure}\n`,
		code: killed && code === 0 ? 128 + constants.signals.SIGTERM : code,
		...(killed && { killed }),
		...((kept.stdout.truncated || kept.stderr.truncated) && { truncated: true }),
	};
}

/** How to start a program that is registered with the reaper. */
export interface AnnouncedStart {
	program: string;
	args: string[];
	/** The descriptors after stdin, stdout and stderr. */
	pipes: Writable[];
}

/**
 * Starts a program through a shell that registers its process group with the reaper and becomes the program, so that it ends
 * with pi even if pi is killed while starting it. Takes 1 ms. Start it as the leader of a group, after `prepareReaper`.
 */
export function announcedStart(
	command: string,
	args: readonly string[],
	{ cwd, env }: { cwd?: string; env: NodeJS.ProcessEnv },
): AnnouncedStart {
	// What cannot be started fails without the shell, whose messages differ.
	if (!canStart(command, env.PATH, cwd)) return { program: command, args: [...args], pipes: [] };
	// The shell must not add variables to the program's environment.
	const added = ["PWD", "OLDPWD", "SHLVL"].filter((name) => !(name in env));
	const script = `${ANNOUNCE_GROUP}unset ${added.join(" ")} _; exec "$@"`;
	return { program: "/bin/sh", args: ["-c", script, "sh", command, ...args], pipes: announcements() };
}

function announcements(): Writable[] {
	const pipe = reaperPipe();
	return pipe ? [pipe] : [];
}

/** True if a command exists where the shell would find it, and may be run. */
function canStart(command: string, path = "", cwd = "."): boolean {
	if (!existsSync("/bin/sh")) return false;
	const places = command.includes("/") ? [command] : path.split(":").map((dir) => join(dir || ".", command));
	return places.some((place) => isExecutable(resolve(cwd, place)));
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, fsConstants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

/** The first bytes of a stream. */
class KeptOutput {
	readonly #chunks: Buffer[] = [];
	#bytes = 0;
	truncated = false;

	constructor(private readonly maxBytes: number) {}

	add(chunk: Buffer): undefined {
		const room = this.maxBytes - this.#bytes;
		if (chunk.length > room) this.truncated = true;
		if (room <= 0) return;
		this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
		this.#bytes += Math.min(chunk.length, room);
	}

	/** Decodes all bytes together, so that no character is split between chunks; omits one split by the limit. */
	text(): string {
		const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
		return decoder.decode(Buffer.concat(this.#chunks), { stream: this.truncated });
	}
}

/** Sends SIGTERM to a group; after a second kills remaining processes and calls `onKill`. */
export function endGroup(group: number, onKill: () => void): void {
	signalGroup(group, "SIGTERM");
	const timer = setTimeout(() => {
		if (isGroupAlive(group)) signalGroup(group, "SIGKILL");
		onKill();
	}, KILL_DELAY_MS);
	// If pi ends first, the reaper still lists the group and does the same.
	timer.unref();
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
	try {
		process.kill(-group, signal);
	} catch {
		// It has ended, or it runs as another user, so pi may not signal it.
	}
}

/** True while a process of the group runs. */
export function isGroupAlive(group: number): boolean {
	try {
		process.kill(-group, 0);
		return true;
	} catch (thrown) {
		return errnoCode(thrown) === "EPERM";
	}
}

/** Background processes end without notice, so each new command checks their groups. */
function forgetEndedGroups(): void {
	for (const group of trackedGroups()) {
		if (!isGroupAlive(group)) untrackGroup(group);
	}
}

/** Why a program could not be started, for the user. */
export function startFailure(command: string, cwd: string | undefined, thrown: unknown): string {
	const code = errnoCode(thrown);
	if (cwd !== undefined && !existsSync(cwd)) return `Cannot start ${command}: the directory ${cwd} does not exist`;
	if (code === "ENOENT") return `${command}: command not found`;
	if (code === "EACCES") return `${command}: permission denied`;
	if (code === "E2BIG") return `Cannot start ${command}: its arguments are too long`;
	return `Cannot start ${command}: ${errorText(thrown)}`;
}
