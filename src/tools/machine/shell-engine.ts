import type { Readable, Writable } from "node:stream";
import type { ToolHost } from "./machine.js";

/** A program that an engine has started: a `ChildProcess` of Node with three pipes has these members. */
export interface EngineProcess {
	readonly stdin: Writable;
	readonly stdout: Readable;
	readonly stderr: Readable;
	/** After the end of the program and of both streams. */
	once(event: "close", listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
	/** If the program could not be started. */
	once(event: "error", listener: (error: Error) => void): unknown;
	/** Ends the local side, such as the ssh client. Only called when the end of stdin did not end the program. */
	kill(signal?: NodeJS.Signals): unknown;
}

/** What a host needs to run programs elsewhere. Everything else is done there by `sh` and POSIX tools. */
export interface ShellEngine {
	/** As `ToolHost.name`: `ssh build-01`, `docker web`. */
	readonly name: string;
	/** As `ToolHost.note`. */
	readonly note?: string;
	/** As `ToolHost.warnings`. */
	readonly warnings?: readonly string[];
	/** As `ToolHost.sharesFiles`. */
	readonly sharesFiles?: boolean;
	/**
	 * Starts a program on the host, which is always `sh` with arguments of any bytes but NUL, newlines included: nothing may
	 * interpret them on the way. Where the transport takes one line for a shell, as ssh does, pass `quoteForShell(command)`.
	 *
	 * It must get the end of stdin when the local side ends or the connection is lost: that is how pi ends it, with its process
	 * group. If it leads none, pi uses `setsid` there, and warns if that is missing. For a program on this machine use
	 * `detached: true`: Ctrl+C is for pi.
	 *
	 * Streams carry bytes, without a terminal in between. What the engine itself has to say, such as "Connection refused",
	 * belongs on stderr. A throw is the reason why the host cannot be reached.
	 */
	spawn(command: readonly string[]): EngineProcess;
	/** Called by `ToolHost.dispose` after the last program has ended: closes a shared connection. */
	dispose?(): void | Promise<void>;
}

/** Options of `shellHost`. */
export interface ShellHostOptions {
	/** The working directory on the host, absolute, or relative to the directory where `sh` starts. Default: that one. */
	cwd?: string;
	/** Gives up connecting. */
	signal?: AbortSignal;
}

/**
 * Connects to a host through its shell: one round trip, which finds out directories, platform and tools.
 * @throws PiError `host_unreachable` with what the engine said, or that the working directory does not exist
 */
export type CreateShellHost = (engine: ShellEngine, options?: ShellHostOptions) => Promise<ToolHost>;

const PLAIN = /^[\w@%+=:,./-]+$/;
/** Shells disagree on these, even in single quotes: fish on backslashes, csh on newlines and exclamation marks. */
const AMBIGUOUS = /[\\!\n]/;
/** The start of a line for `sh`, in pieces: csh reads no longer words than 1024 bytes. */
const DECODE = `exec sh -c 'eval "$(printf %b "$@")"' sh`;
const PIECE = /(?:\\0\d{3}|[^\\]){1,200}/gsu;

/**
 * A command as a line for the login shell of another machine, which passes each argument on unchanged. It may be any common
 * shell, fish and csh included: what only some of them pass on goes through `sh` there.
 */
export function quoteForShell(command: readonly string[]): string {
	const line = command.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
	if (!command.some((word) => AMBIGUOUS.test(word))) return line;
	const encoded = `exec ${line}`.replace(
		/[\\!\n']/g,
		(character) => `\\0${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
	);
	return [DECODE, ...(encoded.match(PIECE) ?? []).map((piece) => `'${piece}'`)].join(" ");
}
