import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { CommandSessions, SessionScope } from "../commands/pickers.js";
import { PiError } from "../errors.js";
import { listSessions } from "../log/catalog.js";
import { removeSession, renameSession } from "../log/manage.js";
import { searchSessions } from "../log/search.js";
import { isLocked } from "../util/file-lock.js";

/** Where sessions are, and which one is open. */
export interface SessionStoreOptions {
	/** Sessions of this working directory; null when the open one is kept in memory. */
	dir: string | null;
	/** Holds one directory of sessions per working directory. */
	root: string;
	cwd: string;
	current(): string | null;
	/** Names the session that is open. */
	setName(name: string): void;
}

/** Read whole per directory for exact names and counts; heads and tails say the rest. */
const SCAN_BYTES = 8 * 1024 * 1024;

/** The sessions on disk for pickers: listed by their heads and tails, searched in whole. */
export function createSessionStore({ dir, root, cwd, current, setName }: SessionStoreOptions): CommandSessions {
	const dirs = (scope: SessionScope): string[] => {
		const own = dir === null ? [] : [dir];
		return scope === "here" ? own : [...own, ...directoriesIn(root).filter((other) => other !== dir)];
	};
	return {
		get current() {
			return current();
		},
		cwd,
		isOpen: isLocked,
		async *list(scope, signal) {
			for (const place of dirs(scope)) yield await listSessions(place, { scanBytes: SCAN_BYTES, signal });
		},
		async *search(text, scope, signal) {
			for (const place of dirs(scope)) yield* searchSessions(place, text, { signal });
		},
		remove(path) {
			if (path === current()) {
				throw new PiError("log_locked", "The open session cannot be deleted", {
					hint: "begin another with /new first",
				});
			}
			removeSession(path);
		},
		rename: async (path, name) => (path === current() ? setName(name) : renameSession(path, name)),
	};
}

function directoriesIn(root: string): string[] {
	try {
		return readdirSync(root, { withFileTypes: true })
			.filter((entry) => entry.isDirectory())
			.map(({ name }) => join(root, name));
	} catch {
		return []; // no session was saved yet
	}
}
