import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import { errorText } from "../errors.js";
import { onAbort } from "./abort.js";
import { errnoCode } from "./fs.js";
import { hasReaper, prepareReaper, reaperPipe, trackedGroups, trackGroup, untrackGroup } from "./reaper.js";

/** Time between the request to end and the kill. */
const KILL_DELAY_MS = 1000;
/** How long output is waited for after the program itself has ended, while something else holds its pipes. */
const LINGER_MS = 200;
/** What a process left in the background may still print before its pipes are closed. */
const MAX_LINGERING_BYTES = 64 * 1024 * 1024;
/** What `exec` keeps of each stream. */
const MAX_EXEC_BYTES = 10 * 1024 * 1024;
/** Longest delay a Node timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Options of `spawnGroup`. */
export interface SpawnGroupOptions {
	/** Defaults to the directory of this process. */
	cwd?: string;
	/** Added to the environment of this process. */
	env?: Record<string, string>;
	/** Ends the whole group. */
	signal?: AbortSignal;
	/** Ends the whole group after so many milliseconds. */
	timeoutMs?: number;
	/** The program begins with `ANNOUNCE_GROUP`: then it ends with this one even if this one is killed while starting it. */
	announcesItself?: boolean;
	/**
	 * Gets the output in pieces of at most 64 KB, as bytes. A returned promise holds the program back until it settles;
	 * until then no other piece of that stream comes.
	 */
	onOutput?(chunk: Buffer, stream: "stdout" | "stderr"): Promise<void> | undefined;
}

/** How a program ended. */
export interface ProcessOutcome {
	/** null when a signal ended it. 127 when it was not found, 126 when it could not be started. */
	exitCode: number | null;
	/** The signal that ended it. */
	exitSignal: NodeJS.Signals | null;
	/** What made it end: itself, its timeout or its abort signal. */
	endedBy: "itself" | "timeout" | "abort";
	/** Why it could not be started. */
	failure?: string;
	/** It has left processes in the background, as far as can be told. They end with this program. */
	leftRunning: boolean;
	durationMs: number;
}

/**
 * Runs a program, without a shell, as the leader of a process group of its own with an empty stdin. Abort and timeout end
 * the group: SIGTERM, and SIGKILL one second later for what is left. Whatever is left when this program ends is killed.
 * Never rejects. Resolves when the program has ended and its output is read, 200 ms after its end at the latest, even if
 * a process in the background still holds the pipes.
 */
export function spawnGroup(
	command: string,
	args: readonly string[],
	options: SpawnGroupOptions = {},
): Promise<ProcessOutcome> {
	const startedAt = performance.now();
	const outcome = (fields: Partial<ProcessOutcome>): ProcessOutcome => ({
		exitCode: null,
		exitSignal: null,
		endedBy: "itself",
		leftRunning: false,
		durationMs: Math.round(performance.now() - startedAt),
		...fields,
	});
	if (options.signal?.aborted) return Promise.resolve(outcome({ endedBy: "abort" }));
	forgetEndedGroups();
	prepareReaper();

	const announcements = options.announcesItself ? reaperPipe() : undefined;
	let child: ChildProcess;
	try {
		child = spawn(command, [...args], {
			cwd: options.cwd,
			env: options.env ? { ...process.env, ...options.env } : process.env,
			detached: true,
			stdio: ["ignore", "pipe", "pipe", ...(announcements ? [announcements] : [])],
		});
	} catch (thrown) {
		return Promise.resolve(outcome({ exitCode: 126, failure: startFailure(command, options.cwd, thrown) }));
	}
	const group = child.pid;
	if (group === undefined) {
		return new Promise((resolve) => {
			child.once("error", (thrown) => {
				const exitCode = errnoCode(thrown) === "ENOENT" ? 127 : 126;
				resolve(outcome({ exitCode, failure: startFailure(command, options.cwd, thrown) }));
			});
		});
	}
	trackGroup(group);

	return new Promise((resolve) => {
		let endedBy: ProcessOutcome["endedBy"] = "itself";
		let settled = false;
		let lingeringBytes = 0;
		let linger: NodeJS.Timeout | undefined;

		const settle = () => {
			if (settled) return;
			settled = true;
			clearTimeout(timeout);
			clearTimeout(linger);
			release();
			const leftAny = isGroupAlive(group);
			if (!leftAny) untrackGroup(group);
			const leftRunning = leftAny && endedBy === "itself";
			// What still runs must not keep this program from ending.
			child.unref();
			for (const pipe of [child.stdout, child.stderr]) {
				if (pipe instanceof Socket) pipe.unref();
				pipe?.resume();
			}
			resolve(outcome({ exitCode: child.exitCode, exitSignal: child.signalCode, endedBy, leftRunning }));
		};
		const end = (by: "timeout" | "abort") => {
			if (endedBy !== "itself" || settled) return;
			endedBy = by;
			// A process stuck in the kernel outlives even a kill; its result does not wait for it.
			endGroup(group, () => setTimeout(settle, LINGER_MS));
		};
		const timeout =
			options.timeoutMs === undefined
				? undefined
				: setTimeout(() => end("timeout"), Math.min(options.timeoutMs, MAX_TIMER_MS));

		for (const stream of ["stdout", "stderr"] as const) {
			const pipe = child[stream];
			if (pipe === null) continue; // it is not: both were asked for
			let isHeld = false;
			// When the program ends Node turns on its pipes, those that are held among them.
			pipe.on("resume", () => {
				if (isHeld && !settled) pipe.pause();
			});
			pipe.on("data", (chunk: Buffer) => {
				if (settled) {
					// A background process goes on printing: let it, for its next write to a closed pipe would end it.
					lingeringBytes += chunk.length;
					if (lingeringBytes > MAX_LINGERING_BYTES) pipe.destroy();
					return;
				}
				const held = options.onOutput?.(chunk, stream);
				if (held === undefined) return;
				isHeld = true;
				pipe.pause();
				const resume = () => {
					isHeld = false;
					pipe.resume();
				};
				held.then(resume, resume);
			});
			pipe.on("error", () => {}); // a broken pipe reads as the end of the output
		}
		child.on("error", () => {}); // a signal that could not be sent; the group is signalled by other means
		child.once("exit", () => {
			clearTimeout(timeout);
			// The loop may have been busy: one more look at the pipes before what is in them is given up.
			linger = setTimeout(() => setImmediate(settle), LINGER_MS);
		});
		child.once("close", settle);
		const release = options.signal ? onAbort(options.signal, () => end("abort")) : () => {};
	});
}

/** What a command printed. Each stream is kept up to 10 MB. */
export interface ExecResult {
	stdout: string;
	stderr: string;
	/** Exit code; 127 when the command was not found, 126 when it could not be started, 128 + n when signal n ended it. */
	code: number;
	/** True when a timeout or an abort ended the command; `code` is then never 0. */
	killed?: boolean;
	/** True when a stream was longer than 10 MB and its end was dropped. */
	truncated?: boolean;
}

/** Options of `exec`. */
export interface ExecOptions {
	signal?: AbortSignal;
	/** ms; the whole process group is killed after it. Absent or 0: no limit. */
	timeout?: number;
	/** Defaults to the directory of this process. */
	cwd?: string;
	/** Added to the environment of this process. */
	env?: Record<string, string>;
}

/**
 * Runs a program without a shell and collects what it prints. Never rejects because of what the program does: what went
 * wrong is in `code`, `killed` and, for a program that could not be started, in `stderr`.
 */
export async function exec(
	command: string,
	args: readonly string[],
	{ signal, timeout, cwd, env }: ExecOptions = {},
): Promise<ExecResult> {
	const kept = { stdout: new KeptOutput(MAX_EXEC_BYTES), stderr: new KeptOutput(MAX_EXEC_BYTES) };
	const outcome = await spawnGroup(command, args, {
		signal,
		timeoutMs: timeout || undefined,
		cwd,
		env,
		onOutput: (chunk, stream) => kept[stream].add(chunk),
	});
	const killed = outcome.endedBy !== "itself";
	const code = outcome.exitCode ?? 128 + constants.signals[outcome.exitSignal ?? "SIGTERM"];
	const stderr = kept.stderr.text();
	return {
		stdout: kept.stdout.text(),
		stderr: outcome.failure === undefined ? stderr : `${stderr}${outcome.failure}\n`,
		code: killed && code === 0 ? 128 + constants.signals.SIGTERM : code,
		...(killed && { killed }),
		...((kept.stdout.truncated || kept.stderr.truncated) && { truncated: true }),
	};
}

/**
 * Ends every group that still runs, for exit handlers: sends SIGTERM and returns at once. The kill of what ignores it is
 * left to the process that watches over this one; without that process SIGKILL is sent instead.
 */
export function killAllGroups(): void {
	for (const group of trackedGroups()) signalGroup(group, hasReaper() ? "SIGTERM" : "SIGKILL");
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

	/** All bytes at once, so that no character is broken at a chunk's border; one broken by the cut is left out. */
	text(): string {
		const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
		return decoder.decode(Buffer.concat(this.#chunks), { stream: this.truncated });
	}
}

/** Asks a group to end; kills what is left of it a second later and then calls `onKill`. */
function endGroup(group: number, onKill: () => void): void {
	signalGroup(group, "SIGTERM");
	const timer = setTimeout(() => {
		if (isGroupAlive(group)) signalGroup(group, "SIGKILL");
		onKill();
	}, KILL_DELAY_MS);
	// When this program ends first, the group is still listed with the reaper, which does the same.
	timer.unref();
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
	try {
		process.kill(-group, signal);
	} catch {
		// It has ended, or it runs as another user: nothing else can be done about it.
	}
}

function isGroupAlive(group: number): boolean {
	try {
		process.kill(-group, 0);
		return true;
	} catch (thrown) {
		return errnoCode(thrown) === "EPERM";
	}
}

/** Background processes end when they like; their groups are looked through whenever another command starts. */
function forgetEndedGroups(): void {
	for (const group of trackedGroups()) {
		if (!isGroupAlive(group)) untrackGroup(group);
	}
}

function startFailure(command: string, cwd: string | undefined, thrown: unknown): string {
	const code = errnoCode(thrown);
	if (cwd !== undefined && !existsSync(cwd)) return `Cannot start ${command}: the directory ${cwd} does not exist`;
	if (code === "ENOENT") return `${command}: command not found`;
	if (code === "EACCES") return `${command}: permission denied`;
	if (code === "E2BIG") return `Cannot start ${command}: its arguments are too long`;
	return `Cannot start ${command}: ${errorText(thrown)}`;
}
