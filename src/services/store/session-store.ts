import { statSync } from "node:fs";
import type { CommandSessions, SessionScope } from "../../commands/pickers.js";
import { PiError } from "../../errors.js";
import type { FoundSession, ImportPlace } from "../../imports/program.js";
import { listSessions, sessionDirs } from "../../log/catalog.js";
import { removeSession, renameSession, trashSession } from "../../log/manage-sessions.js";
import { searchSessions } from "../../log/search.js";
import type { SessionSummary } from "../../log/session-summary.js";
import { isLocked } from "../../util/file-lock.js";
import { plural } from "../../util/format-amounts.js";

export interface SessionStoreOptions {
	/** Sessions of this working directory. */
	dir: string;
	/** Holds one directory of sessions per working directory. */
	root: string;
	cwd: string;
	/** Where other programs keep their sessions. */
	elsewhere: Pick<ImportPlace, "env" | "home">;
	current(): string | null;
	/** What each session cost, in US dollars, by its id. */
	costs: CommandSessions["costs"];
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
	elsewhere,
	costs,
}: SessionStoreOptions): CommandSessions {
	const dirs = (scope: SessionScope): string[] =>
		scope === "all" ? [dir, ...sessionDirs(root).filter((other) => other !== dir)] : scope === "here" ? [dir] : [];
	/** Sessions of other programs as they were last listed, by the path that stands for them in a list. */
	const foreign = new Map<string, FoundSession>();
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
		costs,
		async *list(scope, signal) {
			if (scope === "elsewhere") {
				const { findSessions, titleOfProgram } = await import("../../imports/programs.js");
				const found = await findSessions({ ...elsewhere, cwd, sessionDir: dir }, undefined, signal);
				for (const session of found) foreign.set(keyOf(session), session);
				yield found.map((session) => summaryOf(session, titleOfProgram(session.program)));
				return;
			}
			for (const path of dirs(scope)) yield await listSessions(path, { scanBytes: SCAN_BYTES, signal });
		},
		async adopt(path) {
			const session = foreign.get(path);
			if (!session) return { path };
			const { titleOfProgram } = await import("../../imports/programs.js");
			const title = titleOfProgram(session.program);
			const imports = await import("../../imports/import-session.js");
			const earlier = imports.earlierImports(dir).get(imports.importKey(session));
			if (earlier) {
				const again = `pi sessions import ${session.id} --again imports it as it is now`;
				const since = imports.isChangedSince(session, earlier) ? `, and continued there since: ${again}` : "";
				return { path: earlier.path, note: `Imported before from ${title}${since}` };
			}
			const made = await imports.importSession(session, { dir, cwd });
			const losses = imports.lossesOf(made).map(([word, what]) => `${word}: ${what}`);
			const count = plural(made.entries, "entry", "entries");
			return { path: made.path, note: [`Imported ${count} from ${title}`, ...losses].join(" · ") };
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

/** Files of some programs hold several sessions. */
function keyOf({ path, id }: FoundSession): string {
	return `${path}#${id}`;
}

function summaryOf(session: FoundSession, program: string): SessionSummary {
	const { id, title, modifiedAt, cwd } = session;
	return {
		...{ path: keyOf(session), id, name: null, firstMessage: title, modifiedAt, messageCount: null, cwd: cwd ?? "" },
		...{ bytes: statSync(session.path, { throwIfNoEntry: false })?.size ?? 0, program },
	};
}
