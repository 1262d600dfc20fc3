import { readKeybindings } from "../config/keybindings-file.js";
import type { Environment } from "../config/paths.js";
import { paths } from "../config/paths.js";
import { projectRoot } from "../config/project-files.js";
import type { SettingsStore } from "../config/settings-store.js";
import { terminalColors } from "../config/terminal-colors.js";
import { terminalFeatures } from "../config/terminal-features.js";
import { runInteractive } from "../modes/interactive/interactive-mode.js";
import type { ThemeOptions } from "../modes/interactive/theme-controller.js";
import { packageRoot, packageVersion } from "../util/package-root.js";
import type { FirstPrompts } from "./first-prompts.js";
import type { CliContext, CliOptions } from "./options.js";
import { startSession, type TerminalExtras } from "./start-session.js";

/** Runs the interactive mode. Everything except screen and settings loads after the first paint. */
export async function runInteractiveCli(
	options: CliOptions,
	context: CliContext,
	extras: TerminalExtras,
	prompts: FirstPrompts,
): Promise<number> {
	const { env, home, cwd, settings } = context;
	const { session, suggestion, startDemo } = extras;
	return runInteractive({
		startSession: (questions) => startSession(options, context, extras, questions),
		settings,
		theme: themeOptions(context),
		features: terminalFeatures(env),
		cwd: session?.cwd ?? cwd,
		home,
		version: packageVersion(),
		keybindings: () => readKeybindings(paths(env, cwd, home).keybindings),
		terminalFacts: terminalFacts(env),
		// The demo saves no settings, so it would show the same news every time.
		...(session ? {} : { news: () => findNews(settings) }),
		findEditor: async () => (await import("../modes/interactive/external-editor.js")).findEditor(env, home),
		openLink: async (address) => (await import("../modes/desktop.js")).openLink(address, env),
		prompts,
		...(suggestion === undefined ? {} : { suggestion }),
		...(startDemo && { startDemo }),
	});
}

const TERMINAL_VARIABLES = ["TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM", "NO_COLOR", "TMUX", "LANG"];

/** Variables that describe the terminal, for bug reports. */
function terminalFacts(env: Environment): Record<string, string> {
	return Object.fromEntries(TERMINAL_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

async function findNews(settings: SettingsStore) {
	const version = packageVersion();
	if (settings.current.lastChangelogVersion === version) return null;
	const { whatsNew } = await import("./whats-new.js");
	return whatsNew({ settings, version, packageDir: packageRoot() });
}

/** Color level, background and theme directories. */
function themeOptions({ env, cwd, home }: CliContext): ThemeOptions {
	const { level, background } = terminalColors(env);
	const places = paths(env, cwd, home);
	const { themes: user, project } = places;
	return {
		level,
		background,
		// The Linux console prints color queries instead of answering them.
		queryBackground: env.TERM !== "linux",
		dirs: { user, project: project.themes, root: projectRoot(places) },
	};
}
