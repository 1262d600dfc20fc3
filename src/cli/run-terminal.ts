import type { CliOptions } from "./options.js";
import type { CliContext, InteractiveExtras } from "./run-interactive.js";

/** Runs pi for a person at a terminal: on the screen, or in lines where that is wanted or the terminal can do no more. */
export async function runTerminal(
	options: CliOptions,
	context: CliContext,
	extras: InteractiveExtras = {},
): Promise<number> {
	if (options.plain || context.settings.current.plain || context.env.TERM === "dumb") {
		const { runPlainCli } = await import("./run-plain.js");
		return runPlainCli(options, context, extras);
	}
	// Before anything heavy is loaded: until then the terminal echoes keys and takes them for its own.
	process.stdin.setRawMode(true);
	const { runInteractiveCli } = await import("./run-interactive.js");
	return runInteractiveCli(options, context, extras);
}
