import type { SessionEntry } from "../log/entry.js";

/** Programs whose sessions pi can import. `pi`: its own tree format. */
export type ProgramName = "claude" | "codex" | "opencode" | "gemini" | "aider" | "pi";

/** Where the sessions of other programs are looked for. */
export interface ImportPlace {
	/** The directory in which they began. */
	cwd: string;
	home: string;
	env: Readonly<Record<string, string | undefined>>;
	/** Directory of pi's own sessions of `cwd`. */
	sessionDir: string;
}

/** A session of another program, as a list shows it. */
export interface FoundSession {
	program: ProgramName;
	/** Its file; that of a database for some versions of opencode. */
	path: string;
	/** Unique in its program. */
	id: string;
	/** The directory in which it began; null if the file does not say it. */
	cwd: string | null;
	/** Its name or the start of its first prompt; empty if the start of the file has neither. */
	title: string;
	/** ms since the epoch. */
	modifiedAt: number;
}

/** A session of another program as entries of pi. */
export interface ForeignSession {
	/** As in `FoundSession`. */
	id: string;
	cwd: string | null;
	/** ISO 8601. */
	startedAt: string;
	/** Without a header, in order: an entry's index is its position plus one. */
	entries: readonly SessionEntry[];
	/** What is not taken over: number of lines or parts by what they are. */
	leftOut: Readonly<Record<string, number>>;
	/** Number of entries that pi keeps as custom entries, by type. */
	kept: Readonly<Record<string, number>>;
	/** Number of lines that cannot be read. */
	damaged: number;
	/** True if the file does not contain the beginning of the session. */
	isCut: boolean;
}

/** How pi reads the sessions of one program. */
export interface Program {
	readonly name: ProgramName;
	/** As its makers write it. */
	readonly title: string;
	/** Files that may hold sessions of a directory: `list` tells whether they do. Empty if the program was never used here. */
	files(place: ImportPlace): string[];
	/** Why a file of this program cannot be read with this version of Node, in one line; null for any other file. */
	unreadable?(path: string): string | null;
	/** The sessions in a file, read from its head where the format allows; empty for a file of another kind. Never throws. */
	list(path: string): FoundSession[];
	/**
	 * Reads a session. @param id which one, for a file with several
	 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`
	 */
	read(path: string, id: string): ForeignSession;
}
