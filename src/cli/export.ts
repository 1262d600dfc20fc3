import { basename, join } from "node:path";
import { type Environment, paths as findPaths, resolveUserPath } from "../config/paths.js";
import { type ExportFormat, exportName, exportPieces, exportToFile, formatOfName } from "../export/formats.js";
import { findSession } from "../log/catalog.js";
import { isSessionInfoEntry } from "../log/entry.js";
import { SessionLog } from "../log/session-log.js";
import { SESSION_FILE_SUFFIX, sessionDirName } from "../log/session-paths.js";
import type { ModeIO } from "../modes/mode.js";
import { viewLog } from "../session/log-view.js";
import type { CliOptions } from "./options.js";
import { printLines } from "./standard-io.js";

/**
 * `pi --export <file> [<out>]`: exports a session as one HTML file and prints its path.
 * @throws PiError `log_not_found`, `log_not_a_session`, `export_failed`
 */
export async function runExport(
	{ file, out }: NonNullable<CliOptions["export"]>,
	options: Pick<CliOptions, "sessionDir">,
	{ env, cwd, home }: { env: Environment; cwd: string; home: string },
	io: ModeIO,
): Promise<number> {
	const dir = options.sessionDir
		? resolveUserPath(options.sessionDir, cwd, home)
		: join(findPaths(env, cwd, home).sessions, sessionDirName(cwd));
	const source = findSession(dir, file.includes("/") ? resolveUserPath(file, cwd, home) : file);
	const target = out === undefined ? {} : { out: resolveUserPath(out, cwd, home) };
	return exportSession(source, { cwd, format: "html", ...target }, io);
}

/**
 * Exports a session as one file and prints its path. Hooks do not run: their effect is shown as it was recorded.
 * @param out absolute; `-`: stdout. Default: a file in `cwd`, named after the session
 * @param format default: what the name of `out` says, else HTML
 * @throws PiError `log_not_a_session`, `export_failed`
 */
export async function exportSession(
	source: string,
	{ cwd, out, format }: { cwd: string; out?: string; format?: ExportFormat | undefined },
	io: ModeIO,
): Promise<number> {
	const log = SessionLog.open(source, { readOnly: true });
	try {
		const info = log.entry(log.findLast("session_info"));
		const options = { entries: viewLog(log), name: isSessionInfoEntry(info) ? info.name : null };
		const chosen = format ?? (out === undefined ? undefined : formatOfName(out)) ?? "html";
		if (out === "-") {
			for await (const piece of exportPieces(chosen, options)) await io.out(piece);
			return 0;
		}
		const target = out ?? join(cwd, exportName(`pi-session-${basename(source, SESSION_FILE_SUFFIX)}`, chosen));
		await exportToFile(target, chosen, options);
		await printLines(io, [target]);
		return 0;
	} finally {
		log.close();
	}
}
