import type { FoundSession, PastSession } from "../../log/past-sessions.js";

/** Options of `ctx.sessions.search`. */
export interface SearchSessionsOptions {
	/** True: the sessions of all directories, not only of this project's. */
	everywhere?: boolean;
	/** True: the running session, too. */
	includeCurrent?: boolean;
	/** Maximum number of sessions. Default 20. */
	limit?: number;
	/** Ends the search. The signal of the handler does so in any case. */
	signal?: AbortSignal;
}

/** Options of `ctx.sessions.read`. */
export interface ReadSessionOptions {
	from?: number;
	limit?: number;
	signal?: AbortSignal;
}

/** The saved sessions of the user, as `ctx.sessions`. They are only read. */
export interface HookSessions {
	/**
	 * Searches the full text of the sessions of this project's directory, as `pi sessions search` does: without regard to letter
	 * case, the sessions that changed last first. Files are read in parts while other work continues.
	 * @returns the sessions that contain the text, with the first entries that do; frozen
	 * @throws PiError `bad_arguments`; the reason of a signal that is aborted
	 */
	search(text: string, options?: SearchSessionsOptions): Promise<readonly FoundSession[]>;
	/**
	 * Reads entries of a session of any directory, up to 8 MB of its file, but at least one entry. `next` of the result is the
	 * index from which to read on.
	 * @param id of the session, the start of its id, or the path of its file in a directory of sessions
	 * @param options `from`: index of the first entry, by default 0, the header; `limit`: maximum number of entries
	 * @throws PiError `bad_arguments` for the start of several ids, which it names, and for other paths; `log_not_found`,
	 * `log_not_a_session`
	 */
	read(id: string, options?: ReadSessionOptions): Promise<PastSession>;
}
