import { join } from "node:path";
import { paths as findPaths, type Paths, resolveUserPath } from "../config/paths.js";
import { allMachineWords, machineWords } from "../hooks/bundled-words.js";
import { isChosen } from "../hooks/discover.js";
import { type FlagDeclaration, listFlags } from "../hooks/flags.js";
import { findSession, latestSession, namedSession } from "../log/catalog.js";
import { lastMachine } from "../log/last-choices.js";
import { SessionLog } from "../log/session-log.js";
import { sessionDirName } from "../log/session-paths.js";
import type { ExitCode, ModeIO } from "../modes/mode.js";
import { homePath } from "../util/home-path.js";
import { stripAll } from "../util/sanitize.js";
import { HELP_TEXT } from "./help.js";
import { HookWatch } from "./hook-watch.js";
import { type CliContext, type CliOptions, type HookOptions, isHeadless } from "./options.js";
import { printNotices } from "./standard-io.js";
import { discover, loadChosenHooks } from "./subcommands/find-hooks.js";
import { type CommandEnvironment, findLocation } from "./subcommands/location.js";

/**
 * Checks flags that only a hook can declare before anything starts.
 * @throws PiError `bad_arguments` if the session will load no hook that could declare them
 */
export function checkHookFlags(options: CliOptions, { env, home, cwd, settings }: CliContext): void {
	const problem = options.hookFlags?.read([]).problem;
	if (!problem) return;
	const paths = findPaths(env, cwd, home);
	const on = options.on ?? loggedMachine(options, paths) ?? settings.current.on;
	const hooks = [...options.hooks, ...(options.resume ? allMachineWords() : machineWords(on))];
	const { files } = discover({ paths, settings: settings.current }, { ...options, hooks });
	const { extensions = [] } = options;
	const hasPackages = extensions.length > 0 || (options.findHooks && settings.current.packages.length > 0);
	if (!hasPackages && !files.some(isChosen)) throw problem;
}

/** The host that the session to open names, or null. */
function loggedMachine(options: CliOptions, paths: Paths): string | null {
	const { continue: continues, session, sessionDir, keepSession, resumeOrNew } = options;
	const dir = resolveUserPath(sessionDir ?? join(paths.sessions, sessionDirName(paths.cwd)), paths.cwd, paths.home);
	if (!keepSession) return null;
	const findChosen = () => {
		if (session !== undefined) return findSession(dir, session);
		if (resumeOrNew !== undefined) return namedSession(dir, resumeOrNew);
		return continues ? latestSession(dir, { withPrinted: isHeadless(options) }) : null;
	};
	try {
		const path = findChosen();
		if (path === null) return null;
		const log = SessionLog.open(path, { readOnly: true });
		try {
			return lastMachine(log)?.on ?? null;
		} finally {
			log.close();
		}
	} catch {
		return null; // the start of the session reports a file that cannot be opened
	}
}

/** Prints the help and the flags of the hooks that may run here. Loads the hooks, without a session. */
export async function printHelp(
	options: HookOptions,
	io: ModeIO,
	environment: CommandEnvironment = { watch: new HookWatch((line) => printNotices(io, [line])) },
): Promise<ExitCode> {
	const location = findLocation(options, environment);
	const { hooks, notices } = await loadChosenHooks(location, options);
	const { flags, warnings } = listFlags(hooks);
	const sections = hooks.flatMap(({ name, path }) => {
		const own = flags.filter(({ hook }) => hook === path);
		if (own.length === 0) return [];
		return [`\n${stripAll(`Hook ${name} (${homePath(path, location.paths.home)})`)}\n${own.map(flagLine).join("")}`];
	});
	await io.out(HELP_TEXT + sections.join(""));
	for (const hook of hooks) hook.active = false;
	printNotices(io, [...notices, ...warnings]);
	return 0;
}

/** Width of the first column of the help. */
const COLUMN = 28;

function flagLine({ name, type, description, default: value }: FlagDeclaration): string {
	const label = `  --${name}${type === "string" ? " <value>" : ""}`;
	const usual = value === undefined || value === false || value === "" ? "" : ` (default: ${stripAll(String(value))})`;
	const text = `${description}${usual}`.trim();
	if (text === "") return `${label}\n`;
	return label.length < COLUMN - 1 ? `${label.padEnd(COLUMN)}${text}\n` : `${label}\n${" ".repeat(COLUMN)}${text}\n`;
}
