import { NO_ARGUMENTS, type ParsedArguments } from "./cli/options.js";
import { runSession } from "./cli/run-session.js";
import { describeError, PiError } from "./errors.js";

/** Command line → options → mode → exit code. Each mode is loaded only when it is needed. */
async function main(argv: readonly string[]): Promise<number> {
	const line: ParsedArguments =
		argv.length === 0 ? { kind: "session", options: NO_ARGUMENTS } : (await import("./cli/args.js")).parseArgs(argv);
	if (line.kind === "help") {
		if (line.topic) return print((await import("./cli/subcommand-help.js")).subcommandHelp(line.topic));
		if (!line.hooks) return print((await import("./cli/help.js")).HELP_TEXT);
		const [{ printHelp }, { standardIO }] = await Promise.all([
			import("./cli/hook-flags.js"),
			import("./cli/standard-io.js"),
		]);
		return printHelp(line.hooks, standardIO());
	}
	if (line.kind === "version") return print(`${(await import("./util/package-root.js")).packageVersion()}\n`);
	if (line.kind === "subcommand") {
		const { runSubcommand } = await import("./cli/subcommands/index.js");
		return runSubcommand(line.command, line.options, (await import("./cli/standard-io.js")).standardIO());
	}
	return runSession(line.options);
}

function print(text: string): number {
	process.stdout.write(text);
	return 0;
}

const USAGE_ERRORS = new Set(["bad_arguments", "not_a_terminal", "model_unknown"]);

async function reportFailure(error: unknown): Promise<void> {
	const { stripAll } = await import("./util/sanitize.js");
	process.stderr.write(`pi: ${stripAll(describeError(error))}\n`);
	if (process.argv.includes("--verbose") && error instanceof Error) process.stderr.write(`${error.stack}\n`);
	process.exitCode = error instanceof PiError && USAGE_ERRORS.has(error.code) ? 2 : 1;
}

/** Leftover handles, such as timers of hooks, delay the exit by at most this many ms. */
const LEFTOVERS_MS = 200;

main(process.argv.slice(2))
	.then((code) => {
		process.exitCode = code;
	}, reportFailure)
	.finally(() => setTimeout(() => process.exit(), LEFTOVERS_MS).unref());
