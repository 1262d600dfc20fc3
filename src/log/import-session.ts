import { resolve } from "node:path";
import { PiError } from "../errors.js";
import { type LinearEntry, toLinearEntry } from "./linear-entry.js";
import { SessionLog } from "./session-log.js";
import { readTreePath, type TreePath } from "./tree-file.js";

/** The result of an import. */
export interface SessionImport {
	/** The new session. */
	path: string;
	id: string;
	source: string;
	/** Number of imported entries, without the header. */
	entries: number;
	/** Number of entries on other branches. */
	leftOut: number;
	/** Number of lines of the source that cannot be read. */
	damaged: number;
	/** True if the source does not contain the beginning of the path. */
	isCut: boolean;
	/** Number of entries that are kept as custom entries, by type. */
	kept: Readonly<Record<string, number>>;
}

/**
 * Makes a session of a file in the tree format, in which each entry names its parent: the path from the root to the last
 * leaf becomes a linear session. The source is not changed.
 * @param options `dir` for the new session; `cwd` if the source does not name the directory in which it began
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`, `log_write_failed`
 */
export async function importSession(file: string, options: { dir: string; cwd: string }): Promise<SessionImport> {
	const source = resolve(file);
	const tree = readTreePath(source);
	const converted = toLinear(tree);
	if (converted.length === 0) throw new PiError("log_not_a_session", `Cannot import ${source}: it has no entries`);
	const cwd = typeof tree.header.cwd === "string" ? tree.header.cwd : options.cwd;
	let failure: PiError | undefined;
	const log = SessionLog.create({
		...{ dir: options.dir, cwd, branchedFrom: source },
		onWriteError: (error) => {
			failure ??= error;
		},
	});
	try {
		log.appendAll(converted.map(({ entry }) => entry));
		await log.flush();
	} finally {
		log.close();
	}
	if (failure) throw failure;
	const kept: Record<string, number> = {};
	for (const { unknown } of converted) if (unknown !== null) kept[unknown] = (kept[unknown] ?? 0) + 1;
	const { leftOut, damaged, isCut } = tree;
	return { path: log.path ?? "", id: log.id, source, entries: converted.length, leftOut, damaged, isCut, kept };
}

/** Each entry of the path becomes one entry, so that its index is its position plus one. */
function toLinear({ entries, otherLabels }: TreePath): LinearEntry[] {
	const indices = new Map<unknown, number>();
	for (const [position, { id }] of entries.entries()) indices.set(id, position + 1);
	return [...entries, ...otherLabels].map((entry, position) =>
		toLinearEntry(entry, (id) => indices.get(id), position + 1),
	);
}
