import { utimesSync } from "node:fs";
import { PiError } from "../errors.js";
import { headerOf, sessionFiles } from "../log/catalog.js";
import { SessionLog } from "../log/session-log.js";
import { plural } from "../util/format-amounts.js";
import type { FoundSession, ProgramName } from "./program.js";
import { programNamed } from "./programs.js";
import { timeOf } from "./records.js";

/** The result of an import. */
export interface SessionImport {
	program: ProgramName;
	/** The new session. */
	path: string;
	id: string;
	/** The file that was read. */
	source: string;
	/** Number of imported entries, without the header. */
	entries: number;
	/** What is not taken over: number of lines or parts by what they are. */
	leftOut: Readonly<Record<string, number>>;
	/** Number of lines of the source that cannot be read. */
	damaged: number;
	/** True if the source does not contain the beginning of the session. */
	isCut: boolean;
	/** Number of entries that are kept as custom entries, by type. */
	kept: Readonly<Record<string, number>>;
}

/**
 * Makes a session of one of another program, whose file has the time of its last entry. The source is not changed.
 * @param options `dir` for the new session; `cwd` if the source does not name the directory in which it began
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`, `log_write_failed`
 */
export async function importSession(
	{ program, path: source, id }: Pick<FoundSession, "program" | "path" | "id">,
	options: { dir: string; cwd: string },
): Promise<SessionImport> {
	const { entries, cwd, ...read } = programNamed(program).read(source, id);
	const { leftOut, kept, damaged, isCut } = read;
	if (entries.length === 0) throw new PiError("log_not_a_session", `Cannot import ${source}: it has no entries`);
	let failure: PiError | undefined;
	const log = SessionLog.create({
		...{ dir: options.dir, cwd: cwd ?? options.cwd, branchedFrom: source, importedFrom: { program, id: read.id } },
		onWriteError: (error) => {
			failure ??= error;
		},
	});
	try {
		log.appendAll(entries);
		await log.flush();
	} finally {
		log.close();
	}
	if (failure) throw failure;
	const path = log.path ?? "";
	setModified(path, [...entries.map((entry) => ("timestamp" in entry ? entry.timestamp : undefined)), read.startedAt]);
	return { program, path, id: log.id, source, entries: entries.length, leftOut, damaged, isCut, kept };
}

/** Lists show when a session was last used, not when it was imported. */
function setModified(path: string, times: readonly unknown[]): void {
	const last = times.reduce((latest: number, time) => Math.max(latest, timeOf(time) ?? 0), 0);
	if (last === 0 || last > Date.now()) return;
	try {
		utimesSync(path, last / 1000, last / 1000);
	} catch {
		// A file system without times of its own: the session is complete, and listed by the time of the import.
	}
}

/**
 * What an import did not take over as it was, for people: each a word and its explanation.
 * @returns empty if nothing is missing
 */
export function lossesOf({ leftOut, damaged, isCut, kept }: SessionImport): [word: string, what: string][] {
	const omitted = Object.entries(leftOut).sort(([, a], [, b]) => b - a);
	const unknown = Object.entries(kept);
	const count = unknown.reduce((sum, [, number]) => sum + number, 0);
	const losses: [string, string][] = [];
	if (omitted.length > 0) losses.push(["omitted", omitted.map(([what, number]) => `${what} (${number})`).join(", ")]);
	if (damaged > 0) losses.push(["skipped", `${plural(damaged, "line")} that cannot be read`]);
	if (isCut) losses.push(["missing", "the beginning: the parent of the first imported entry is not in the file"]);
	if (count > 0) {
		const types = unknown.map(([type, number]) => `${number} ${type}`).join(", ");
		losses.push(["unknown", `${plural(count, "entry", "entries")} kept as custom entries: ${types}`]);
	}
	return losses;
}

/** A session that an import has made. */
export interface EarlierImport {
	path: string;
	/** ms since the epoch. */
	importedAt: number;
}

/** The sessions of a directory that were imported, by `importKey`; of several imports the last. */
export function earlierImports(dir: string): Map<string, EarlierImport> {
	const found = new Map<string, EarlierImport>();
	for (const path of sessionFiles(dir)) {
		const header = headerOf(path);
		if (!header?.importedFrom) continue;
		const key = importKey(header.importedFrom);
		const importedAt = Date.parse(header.timestamp) || 0;
		if (importedAt >= (found.get(key)?.importedAt ?? 0)) found.set(key, { path, importedAt });
	}
	return found;
}

/** Whether a session was changed in its program after it was imported. */
export function isChangedSince(
	{ modifiedAt }: Pick<FoundSession, "modifiedAt">,
	{ importedAt }: EarlierImport,
): boolean {
	// The time of an import has no fractions of a millisecond.
	return Math.floor(modifiedAt) > importedAt;
}

/** Identifies a session of another program, also if its file was moved. */
export function importKey({ program, id }: { program: string; id: string }): string {
	return `${program} ${id}`;
}
