import { readKeybindings } from "../config/keybindings-file.js";
import type { Environment } from "../config/paths.js";
import { paths } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import { terminalColours } from "../config/terminal-colours.js";
import { terminalFeatures } from "../config/terminal-features.js";
import { runInteractive } from "../modes/interactive/interactive-mode.js";
import type { ThemeOptions } from "../modes/interactive/theme-controller.js";
import type { CreateAgentSessionOptions } from "../session/create-session.js";
import { packageRoot, packageVersion } from "../util/package-root.js";
import type { CliOptions } from "./options.js";
import { firstPrompts, startSession } from "./start-session.js";

/** What the command line knows of its surroundings. */
export interface CliContext {
	env: Environment;
	home: string;
	cwd: string;
	settings: SettingsStore;
}

/** What an interactive run is given besides the command line. */
export interface InteractiveExtras {
	/** Takes the place of what the command line says of the session. */
	session?: Partial<CreateAgentSessionOptions>;
	/** Text in the editor at the start. */
	draft?: string;
}

/** Runs the shell. Everything but screen and settings is loaded after the first paint. */
export async function runInteractiveCli(
	options: CliOptions,
	context: CliContext,
	extras: InteractiveExtras = {},
): Promise<number> {
	const { env, home, cwd, settings } = context;
	const prompts = await firstPrompts(options, { cwd, home });
	const releases: (() => void)[] = [];
	let wantsDemo = false;
	const code = await runInteractive({
		startSession: (questions) => startSession({ options, context, session: extras.session }, questions, releases),
		settings,
		theme: themeOptions(context),
		features: terminalFeatures(env),
		cwd: extras.session?.cwd ?? cwd,
		home,
		version: packageVersion(),
		keybindings: () => readKeybindings(paths(env, cwd, home).keybindings),
		terminalFacts: terminalFacts(env),
		// The demo is a visit: it notes nothing.
		...(extras.session ? {} : { news: () => findNews(settings) }),
		editorCommand: env.VISUAL || env.EDITOR || null,
		prompts,
		...(extras.draft === undefined ? {} : { draft: extras.draft }),
		...(options.demo
			? {}
			: {
					startDemo: () => {
						wantsDemo = true;
					},
				}),
	});
	if (!wantsDemo) return code;
	for (const release of releases) release();
	const { runDemo } = await import("./demo.js");
	return runDemo({ ...options, demo: true, files: [], messages: [] }, context);
}

const TERMINAL_VARIABLES = ["TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM", "NO_COLOR", "TMUX", "LANG"];

/** What the environment says of the terminal. */
function terminalFacts(env: Environment): Record<string, string> {
	return Object.fromEntries(TERMINAL_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

async function findNews(settings: SettingsStore) {
	const version = packageVersion();
	if (settings.current.lastChangelogVersion === version) return null;
	const { whatsNew } = await import("./whats-new.js");
	return whatsNew({ settings, version, packageDir: packageRoot() });
}

/** What the colours come from. */
function themeOptions({ env, cwd, home }: CliContext): ThemeOptions {
	const { level, background } = terminalColours(env);
	const { themes: user, project } = paths(env, cwd, home);
	return {
		level,
		background,
		// The text console shows a question as it is instead of answering it.
		asks: env.TERM !== "linux",
		dirs: { user, project: project.themes },
	};
}
