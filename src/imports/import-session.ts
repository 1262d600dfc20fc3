import { PiError } from "../errors.js";
import { sessionFiles } from "../log/catalog.js";
import { withFile } from "../log/open-file.js";
import { readSessionHeader } from "../log/read-entry.js";
import { SessionLog } from "../log/session-log.js";
import type { FoundSession, ProgramName } from "./program.js";
import { programNamed } from "./programs.js";

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
 * Makes a session of one of another program. The source is not changed.
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
	return { program, path: log.path ?? "", id: log.id, source, entries: entries.length, leftOut, damaged, isCut, kept };
}

/** The sessions of a directory that were imported: path of the session by `importKey`. */
export function earlierImports(dir: string): Map<string, string> {
	const found = new Map<string, string>();
	for (const path of sessionFiles(dir)) {
		const header = withFile(path, readSessionHeader);
		if (typeof header === "object" && header.importedFrom) found.set(importKey(header.importedFrom), path);
	}
	return found;
}

/** Identifies a session of another program, also if its file was moved. */
export function importKey({ program, id }: { program: string; id: string }): string {
	return `${program} ${id}`;
}
