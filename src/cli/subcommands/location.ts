import { homedir } from "node:os";
import { join } from "node:path";
import {
	type Environment,
	paths as findPaths,
	type Paths,
	processEnvironment,
	resolveUserPath,
	runEnvironment,
} from "../../config/paths.js";
import type { Settings } from "../../config/settings-schema.js";
import { SettingsStore } from "../../config/settings-store.js";
import { sessionDirName } from "../../log/session-paths.js";
import type { SubcommandOptions } from "../options.js";

/** The surroundings of a command; what is left out is that of the process. */
export interface Surroundings {
	env?: Environment;
	cwd?: string;
	home?: string;
}

/** Where a sub-command works, and what the user has set. */
export interface Location {
	env: Environment;
	paths: Paths;
	settings: Settings;
	/** What is wrong with settings files, a line each. */
	warnings: readonly string[];
	/** The sessions of this directory. */
	sessionDir: string;
	/** `--trust`, `PI_TRUST`: project code runs this once. */
	trust: boolean;
	offline: boolean;
}

/** Reads the settings. Never throws: what is broken is in `warnings`. */
export function findLocation(options: SubcommandOptions, surroundings: Surroundings = {}): Location {
	const { env = processEnvironment(), cwd = process.cwd(), home = homedir() } = surroundings;
	const paths = findPaths(env, cwd, home);
	const { current: settings, problems: warnings } = new SettingsStore(paths);
	const run = runEnvironment(env, home);
	return {
		env,
		paths,
		settings,
		warnings,
		sessionDir:
			options.sessionDir === undefined
				? join(paths.sessions, sessionDirName(paths.cwd))
				: resolveUserPath(options.sessionDir, paths.cwd, paths.home),
		trust: options.trust || run.trust,
		offline: options.offline || run.offline,
	};
}
