import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { ShellEngine } from "@mariozechner/pi-coding-agent/hooks";
import { sandboxArguments } from "./bubblewrap.js";
import { distinct, exists, kindOf, readText } from "./files.js";
import type { SandboxSetup } from "./secrets.js";
import { filterFile, removeState } from "./state.js";

/** In the flags of /proc/self/fdinfo: a file that programs do not inherit. */
const O_CLOEXEC = 0o2000000;
/** The descriptor on which a sandbox reads its command. */
const COMMAND = 3;
const WAIT = `command=$(cat <&${COMMAND}); [ -n "$command" ] || exit 0; exec ${COMMAND}<&-; eval "exec $command"`;

/** A sandbox that waits for its command. */
interface Waiting {
	child: ChildProcessWithoutNullStreams;
	/** Receives the command. */
	command: Writable;
	/** What it shows and hides. */
	key: string;
}

/** Starts commands in bubblewrap. The mounts of a large home directory take longer than most commands: one sandbox waits for the next. */
export class BubblewrapEngine implements ShellEngine {
	readonly name = "sandbox";
	readonly sharesFiles = true;
	readonly #inherited = inheritedFiles();
	#next: Waiting | null = null;
	#isDisposed = false;

	/**
	 * @param program the path of bwrap
	 * @param env the environment of commands
	 * @param hasFilter whether the state has a filter for system calls
	 */
	constructor(
		private readonly program: string,
		private readonly setup: SandboxSetup,
		private readonly env: NodeJS.ProcessEnv,
		private readonly options: { note: string; warnings: readonly string[]; hasFilter: boolean },
	) {}

	get note(): string {
		return this.options.note;
	}

	get warnings(): readonly string[] {
		return this.options.warnings;
	}

	spawn(command: readonly string[]): ChildProcessWithoutNullStreams {
		const args = this.#arguments();
		const key = keyOf(args);
		const waiting = this.#take(key) ?? this.#start(args, key);
		const { child } = waiting;
		for (const each of [child, ...streamsOf(waiting)]) each.ref();
		waiting.command.end(command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" "));
		// Not before: it would take time from the command.
		child.once("close", () => this.#prepare());
		return child;
	}

	async dispose(): Promise<void> {
		this.#isDisposed = true;
		const next = this.#next;
		this.#next = null;
		// It makes directories in the state as long as it runs.
		if (next !== null) await end(next);
		await removeState(this.setup.state);
	}

	#arguments(): string[] {
		return sandboxArguments(this.setup, this.env, this.options.hasFilter ? this.#filterAt : null);
	}

	/** The descriptor of the filter: after those that pi has inherited. */
	get #filterAt(): number {
		return Math.max(COMMAND, ...this.#inherited) + 1;
	}

	/** The sandbox that waits, if it shows and hides what one would that starts now. */
	#take(key: string): Waiting | null {
		const next = this.#next;
		this.#next = null;
		if (next === null || next.key === key) return next;
		void end(next);
		return null;
	}

	#prepare(): void {
		if (this.#next !== null || this.#isDisposed) return;
		try {
			const args = this.#arguments();
			const next = this.#start(args, keyOf(args));
			this.#next = next;
			const forget = () => {
				if (this.#next === next) this.#next = null;
			};
			next.child.once("error", forget).once("exit", forget);
			for (const each of [next.child, ...streamsOf(next)]) each.unref();
		} catch {
			// The next command tries again, and reports it.
		}
	}

	#start(args: readonly string[], key: string): Waiting {
		const nothing = openSync("/dev/null", "r+");
		// bubblewrap reads it to its end, so that each needs its own position.
		const filter = this.options.hasFilter ? openSync(filterFile(this.setup.state), "r") : null;
		const stdio: (number | "pipe" | "ignore")[] = ["pipe", "pipe", "pipe", "pipe"];
		for (let fd = COMMAND + 1; fd < this.#filterAt; fd++) stdio.push(this.#inherited.includes(fd) ? nothing : "ignore");
		if (filter !== null) stdio.push(filter);
		try {
			// bubblewrap starts outside: a variable such as LD_LIBRARY_PATH must not make it load a file of the project.
			const options = { cwd: "/", env: {}, detached: true, stdio };
			const child = spawn(this.program, [...args, "--", "setsid", "sh", "-c", WAIT], options);
			const command = child.stdio[COMMAND];
			if (!(command instanceof Socket)) throw new Error(`${this.program} could not be started`);
			command.on("error", () => {}); // its end is reported elsewhere
			return { child: child as ChildProcessWithoutNullStreams, command, key };
		} finally {
			closeSync(nothing);
			if (filter !== null) closeSync(filter);
		}
	}
}

/**
 * Ends a sandbox that waits. While bubblewrap is at work, its programs are in one process group, and would wait for each other if
 * only one of them ended; after that, all of them end with the first one.
 */
function end({ child, command }: Waiting): Promise<void> {
	command.end();
	return new Promise((resolve) => {
		if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resolve();
		child.ref();
		child.once("exit", () => resolve());
		try {
			process.kill(-child.pid, "SIGKILL");
		} catch {
			resolve(); // it has ended
		}
	});
}

function streamsOf({ child, command }: Waiting): Socket[] {
	return [child.stdin, child.stdout, child.stderr, command].filter((stream) => stream instanceof Socket);
}

/** Differs for arguments that name another file or directory, also one that has replaced another one. */
function keyOf(args: readonly string[]): string {
	const paths = distinct(args.filter((arg) => arg.startsWith("/")));
	const found = paths.map((path) => {
		const stats = kindOf(path);
		return stats === null ? "" : `${stats.dev}:${stats.ino}`;
	});
	return [...args, ...found].join("\0");
}

/** Files that pi has inherited and that its children would inherit, too: such as one that a script opened before it started pi. */
function inheritedFiles(): number[] {
	const isKept = (fd: number) =>
		(Number.parseInt(/^flags:\s*(\d+)/m.exec(readText(`/proc/self/fdinfo/${fd}`))?.[1] ?? "0", 8) & O_CLOEXEC) === 0;
	return readdirSync("/proc/self/fd")
		.map(Number)
		.filter((fd) => fd > 2 && exists(`/proc/self/fd/${fd}`) && isKept(fd));
}
