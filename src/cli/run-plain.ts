import { runPlain } from "../modes/plain/plain-mode.js";
import { packageVersion } from "../util/package-root.js";
import type { FirstPrompts } from "./first-prompts.js";
import type { CliContext, CliOptions } from "./options.js";
import { startSession, type TerminalExtras } from "./start-session.js";

/** Runs the plain mode. */
export async function runPlainCli(
	options: CliOptions,
	context: CliContext,
	extras: TerminalExtras,
	prompts: FirstPrompts,
): Promise<number> {
	const { suggestion, startDemo } = extras;
	return runPlain({
		startSession: (questions) => startSession(options, context, extras, questions),
		version: packageVersion(),
		prompts,
		...(suggestion === undefined ? {} : { suggestion }),
		...(startDemo && { startDemo }),
	});
}
