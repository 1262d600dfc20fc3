import { join } from "node:path";
import type { ListSessionsResponse } from "@agentclientprotocol/sdk";
import { PiError } from "../../errors.js";
import { findSession, listSessions, sessionDirs } from "../../log/catalog.js";
import { sessionDirName } from "../../log/session-paths.js";
import type { SessionSummary } from "../../log/session-summary.js";
import { invalidParams } from "./acp-errors.js";

/** Sessions in one answer. */
const PAGE = 100;
/** Bytes per directory that are read for exact names. */
const SCAN_BYTES = 8 * 1024 * 1024;

/** Where sessions are stored. */
export interface SessionDirectories {
	/** Holds one directory of sessions per working directory. */
	root: string;
	/** The directory of all sessions, as with `--session-dir`; null: those of `root`. */
	dir: string | null;
}

/** Finds the path of a session, first among those of a working directory. @throws PiError `log_not_found` */
export function findSessionFile(directories: SessionDirectories, id: string, cwd: string): string {
	if (!/^[\w-]+$/.test(id)) throw new PiError("log_not_found", `${JSON.stringify(id)} is not the id of a session`);
	const own = directories.dir ?? join(directories.root, sessionDirName(cwd));
	try {
		return findSession(own, id);
	} catch (error) {
		if (directories.dir !== null || !(error instanceof PiError) || error.code !== "log_not_found") throw error;
		return findSession(sessionDirs(directories.root), id);
	}
}

/**
 * Lists the sessions with messages, newest first, at most 100 at a time.
 * @param cwd only the sessions that began there; null: all
 * @param cursor where the previous answer ended
 * @throws RequestError for a cursor that no answer contained
 */
export async function listSessionPage(
	directories: SessionDirectories,
	cwd: string | null,
	cursor: string | null,
): Promise<ListSessionsResponse> {
	const start = cursor === null ? 0 : Number(cursor);
	if (!Number.isSafeInteger(start) || start < 0) {
		throw invalidParams(
			`The cursor ${JSON.stringify(cursor)} is not valid`,
			"use the nextCursor of the previous answer",
		);
	}
	const own = cwd === null ? sessionDirs(directories.root) : [join(directories.root, sessionDirName(cwd))];
	const lists = await Promise.all(
		(directories.dir === null ? own : [directories.dir]).map((dir) => listSessions(dir, { scanBytes: SCAN_BYTES })),
	);
	const found = lists
		.flat()
		.filter((session) => session.messageCount !== 0 && !session.isPrinted && (cwd === null || session.cwd === cwd))
		.sort((a, b) => b.modifiedAt - a.modifiedAt);
	const end = start + PAGE;
	return { sessions: found.slice(start, end).map(toInfo), ...(end < found.length ? { nextCursor: String(end) } : {}) };
}

function toInfo({ id, cwd, name, firstMessage, modifiedAt }: SessionSummary) {
	return { sessionId: id, cwd, title: (name ?? firstMessage) || null, updatedAt: new Date(modifiedAt).toISOString() };
}
