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
import type { FindLocalOptions } from "../../models/local-servers.js";
import type { ModeIO } from "../../modes/mode.js";
import type { HookWatch } from "../hook-watch.js";
import type { SubcommandOptions } from "../options.js";

/** Environment of a command. Default: that of the process. */
export interface CommandEnvironment {
	env?: Environment;
	cwd?: string;
	home?: string;
	/** Ports of local model servers. */
	localServers?: FindLocalOptions;
	/** Watches the hooks that a command loads. Default: nothing does. */
	watch?: HookWatch;
}

/** Paths, environment and settings of a subcommand. */
export interface Location {
	env: Environment;
	paths: Paths;
	settings: Settings;
	/** Problems in settings files, one line each. */
	warnings: readonly string[];
	/** Directory of the sessions of `paths.cwd`. */
	sessionDir: string;
	/** `--trust`, `PI_TRUST`: project code may run, this time only. */
	trust: boolean;
	/** Default: the usual ports. */
	localServers?: FindLocalOptions;
	/** Watches the hooks that the command loads. */
	watch?: HookWatch;
}

/** Everything that a subcommand works with. */
export interface SubcommandContext {
	location: Location;
	options: SubcommandOptions;
	io: ModeIO;
}

/** Reads the settings. Never throws: problems are in `warnings`. */
export function findLocation(
	options: Pick<SubcommandOptions, "sessionDir" | "trust">,
	environment: CommandEnvironment = {},
): Location {
	const { env = processEnvironment(), cwd = process.cwd(), home = homedir(), localServers, watch } = environment;
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
		...(localServers && { localServers }),
		...(watch && { watch }),
	};
}
