import { randomBytes } from "node:crypto";
import { errorText } from "../../errors.js";
import { MAX_TIMER_MS, onAbort } from "../../util/abort.js";
import type { HostExecOptions } from "./machine.js";
import { MarkedStream } from "./marked-stream.js";
import type { EngineProcess, ShellEngine } from "./shell-engine.js";

/** Maximum wait for the end of processes that the program has started, after its own end. */
const LINGER_MS = 200;
/** Time in which the host ends the processes of a program: SIGTERM, a second until SIGKILL, and some for the way. */
const END_MS = 1500;
/** Kept of what the engine says. */
const MAX_STDERR = 4000;

/** Options of `ShellCalls.run`. */
export interface ShellCallOptions extends Pick<HostExecOptions, "signal" | "timeoutMs" | "waitsForGroup" | "onOutput"> {
	/** Sent to the program. The connection stays open after it: its end ends the program. */
	stdin?: string | Uint8Array;
	/** The program reads stdin to its end. */
	endsStdin?: boolean;
	/** True if stderr is output too. */
	splits?: boolean;
	/** Called when the program has started. */
	onBegin?(): void;
}

/** How a call ended. */
export interface ShellCallEnd {
	/** The status after the mark, an exit code or a letter; null if the connection was lost before it. */
	status: string | null;
	endedBy: "itself" | "timeout" | "abort";
	/** True if processes are left that end with the connection. */
	leftRunning: boolean;
	/** Why the engine could not be started; else the end of what it said. */
	problem: string;
}

/** The calls to an engine that have not ended, or have left processes behind. */
export class ShellCalls {
	readonly #open = new Set<EngineProcess>();

	#isEnded = false;

	constructor(private readonly engine: Pick<ShellEngine, "spawn">) {}

	/** Starts `sh` on the host with a new mark among its arguments. Never rejects. */
	run(command: (mark: string) => string[], options: ShellCallOptions = {}): Promise<ShellCallEnd> {
		const { signal, timeoutMs, stdin, endsStdin, splits = false, waitsForGroup = false, onBegin, onOutput } = options;
		const mark = randomBytes(16).toString("hex");
		const none = { status: null, leftRunning: false, problem: "" };
		if (signal?.aborted) return Promise.resolve({ ...none, endedBy: "abort" });
		// An engine whose shared connection is closed would open another one.
		if (this.#isEnded) return Promise.resolve({ ...none, endedBy: "itself", problem: "the connection was closed" });
		let child: EngineProcess;
		try {
			child = this.engine.spawn(command(mark));
		} catch (thrown) {
			return Promise.resolve({ ...none, endedBy: "itself", problem: errorText(thrown) });
		}
		this.#open.add(child);
		const output = { stdout: new MarkedStream(mark), stderr: new MarkedStream(mark) };

		return new Promise((resolve) => {
			let endedBy: ShellCallEnd["endedBy"] = "itself";
			let problem = "";
			let isResolved = false;
			let isClosed = false;
			let linger: NodeJS.Timeout | undefined;

			const finish = () => {
				if (isResolved) return;
				isResolved = true;
				clearTimeout(timeout);
				clearTimeout(linger);
				release();
				const leftRunning = !isClosed && !output.stdout.isLast && endedBy === "itself";
				if (leftRunning && waitsForGroup && signal) onAbort(signal, () => child.stdin.end());
				child.stdout.resume();
				child.stderr.resume();
				resolve({
					status: output.stdout.status,
					endedBy,
					leftRunning,
					problem: problem.trim() || describeBefore(output),
				});
			};
			const check = () => {
				if (endedBy !== "itself" || output.stdout.status === null || output.stderr.status === null) return;
				// An engine such as Podman may need longer than the program to end.
				if (output.stdout.isLast) finish();
				else linger ??= setTimeout(finish, LINGER_MS);
			};
			const end = (by: "timeout" | "abort") => {
				if (endedBy !== "itself" || isResolved) return;
				endedBy = by;
				this.#end(child);
				clearTimeout(linger);
				linger = setTimeout(finish, END_MS);
			};
			const timeout =
				timeoutMs === undefined ? undefined : setTimeout(() => end("timeout"), Math.min(timeoutMs, MAX_TIMER_MS));
			const release = signal ? onAbort(signal, () => end("abort")) : () => {};

			for (const name of ["stdout", "stderr"] as const) {
				const stream = child[name];
				stream.on("data", (chunk: Buffer) => {
					if (isResolved) return;
					const { hasBegun } = output[name];
					const payload = output[name].add(chunk);
					if (name === "stdout" && !hasBegun && output.stdout.hasBegun) onBegin?.();
					if (name === "stderr" && !splits) problem = (problem + payload.toString()).slice(-MAX_STDERR);
					else if (payload.length > 0) {
						if (name === "stderr") problem = (problem + payload.toString()).slice(-MAX_STDERR);
						const paused = onOutput?.(payload, name);
						if (paused !== undefined) {
							stream.pause();
							const resume = () => void stream.resume();
							paused.then(resume, resume);
						}
					}
					check();
				});
				stream.on("error", () => {}); // counts as the end of the stream
			}
			child.once("error", (error) => {
				problem = errorText(error);
				this.#open.delete(child);
				isClosed = true;
				finish();
			});
			child.once("close", () => {
				this.#open.delete(child);
				isClosed = true;
				finish();
			});
			child.stdin.on("error", () => {}); // the end of the program is reported elsewhere
			if (stdin !== undefined) child.stdin.write(stdin);
			if (endsStdin) child.stdin.end();
		});
	}

	/** Ends all programs, and starts no more. Resolves when they have ended, or after the time that takes. */
	async endAll(): Promise<void> {
		this.#isEnded = true;
		await Promise.all([...this.#open].map((child) => this.#end(child)));
	}

	/** Ends the connection, and with it the program. */
	#end(child: EngineProcess): Promise<void> {
		child.stdin.end();
		return new Promise((resolve) => {
			const timer = setTimeout(() => {
				child.kill("SIGKILL");
				resolve();
			}, END_MS);
			child.once("close", () => {
				clearTimeout(timer);
				resolve();
			});
		});
	}
}

/** What was said instead of the program's output: by the engine, or by a login shell that does not run it. */
function describeBefore({ stdout, stderr }: Record<"stdout" | "stderr", MarkedStream>): string {
	if (stderr.hasBegun || stdout.hasBegun) return "";
	return stderr.before.trim() || (stdout.before.trim().split("\n").at(-1) ?? "");
}
