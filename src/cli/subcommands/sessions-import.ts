import { resolveUserPath } from "../../config/paths.js";
import { importSession as importFile, type SessionImport } from "../../log/import-session.js";
import { plural } from "../../modes/format.js";
import { printJson, printLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { filesOf, idOfFile, shortId } from "./session-rows.js";

/**
 * `pi sessions import FILE`: makes a session of this directory from a file in the tree format.
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`, `log_write_failed`
 */
export async function importSession(file: string, { location, options, io }: SubcommandContext): Promise<number> {
	const { paths, sessionDir } = location;
	const imported = await importFile(resolveUserPath(file, paths.cwd, paths.home), { dir: sessionDir, cwd: paths.cwd });
	if (options.json) await printJson(io, imported);
	else {
		const id = shortId(imported.id, filesOf(sessionDir).map(idOfFile));
		await printLines(io, [...importLines(imported), `open it with pi --session ${id}, or pi --continue`]);
	}
	return 0;
}

function importLines({ path, id, entries, leftOut, damaged, isCut, kept }: SessionImport): string[] {
	const types = Object.entries(kept);
	const count = types.reduce((sum, [, number]) => sum + number, 0);
	return [
		`file      ${path}`,
		`id        ${id}`,
		`imported  ${plural(entries, "entry", "entries")}`,
		...(leftOut > 0 ? [`omitted   ${plural(leftOut, "entry", "entries")} of other branches`] : []),
		...(damaged > 0 ? [`skipped   ${plural(damaged, "line")} that cannot be read`] : []),
		...(isCut ? ["missing   the beginning: the parent of the first imported entry is not in the file"] : []),
		...(count > 0
			? [
					`unknown   ${plural(count, "entry", "entries")} kept as custom entries: ${types.map(([type, n]) => `${n} ${type}`).join(", ")}`,
				]
			: []),
	];
}
