import { readKeybindings } from "../config/keybindings-file.js";
import type { Environment } from "../config/paths.js";
import { agentDir, paths } from "../config/paths.js";
import type { LoadedSettings, Settings } from "../config/settings.js";
import { terminalFeatures } from "../config/terminal-features.js";
import { windowTraits } from "../config/window-traits.js";
import { PiError } from "../errors.js";
import { runInteractive } from "../modes/interactive/interactive-mode.js";
import type { CreateAgentSessionOptions } from "../session/create-session.js";
import { packageRoot, packageVersion } from "../util/package-root.js";
import type { PromptInput } from "./input.js";
import type { CliOptions } from "./options.js";
import { divertConsole, watchStrayErrors } from "./stray-errors.js";

/** What the command line knows of its surroundings. */
export interface CliContext {
	env: Environment;
	home: string;
	cwd: string;
	settings: LoadedSettings;
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
	const { first, rest } = await readPrompts(options, { cwd, home });
	const releases: (() => void)[] = [];
	let wantsDemo = false;
	const code = await runInteractive({
		async startSession({ askTrust, askGrant, ui, lastBytes }) {
			releases.push(keepScreenClean((line) => ui.notify(line, "info")));
			const [{ createAgentSession }, { sessionOptions }, { Watchdog }] = await Promise.all([
				import("../session/create-session.js"),
				import("./session-options.js"),
				import("../hooks/watchdog.js"),
			]);
			const described = await sessionOptions(options, context);
			const wanted = {
				...described,
				askTrust,
				askGrant,
				watch: new Watchdog({ restore: lastBytes }),
				...extras.session,
			};
			const session = await createAgentSession(wanted).catch(async (error: unknown) => {
				// Another pi has the session open: it keeps its file, this one may go on in a copy.
				const { session: choice } = wanted;
				if (!(error instanceof PiError) || error.code !== "log_locked" || choice?.kind !== "open") throw error;
				const copies = await ui.confirm("The session is open in another pi", "Go on in a copy of it?");
				if (!copies) throw error;
				return createAgentSession({ ...wanted, session: { ...choice, copy: true } });
			});
			releases.push(watchStrayErrors(session));
			return session;
		},
		settings: settings.settings,
		theme: themeName(settings.settings.theme, env),
		features: terminalFeatures(env),
		cwd: extras.session?.cwd ?? cwd,
		home,
		version: packageVersion(),
		keybindings: () => readKeybindings(paths(env, cwd, home).keybindings),
		window: windowTraits(env),
		terminalFacts: terminalFacts(env),
		// The demo is a visit: it notes nothing.
		...(extras.session ? {} : { news: () => findNews(settings.settings, env, home) }),
		editorCommand: env.VISUAL || env.EDITOR || null,
		prompts: [
			...(options.resume ? [{ text: "/resume" }] : []),
			...(first ? [first] : []),
			...rest.map((text) => ({ text })),
		],
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

async function findNews(settings: Settings, env: Environment, home: string) {
	const version = packageVersion();
	if (settings.lastChangelogVersion === version) return null;
	const { whatsNew } = await import("./whats-new.js");
	return whatsNew({ settings, version, agentDir: agentDir(env, home), packageDir: packageRoot() });
}

/**
 * Whatever else would write to the terminal becomes a notice: it would tear the screen apart.
 * @returns ends that
 */
function keepScreenClean(notify: (line: string) => void): () => void {
	const giveBack = divertConsole(notify);
	const onWarning = (warning: Error) => notify(`${warning.name}: ${warning.message}`);
	process.removeAllListeners("warning");
	process.on("warning", onWarning);
	return () => {
		giveBack();
		process.off("warning", onWarning);
	};
}

async function readPrompts({ files, messages }: CliOptions, base: { cwd: string; home: string }): Promise<PromptInput> {
	if (files.length + messages.length === 0) return { rest: [] };
	const { composePrompt, loadFileArguments } = await import("./input.js");
	return composePrompt({ files: await loadFileArguments(files, base), messages });
}

/** The theme to start with: no colour where the user or the terminal wants none. */
function themeName(theme: string | undefined, env: Environment): "dark" | "light" | "plain" {
	if (env.NO_COLOR || env.TERM === "dumb") return "plain";
	return theme === "light" || theme === "plain" ? theme : "dark";
}
