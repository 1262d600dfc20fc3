import { homedir } from "node:os";
import { isatty } from "node:tty";
import { agentDir, paths, processEnvironment } from "../config/paths.js";
import { SettingsStore } from "../config/settings-store.js";
import { PiError } from "../errors.js";
import { setUpNetwork } from "../network/network.js";
import { firstPrompts } from "./first-prompts.js";
import type { CliContext, CliOptions } from "./options.js";
import type { TerminalExtras } from "./start-session.js";

/** Runs what the options of a session ask for: an export, the list of models, the demo or a mode. @returns the exit code */
export async function runSession(given: CliOptions): Promise<number> {
	const options = await enterWorktree(given);
	const env = processEnvironment();
	const cwd = process.cwd();
	const home = homedir();
	const settings = new SettingsStore({ agentDir: agentDir(env, home), cwd });
	const context = { env, home, cwd, settings };
	if (options.hookFlags) (await import("./hook-flags.js")).checkHookFlags(options, context);
	await setUpNetwork(env);
	if (options.export) {
		const { runExport } = await import("./export.js");
		return runExport(options.export, options, { env, cwd, home }, await standardIO());
	}
	if (options.listModels !== undefined) {
		const [{ listModels }, { HookWatch }, io] = await Promise.all([
			import("./list-models.js"),
			import("./hook-watch.js"),
			standardIO(),
		]);
		const watch = new HookWatch((line) => io.err(`${line}\n`));
		return listModels(options.listModels, { ...(await loadSessionOptions(options, context)), watch }, io);
	}
	// `process.stdin` would open a stream, which most modes do not need.
	const hasTerminal = isatty(0) && isatty(1);
	if (options.demo && !(hasTerminal && !options.print && options.mode === undefined)) {
		const { playDemo } = await import("./demo.js");
		return playDemo(options, context);
	}
	if (options.mode === "acp" && !options.login) {
		const [{ runAcp }, described] = await Promise.all([import("./run-acp.js"), loadSessionOptions(options, context)]);
		return runAcp(described, context, await standardIO());
	}
	if (options.mode === "rpc") {
		const [{ runRpc }, described] = await Promise.all([import("./run-rpc.js"), loadSessionOptions(options, context)]);
		return runRpc(described, await standardIO());
	}
	if (options.print || (options.mode !== undefined && !options.login)) {
		// The slowest module, always needed: loading it in parallel with the rest saves time.
		void import("../util/pi-ai.js");
		const [{ runHeadless }, described] = await Promise.all([
			import("./run-headless.js"),
			loadSessionOptions(options, context),
		]);
		return runHeadless(options, { ...described, cwd, home }, await standardIO());
	}
	if (!hasTerminal) {
		throw new PiError("not_a_terminal", "stdin or stdout is not a terminal", { hint: 'use pi -p "prompt"' });
	}
	return runTerminal(options.login ? await loginOptions(options, context) : options, context);
}

/** `--on worktree:<name>`: everything is as if pi had been started in that worktree. @returns the other options */
async function enterWorktree(options: CliOptions): Promise<CliOptions> {
	const [isWorktree, name = ""] = /^worktree(?::(.*))?$/s.exec(options.on ?? "") ?? [];
	if (isWorktree === undefined) return options;
	if (options.mode === "acp") {
		throw new PiError("bad_arguments", "pi acp does not accept --on worktree:<name>", {
			hint: "the client chooses the directory of each session",
		});
	}
	const { openWorktree } = await import("../resources/git-worktrees.js");
	const { directory, description } = await openWorktree(process.cwd(), name);
	process.chdir(directory);
	process.stderr.write(`${description}\n`);
	return { ...options, on: undefined };
}

/** Options of a terminal session that asks for a login: without a model, every session does. */
async function loginOptions(options: CliOptions, context: CliContext): Promise<CliOptions> {
	const [{ checkLogin }, described] = await Promise.all([import("./run-acp.js"), loadSessionOptions(options, context)]);
	const messages = await checkLogin(described, context).then(
		() => ["/login"],
		() => [],
	);
	return { ...options, mode: undefined, keepSession: false, messages };
}

async function loadSessionOptions(options: CliOptions, context: CliContext) {
	return (await import("./session-options.js")).sessionOptions(options, context);
}

async function standardIO() {
	return (await import("./standard-io.js")).standardIO();
}

/** Runs the interactive or plain mode; the demo with `--demo`, or when the user asks for it during the session. */
async function runTerminal(options: CliOptions, context: CliContext): Promise<number> {
	if (options.demo) return runDemo(options, context);
	let wantsDemo = false;
	const startDemo = () => {
		wantsDemo = true;
	};
	const releases: (() => void)[] = [];
	const code = await openTerminal(options, context, { startDemo, releases });
	if (!wantsDemo) return code;
	for (const release of releases) release();
	return runDemo({ ...options, demo: true, files: [], messages: [] }, context);
}

async function runDemo(options: CliOptions, context: CliContext): Promise<number> {
	const { withDemo, DEMO_SUGGESTION } = await import("./demo.js");
	return withDemo(options, context, {}, (session) =>
		openTerminal(options, context, { session, suggestion: DEMO_SUGGESTION, releases: [] }),
	);
}

async function openTerminal(options: CliOptions, context: CliContext, extras: TerminalExtras): Promise<number> {
	if (!options.demo && (options.model ?? options.provider ?? options.models) !== undefined) {
		const { AcceptedNames } = await import("./accepted-names.js");
		if (!new AcceptedNames(paths(context.env, context.cwd, context.home)).has(options)) {
			const { checkModelOptions } = await import("./check-models.js");
			return openScreen(await checkModelOptions(options, context), context, extras);
		}
	}
	return openScreen(options, context, extras);
}

async function openScreen(options: CliOptions, context: CliContext, extras: TerminalExtras): Promise<number> {
	const prompts = await firstPrompts(options, context);
	if (options.plain || context.settings.current.plain || context.env.TERM === "dumb") {
		const { runPlainCli } = await import("./run-plain.js");
		return runPlainCli(options, context, extras, prompts);
	}
	// Before any heavy module loads: in cooked mode the terminal echoes keys and handles some of them itself.
	process.stdin.setRawMode(true);
	const { runInteractiveCli } = await import("./run-interactive.js");
	return runInteractiveCli(options, context, extras, prompts);
}
