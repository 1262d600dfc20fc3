import { fstatSync } from "node:fs";
import { NO_ARGUMENTS, type ParsedArguments } from "./cli/options.js";
import { requireAgentDirectory, requireWorkingDirectory } from "./cli/required-directories.js";
import { runSession } from "./cli/run-session.js";
import { describeError, exitCodeOf } from "./errors.js";
import { monotonicMs } from "./util/clock.js";

/** Command line → options → mode → exit code. Each mode is loaded only when it is needed. */
async function main(argv: readonly string[]): Promise<number> {
	requireWorkingDirectory();
	const line: ParsedArguments =
		argv.length === 0
			? { kind: "session", options: NO_ARGUMENTS }
			: await (await import("./cli/command-line.js")).readCommandLine(argv);
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
	requireAgentDirectory();
	if (line.kind === "subcommand") {
		const { runSubcommand } = await import("./cli/subcommands/index.js");
		return runSubcommand(line.command, line.options, (await import("./cli/standard-io.js")).standardIO());
	}
	return runSession(line.options);
}

async function print(text: string): Promise<number> {
	const { standardIO } = await import("./cli/standard-io.js");
	await standardIO().out(text);
	return 0;
}

async function reportFailure(error: unknown): Promise<void> {
	const { stripAll } = await import("./util/sanitize.js");
	process.stderr.write(`pi: ${stripAll(describeError(error))}\n`);
	if (process.argv.includes("--verbose") && error instanceof Error)
		process.stderr.write(`${stripAll(error.stack ?? "")}\n`);
	process.exitCode = exitCodeOf(error);
}

/** Leftover handles, such as timers of hooks, delay the exit by at most this many ms. */
const LEFTOVERS_MS = 200;

/** Time between two looks at what is left, ms. */
const LOOK_MS = 2;

/**
 * Exits as soon as nothing is left to do, or after `LEFTOVERS_MS`. At a natural end, Node waits for code that it compiles in
 * the background; that end is left to programs that asked for it with a `beforeExit` listener.
 */
function exit(): void {
	const last = monotonicMs() + LEFTOVERS_MS;
	const look = () => {
		if (!hasLeftovers() || monotonicMs() > last) process.exit();
		setTimeout(look, LOOK_MS);
	};
	if (process.listenerCount("beforeExit") > 0) setTimeout(() => process.exit(), LEFTOVERS_MS).unref();
	// Node reports a rejected promise after the current turn.
	else setImmediate(look);
}

/** Whether anything but the standard streams keeps the process alive, or they are not flushed. */
function hasLeftovers(): boolean {
	if (process.stdout.writableLength + process.stderr.writableLength > 0) return true;
	// Files that are being closed, and the standard streams.
	const left = process.getActiveResourcesInfo().filter((kind) => kind !== "CloseReq" && kind !== "TTYWrap");
	return left.some((kind) => kind !== "PipeWrap") || left.length > [0, 1, 2].filter(isPipe).length;
}

function isPipe(fd: number): boolean {
	try {
		const stats = fstatSync(fd);
		return stats.isFIFO() || stats.isSocket();
	} catch {
		return false; // closed
	}
}

main(process.argv.slice(2))
	.then((code) => {
		process.exitCode ??= code;
	}, reportFailure)
	.finally(exit);
