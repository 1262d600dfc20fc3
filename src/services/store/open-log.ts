import { PiError } from "../../errors.js";
import { findSession, namedSession, newSessionPath, sessionsByUse } from "../../log/catalog.js";
import { entryTimestamp } from "../../log/entry.js";
import { copySession } from "../../log/manage-sessions.js";
import { SessionLog } from "../../log/session-log.js";
import { shownName } from "../../log/session-summary.js";
import type { SessionChoice } from "../create-options.js";
import type { ForkedLog } from "../service-types.js";

/** The log of a new session. */
export interface OpenedLog {
	log: SessionLog;
	/** Path of the file with its entries: of a copy, the original; null for a log in memory. */
	source: string | null;
	/** For the user: why it is not the session that was asked for. */
	warning?: string;
}

/**
 * Opens the log that was chosen.
 * @param sessionDir null: the session is not saved
 * @throws PiError `log_not_found`, `log_not_a_session`, `log_locked`, `file_unreadable`
 */
export function openLog(choice: SessionChoice | ForkedLog, sessionDir: string | null, cwd: string): OpenedLog {
	const own = (log: SessionLog) => ({ log, source: log.path });
	if ("openLog" in choice) return own(choice.openLog(sessionDir));
	if (sessionDir === null) return own(SessionLog.inMemory(cwd));
	if (choice.kind === "open") {
		const created = newSessionPath(sessionDir, choice.target);
		if (created !== null) return own(SessionLog.createAt(created, { cwd }));
		const path = findSession(sessionDir, choice.target);
		return { log: choice.copy ? copySession(path, sessionDir) : SessionLog.open(path, { cwd }), source: path };
	}
	if (choice.kind === "read") return own(SessionLog.open(findSession(sessionDir, choice.target), { readOnly: true }));
	if (choice.kind === "continue") return continueLatest(sessionDir, cwd, choice);
	if (choice.kind === "named") return own(openNamed(sessionDir, cwd, choice.name));
	return own(SessionLog.create({ dir: sessionDir, cwd }));
}

/** Opens the session of a name that was used last, or begins one. @throws PiError `log_locked` */
function openNamed(sessionDir: string, cwd: string, name: string): SessionLog {
	const path = namedSession(sessionDir, name);
	if (path === null) {
		const log = SessionLog.create({ dir: sessionDir, cwd });
		// Written with the first message: a session that nobody uses leaves no file.
		log.appendAll([{ type: "session_info", timestamp: entryTimestamp(), name: shownName(name) }], true);
		return log;
	}
	try {
		return SessionLog.open(path, { cwd });
	} catch (error) {
		throw error instanceof PiError && error.code === "log_locked" ? inUseByOther(error) : error;
	}
}

/** Opens the session that was used last, or begins one. @throws PiError `log_locked` for a script whose session is open elsewhere */
function continueLatest(sessionDir: string, cwd: string, { printed = false }: { printed?: boolean }): OpenedLog {
	let inUse: PiError | null = null;
	const opened = (log: SessionLog, instead: string): OpenedLog => ({
		...{ log, source: log.path },
		...(inUse && { warning: `${inUse.message}, so pi ${instead} · quit that process to continue the latest one` }),
	});
	for (const path of sessionsByUse(sessionDir, { withPrinted: printed })) {
		try {
			return opened(SessionLog.open(path, { cwd }), "continues an earlier session");
		} catch (error) {
			if (!(error instanceof PiError) || error.code !== "log_locked") throw error;
			// A script would not read the warning, and its prompt would go to an unrelated session.
			if (printed) throw inUseByOther(error);
			inUse ??= error;
		}
	}
	return opened(SessionLog.create({ dir: sessionDir, cwd }), "begins a new session");
}

function inUseByOther({ code, message }: PiError): PiError {
	return new PiError(code, message, {
		hint: "quit that process, or choose another session with --session: `pi sessions` lists them",
	});
}
