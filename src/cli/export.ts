import { basename, join } from "node:path";
import { type Environment, paths as findPaths, resolveUserPath } from "../config/paths.js";
import { exportToFile } from "../export/html.js";
import { findSession } from "../log/catalog.js";
import { isSessionInfoEntry } from "../log/entry.js";
import { SessionLog } from "../log/session-log.js";
import { SESSION_FILE_SUFFIX, sessionDirName } from "../log/session-paths.js";
import type { ModeIO } from "../modes/mode.js";
import { viewLog } from "../session/log-view.js";
import type { CliOptions } from "./options.js";
import { printLines } from "./standard-io.js";

/**
 * `pi --export <file> [<out>]`: exports a session as one HTML file and prints its path. Without `out`, the file is
 * named after the session and written to the working directory. Hooks do not run: their effect is shown as it was recorded.
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
	const log = SessionLog.open(source, { readOnly: true });
	try {
		const info = log.entry(log.findLast("session_info"));
		const name = basename(source, SESSION_FILE_SUFFIX);
		const target = resolveUserPath(out ?? `pi-session-${name}.html`, cwd, home);
		await exportToFile(target, {
			entries: viewLog(log),
			title: isSessionInfoEntry(info) ? info.name : name,
		});
		await printLines(io, [target]);
		return 0;
	} finally {
		log.close();
	}
}
