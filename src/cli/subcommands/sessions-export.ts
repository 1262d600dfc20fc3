import { resolveUserPath } from "../../config/paths.js";
import { findSession } from "../../log/catalog.js";
import { exportSession } from "../export.js";
import type { SessionsSubcommand } from "../options.js";
import type { SubcommandContext } from "./location.js";
import { dirsOf } from "./printed-sessions.js";

/**
 * `pi sessions export TARGET [OUT]`: writes a session in the format of the option or of the file's name.
 * @throws PiError `log_not_found`, `log_not_a_session`, `export_failed`
 */
export async function exportNamedSession(
	{ target, out, format, all }: Extract<SessionsSubcommand, { action: "export" }>,
	{ location, io }: SubcommandContext,
): Promise<number> {
	const { cwd, home } = location.paths;
	const source = findSession(dirsOf(location, all), target);
	const file = out === undefined || out === "-" ? out : resolveUserPath(out, cwd, home);
	return exportSession(source, { cwd, format, ...(file !== undefined && { out: file }) }, io);
}
