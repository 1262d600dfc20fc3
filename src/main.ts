import { homedir } from "node:os";
import { parseArgs } from "./cli/args.js";
import { HELP_TEXT } from "./cli/help.js";
import type { CliOptions } from "./cli/options.js";
import { sessionOptions } from "./cli/session-options.js";
import { standardIO } from "./cli/standard-io.js";
import { agentDir, processEnvironment } from "./config/paths.js";
import { loadSettings } from "./config/settings.js";
import { describeError, PiError } from "./errors.js";
import { packageVersion } from "./util/package-root.js";
import { stripAll } from "./util/sanitize.js";

/** Command line → options → mode → exit code. */
async function main(argv: readonly string[]): Promise<number> {
	const line = parseArgs(argv);
	if (line.kind === "help") return print(HELP_TEXT);
	if (line.kind === "version") return print(`${packageVersion()}\n`);
	if (line.kind === "subcommand") {
		const { runSubcommand } = await import("./cli/subcommands/index.js");
		return runSubcommand(line.command, line.options, standardIO());
	}
	return runSession(line.options);
}

async function runSession(options: CliOptions): Promise<number> {
	const env = processEnvironment();
	const cwd = process.cwd();
	const home = homedir();
	const settings = loadSettings({ agentDir: agentDir(env, home), cwd });
	const context = { env, home, cwd, settings };
	if (options.listModels !== undefined) {
		const { listModels } = await import("./cli/list-models.js");
		return listModels(options.listModels, await sessionOptions(options, context), standardIO());
	}
	if (options.demo) {
		const { runDemo } = await import("./cli/demo.js");
		return runDemo(options, context, standardIO());
	}
	if (options.print || options.mode !== undefined) {
		const { runHeadless } = await import("./cli/run-headless.js");
		return runHeadless(options, { ...(await sessionOptions(options, context)), cwd, home }, standardIO());
	}
	if (!process.stdin.isTTY || !process.stdout.isTTY) {
		throw new PiError("not_a_terminal", "stdin or stdout is not a terminal", { hint: 'use pi -p "prompt"' });
	}
	const { runInteractiveCli } = await import("./cli/run-interactive.js");
	return runInteractiveCli(options, context);
}

function print(text: string): number {
	process.stdout.write(text);
	return 0;
}

const USAGE_ERRORS = new Set(["bad_arguments", "not_a_terminal"]);

main(process.argv.slice(2)).then(
	(code) => {
		process.exitCode = code;
	},
	(error: unknown) => {
		process.stderr.write(`pi: ${stripAll(describeError(error))}\n`);
		if (process.argv.includes("--verbose") && error instanceof Error) process.stderr.write(`${error.stack}\n`);
		process.exitCode = error instanceof PiError && USAGE_ERRORS.has(error.code) ? 2 : 1;
	},
);
