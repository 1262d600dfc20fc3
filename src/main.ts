import { homedir } from "node:os";
import { type CliOptions, NO_ARGUMENTS, type ParsedArguments } from "./cli/options.js";
import { runTerminal } from "./cli/run-terminal.js";
import { agentDir, processEnvironment } from "./config/paths.js";
import { SettingsStore } from "./config/settings-store.js";
import { describeError, PiError } from "./errors.js";
import { pacedFetch } from "./util/paced-fetch.js";

/** Command line → options → mode → exit code. Each mode is loaded only when it is asked for. */
async function main(argv: readonly string[]): Promise<number> {
	const line: ParsedArguments =
		argv.length === 0 ? { kind: "session", options: NO_ARGUMENTS } : (await import("./cli/args.js")).parseArgs(argv);
	if (line.kind === "help") return print((await import("./cli/help.js")).HELP_TEXT);
	if (line.kind === "version") return print(`${(await import("./util/package-root.js")).packageVersion()}\n`);
	if (line.kind === "subcommand") {
		const { runSubcommand } = await import("./cli/subcommands/index.js");
		return runSubcommand(line.command, line.options, await standardIO());
	}
	return runSession(line.options);
}

async function runSession(options: CliOptions): Promise<number> {
	const env = processEnvironment();
	const cwd = process.cwd();
	const home = homedir();
	const settings = new SettingsStore({ agentDir: agentDir(env, home), cwd });
	const context = { env, home, cwd, settings };
	globalThis.fetch = pacedFetch(globalThis.fetch);
	if (options.export) {
		const { runExport } = await import("./cli/export.js");
		return runExport(options.export, options, { env, cwd, home }, await standardIO());
	}
	if (options.listModels !== undefined) {
		const { listModels } = await import("./cli/list-models.js");
		const { sessionOptions } = await import("./cli/session-options.js");
		return listModels(options.listModels, await sessionOptions(options, context), await standardIO());
	}
	const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
	if (options.demo && !(hasTerminal && !options.print && options.mode === undefined)) {
		const { playDemo } = await import("./cli/demo.js");
		return playDemo(options, context);
	}
	if (options.mode === "rpc") {
		const [{ runRpc }, { sessionOptions }] = await Promise.all([
			import("./cli/run-rpc.js"),
			import("./cli/session-options.js"),
		]);
		return runRpc(await sessionOptions(options, context), await standardIO());
	}
	if (options.print || options.mode !== undefined) {
		// The slowest part to load, and always needed: it loads while the rest is set up.
		void import("@mariozechner/pi-ai");
		const [{ runHeadless }, { sessionOptions }] = await Promise.all([
			import("./cli/run-headless.js"),
			import("./cli/session-options.js"),
		]);
		return runHeadless(options, { ...(await sessionOptions(options, context)), cwd, home }, await standardIO());
	}
	if (!hasTerminal) {
		throw new PiError("not_a_terminal", "stdin or stdout is not a terminal", { hint: 'use pi -p "prompt"' });
	}
	return runTerminal(options, context);
}

async function standardIO() {
	return (await import("./cli/standard-io.js")).standardIO();
}

function print(text: string): number {
	process.stdout.write(text);
	return 0;
}

const USAGE_ERRORS = new Set(["bad_arguments", "not_a_terminal"]);

async function reportFailure(error: unknown): Promise<void> {
	const { stripAll } = await import("./util/sanitize.js");
	process.stderr.write(`pi: ${stripAll(describeError(error))}\n`);
	if (process.argv.includes("--verbose") && error instanceof Error) process.stderr.write(`${error.stack}\n`);
	process.exitCode = error instanceof PiError && USAGE_ERRORS.has(error.code) ? 2 : 1;
}

/** ms that what was left behind, such as a timer of a hook, may keep a program that is done. */
const LEFTOVERS_MS = 200;

main(process.argv.slice(2))
	.then((code) => {
		process.exitCode = code;
	}, reportFailure)
	.finally(() => setTimeout(() => process.exit(), LEFTOVERS_MS).unref());
