import type { CommandSessions, SessionScope } from "../../commands/pickers.js";
import { PiError } from "../../errors.js";
import { listSessions, sessionDirs } from "../../log/catalog.js";
import { removeSession, renameSession, trashSession } from "../../log/manage.js";
import { searchSessions } from "../../log/search.js";
import { isLocked } from "../../util/file-lock.js";

export interface SessionStoreOptions {
	/** Sessions of this working directory. */
	dir: string;
	/** Holds one directory of sessions per working directory. */
	root: string;
	cwd: string;
	current(): string | null;
	/** Names the open session. */
	setName(name: string): void;
	/** Default: the trash of the system. @returns null, or the reason why the file is not there */
	moveToTrash?(path: string): Promise<string | null>;
}

/** Bytes per directory that are read in full for exact names and counts; other files are read at head and tail only. */
const SCAN_BYTES = 8 * 1024 * 1024;

/** The sessions on disk, for pickers: lists them by head and tail, searches their full text. */
export function createSessionStore({
	dir,
	root,
	cwd,
	current,
	setName,
	moveToTrash,
}: SessionStoreOptions): CommandSessions {
	const dirs = (scope: SessionScope): string[] =>
		scope === "here" ? [dir] : [dir, ...sessionDirs(root).filter((other) => other !== dir)];
	const refuseOpen = (path: string): void => {
		if (path !== current()) return;
		throw new PiError("log_locked", "The open session cannot be deleted", { hint: "start another with /new first" });
	};
	return {
		get current() {
			return current();
		},
		cwd,
		isOpen: isLocked,
		async *list(scope, signal) {
			for (const path of dirs(scope)) yield await listSessions(path, { scanBytes: SCAN_BYTES, signal });
		},
		async *search(text, scope, signal) {
			for (const path of dirs(scope)) yield* searchSessions(path, text, { signal });
		},
		async trash(path) {
			refuseOpen(path);
			return trashSession(path, moveToTrash);
		},
		remove(path) {
			refuseOpen(path);
			removeSession(path);
		},
		rename: async (path, name) => (path === current() ? setName(name) : renameSession(path, name)),
	};
}
