import type { ProcessResult } from "../../util/process.js";

/** The kind of a file system entry; `other` is a FIFO, a socket or a device. */
export type FileKind = "file" | "directory" | "link" | "other";

/** What `ToolHost.stat` returns. Links are followed. */
export interface HostStat {
	kind: Exclude<FileKind, "link">;
	/** Bytes; 0 for files in /proc. */
	size: number;
}

/** An entry of a directory. */
export interface HostEntry {
	/** Without its directory. Bytes that are not UTF-8 are U+FFFD. */
	name: string;
	kind: FileKind;
	/** Of a link: its text; undefined if it was deleted meanwhile. */
	target?: string;
	/** True for a directory and for a link to one. */
	isFolder: boolean;
}

/** Options of `ToolHost.openFile`. */
export interface OpenFileOptions {
	/** Where reading starts, bytes. Default: 0. */
	offset?: number;
	/** Ends the transfer: the pending `read` and later ones reject with the reason. */
	signal?: AbortSignal;
}

/** A regular file that is read once, from its offset to its end. Close it always. */
export interface HostFile {
	/** Of the complete file, bytes; an estimate: files in /proc report 0. */
	readonly size: number;
	/** Reads the next bytes into a buffer. @returns their number, 0 at the end of the file */
	read(into: Uint8Array): Promise<number>;
	/** Ends the transfer. Never rejects. */
	close(): Promise<void>;
}

/** What `ToolHost.writeFile` did. */
export interface WrittenFile {
	/** False if an existing file was replaced. */
	created: boolean;
	/** Absolute path of the file that was written, all links resolved. */
	realPath: string;
}

/** Options of `ToolHost.exec`. */
export interface HostExecOptions {
	/** Default: `ToolHost.cwd`. */
	cwd?: string;
	/** Added to the environment that programs have on the host. */
	env?: Readonly<Record<string, string>>;
	/** For a command line: path of the shell that runs it with `-c`. Default: bash, or sh if bash is missing. */
	shellPath?: string;
	/** Sent to the program, which reads end-of-file after it. Default: nothing. */
	stdin?: string | Uint8Array;
	/** Ends the process tree: SIGTERM, then SIGKILL one second later. */
	signal?: AbortSignal;
	/** The same after this time, ms. */
	timeoutMs?: number;
	/**
	 * For background commands: the promise resolves only when no process of the command holds its output, and `signal` also
	 * ends processes that remain after that.
	 */
	waitsForGroup?: boolean;
	/**
	 * Receives the output in order, in chunks of at most 64 KB that it may keep. A command line sends all output as `stdout`.
	 * A returned promise pauses the stream until it settles.
	 */
	onOutput?(chunk: Buffer, stream: "stdout" | "stderr"): Promise<void> | undefined;
}

/** A search on the host. Hidden files are included, `.git` and what ignore files exclude are not. */
export interface SearchRequest {
	/** Absolute path of the searched directory, or of the only file in which lines are searched. */
	path: string;
	/** Only names that match one of these globs of `*`, `?` and plain characters. */
	names?: readonly string[];
	/** Not what this glob matches, a complete glob of ripgrep without its `!`. */
	exclude?: string;
	/** Searches the content of files. Absent: the files themselves are the result. */
	lines?: LinePattern;
	signal: AbortSignal;
	/**
	 * Receives each file of a search without `lines`, relative to the searched directory, in no particular order. Returning
	 * false stops the search.
	 */
	onFile?(path: string): boolean;
	/** Receives each line of a search with `lines`, those of one file in their order. Returning false stops the search. */
	onLine?(line: FoundLine): boolean;
	/** Yields to the event loop after each chunk of output: slower, but does not block keys and frames. */
	givesWay?: boolean;
}

/** The lines that a search wants. */
export interface LinePattern {
	/** A regular expression of ripgrep, or plain text. */
	pattern: string;
	literal: boolean;
	ignoreCase: boolean;
	/** Number of lines before each match. */
	before: number;
	/** Number of lines after each match. */
	after: number;
	/** Characters after which a line is cut. */
	maxColumns: number;
}

/** A line of a search. */
export interface FoundLine {
	/** Relative to the searched directory; empty for the only file. */
	path: string;
	/** 1-based. */
	number: number;
	/** False for a line of the context. */
	isMatch: boolean;
	text: string;
}

/**
 * How a search ended; `complete` is false if `onFile` or `onLine` stopped it. `includesIgnored`: there are ignore files, which did
 * not count, because nothing on the host knows what they exclude.
 */
export type SearchResult =
	| { status: "done"; complete: boolean; includesIgnored?: true }
	| { status: "aborted" }
	/** `problem`: a sentence that a model can act on. */
	| { status: "failed"; problem: string };

/**
 * The machine on which tools, `!` commands, `@` files, path completion and the git branch work: this one, or another that a
 * hook reaches. Paths are absolute paths of that machine, with `/`. Methods may be called concurrently.
 *
 * Methods reject with the system's error, whose `code` is `ENOENT`, `ENOTDIR`, `EACCES`, `EISDIR` or another `errno` name;
 * with PiError `file_unreadable` for what is not a regular file; with PiError `host_unreachable` if the machine cannot be
 * reached. A file is then wholly old or wholly new.
 */
export interface ToolHost {
	/** Names the host to user and model, such as `ssh build-01` or `sandbox`; empty for this machine. */
	readonly name: string;
	/** One sentence for the system prompt about what is special here, such as a missing network. Absent: nothing is. */
	readonly note?: string;
	/** Lines for the user about what one could expect of the host and what does not hold, shown when it is connected. */
	readonly warnings?: readonly string[];
	/** True if its files are those of this machine, at the same paths, apart from what it hides. Default: false. */
	readonly sharesFiles?: boolean;
	/** The working directory. */
	readonly cwd: string;
	/** The user's home directory. */
	readonly home: string;
	/** A directory for temporary files. */
	readonly tmpDir: string;
	/** The directory of pi's own settings and hooks, if it is on this host: a change in it gets a warning. */
	readonly agentDir?: string;
	/** As `process.platform`: `linux`, `darwin`, `freebsd`, … */
	readonly platform: string;

	/**
	 * Runs a program as the leader of its own process group: a command line for the shell, or the program and its arguments.
	 * Never rejects: what went wrong is in `failure`, also a lost connection. Resolves when the program has ended and its
	 * output is read, at most 200 ms after its end, even if a background process still holds the pipes. All processes end
	 * within 2 s when `signal` aborts, the connection is lost, or pi ends, even by kill -9.
	 */
	exec(command: string | readonly string[], options?: HostExecOptions): Promise<ProcessResult>;
	/** Opens a regular file. Never blocks on a FIFO or a device. */
	openFile(path: string, options?: OpenFileOptions): Promise<HostFile>;
	/**
	 * Replaces the content of a file atomically. Creates missing directories, follows links, keeps mode and owner of an
	 * existing file.
	 */
	writeFile(path: string, data: string | Uint8Array, options?: { signal?: AbortSignal }): Promise<WrittenFile>;
	stat(path: string, options?: { signal?: AbortSignal }): Promise<HostStat>;
	/** The entries of a directory without `.` and `..`, hidden ones included, in no particular order. */
	list(path: string, options?: { signal?: AbortSignal }): Promise<HostEntry[]>;
	/** The path with all links resolved, as far as it exists; broken links too. */
	realPath(path: string): Promise<string>;
	/**
	 * Uses ripgrep if the host has it, else POSIX tools. Rejects with `ENOENT` if the path does not exist, and with `ENOTDIR`
	 * if it is a file and the search has no `lines`. Other failures are in the result.
	 */
	search(request: SearchRequest): Promise<SearchResult>;
	/** Ends all processes that the host runs, and the connection. Never rejects. */
	dispose(): Promise<void>;
}
