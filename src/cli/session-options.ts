import { resolveUserPath, runEnvironment } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import { allMachineWords, isBundledWord } from "../hooks/bundled-words.js";
import type { CreateAgentSessionOptions, SessionChoice } from "../sdk/create-session.js";
import { type CliContext, type CliOptions, isHeadless } from "./options.js";
import { textOrFile } from "./prompt-input.js";

/** The options of a session of the program: it shares its settings with the session, and its hooks are files. */
export interface CliSessionOptions extends CreateAgentSessionOptions {
	settings: SettingsStore;
	hooks: readonly string[];
}

/** Session options of a command line, with paths resolved and prompt files read. */
export async function sessionOptions(options: CliOptions, context: CliContext): Promise<CliSessionOptions> {
	const { env, home, cwd, settings } = context;
	const run = runEnvironment(env, home);
	const base = { cwd, home };
	const append = await Promise.all(options.appendSystemPrompt.map((value) => textOrFile(value, base)));
	return {
		cwd,
		env,
		home,
		settings,
		session: sessionChoice(options),
		...given("sessionDir", options.sessionDir && resolveUserPath(options.sessionDir, cwd, home)),
		...given("model", options.model),
		...given("provider", options.provider),
		...given("models", options.models),
		...given("apiKey", options.apiKey),
		...given("thinkingLevel", options.thinking),
		...given("tools", options.tools),
		customTools: options.customTools.map((path) => resolveUserPath(path, cwd, home)),
		hooks: [...hookArguments(options.hooks, base), ...(options.resume && options.hookFlags ? allMachineWords() : [])],
		...(options.extensions ? await extensionOptions(options.extensions, base) : {}),
		discoverHooks: options.findHooks,
		// A guard that is misspelled must not be missing.
		requireNamed: true,
		...given("readFlags", options.hookFlags?.read),
		contextFiles: options.contextFiles,
		mcp: options.mcp,
		...given("on", options.on),
		offline: options.offline || run.offline,
		mcpFiles: options.mcpFiles.map((path) => resolveUserPath(path, cwd, home)),
		skills: options.skills,
		discoverSkills: options.findSkills,
		...given("systemPrompt", options.systemPrompt && (await textOrFile(options.systemPrompt, base))),
		...given("appendSystemPrompt", append.length > 0 ? append.join("\n\n") : undefined),
		...given("trust", options.trust || run.trust || undefined),
		verbose: options.verbose,
	};
}

/** `-e` names extensions and packages. */
async function extensionOptions(
	values: readonly string[],
	{ cwd, home }: { cwd: string; home: string },
): Promise<Pick<CliSessionOptions, "extensions" | "packages">> {
	const { splitExtensionArguments } = await import("../packages/extension-arguments.js");
	return splitExtensionArguments(values, { dir: cwd, home });
}

/** The `--hook` options with paths resolved; `pi:name` is a bundled hook. */
export function hookArguments(hooks: readonly string[], { cwd, home }: { cwd: string; home: string }): string[] {
	return hooks.map((path) => (isBundledWord(path) ? path : resolveUserPath(path, cwd, home)));
}

function sessionChoice(options: CliOptions): SessionChoice {
	if (!options.keepSession) return { kind: "memory" };
	if (options.resumeOrNew !== undefined) return { kind: "named", name: options.resumeOrNew };
	if (options.session !== undefined) return { kind: "open", target: options.session };
	return options.continue ? { kind: "continue", printed: isHeadless(options) } : { kind: "new" };
}

function given<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
	return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
