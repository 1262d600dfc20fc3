import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { checkEvents } from "./event-schema.js";
import { type PiOptions, piPlace, piProgram } from "./pi-environment.js";

/** The result of a run without a terminal. */
export interface PiRun {
	/** null when a signal ended it. */
	code: number | null;
	signal: NodeJS.Signals | null;
	stdout: string;
	stderr: string;
}

/** A program that runs without a terminal. */
export interface PiProcess {
	readonly pid: number;
	readonly cwd: string;
	readonly agentDir: string;
	/** Writes to its stdin. */
	write(text: string): void;
	/** Ends its stdin. */
	end(): void;
	/** Stops reading its stdout, as `head` does. */
	closeStdout(): void;
	kill(signal?: NodeJS.Signals): void;
	/** The output so far. */
	stdout(): string;
	stderr(): string;
	/** Resolves when its stdout (or stderr) so far passes the test; rejects with both when it ends or on timeout. */
	waitFor(found: (run: { stdout: string; stderr: string }) => boolean, timeoutMs?: number): Promise<void>;
	/** Resolves when it has exited and its output is complete; rejects if an event of JSON or RPC mode breaks its schema. */
	readonly exited: Promise<PiRun>;
}

/** Starts the program with pipes for stdin, stdout and stderr, and kills it at the end of the test. */
export function spawnPi(args: string[], options: Omit<PiOptions, "args"> = {}): PiProcess {
	const place = piPlace(options);
	const child = spawn(process.execPath, [options.entry ?? piProgram(), ...args], { cwd: place.cwd, env: place.env });
	const output = { stdout: "", stderr: "" };
	const watchers = new Set<() => void>();
	const notify = () => {
		for (const watcher of [...watchers]) watcher();
	};
	for (const name of ["stdout", "stderr"] as const) {
		child[name].setEncoding("utf8").on("data", (chunk: string) => {
			output[name] += chunk;
			notify();
		});
	}
	// A program that does not read its stdin may exit before all input is written.
	child.stdin.on("error", () => {});
	let ended = false;
	const exited = new Promise<PiRun>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => {
			ended = true;
			try {
				checkEvents(args, output.stdout);
				resolve({ code, signal, ...output });
			} catch (error) {
				reject(error);
			}
			notify();
		});
	});
	onTestFinished(async () => {
		if (!ended) child.kill("SIGKILL");
		await exited;
	});

	return {
		pid: child.pid ?? -1,
		cwd: place.cwd,
		agentDir: place.agentDir,
		write: (text) => void child.stdin.write(text),
		end: () => void child.stdin.end(),
		closeStdout: () => void child.stdout.destroy(),
		kill: (signal = "SIGTERM") => void child.kill(signal),
		stdout: () => output.stdout,
		stderr: () => output.stderr,
		waitFor: (found, timeoutMs = 10_000) =>
			new Promise((resolve, reject) => {
				const settle = (failure?: string) => {
					clearTimeout(timer);
					watchers.delete(look);
					if (failure === undefined) resolve();
					else reject(new Error(`${failure}\nstdout: ${output.stdout}\nstderr: ${output.stderr}`));
				};
				const look = () => {
					if (found(output)) settle();
					else if (ended) settle("The program ended before the expected output");
				};
				const timer = setTimeout(
					() => settle(`Timed out after ${timeoutMs} ms waiting for the expected output`),
					timeoutMs,
				);
				watchers.add(look);
				look();
			}),
		exited,
	};
}

/** Runs the program until it exits. Without `stdin` its input is empty and closed. */
export async function runPi(
	args: string[],
	options: Omit<PiOptions, "args"> & { stdin?: string } = {},
): Promise<PiRun> {
	const pi = spawnPi(args, options);
	if (options.stdin !== undefined) pi.write(options.stdin);
	pi.end();
	return pi.exited;
}
