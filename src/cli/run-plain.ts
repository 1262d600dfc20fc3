import { runPlain } from "../modes/plain/plain-mode.js";
import { packageVersion } from "../util/package-root.js";
import type { CliContext, CliOptions } from "./options.js";
import { firstPrompts, startSession, type TerminalExtras } from "./start-session.js";

/** Runs the plain mode. */
export async function runPlainCli(options: CliOptions, context: CliContext, extras: TerminalExtras): Promise<number> {
	const { suggestion, startDemo } = extras;
	return runPlain({
		startSession: (questions) => startSession(options, context, extras, questions),
		version: packageVersion(),
		prompts: await firstPrompts(options, context),
		...(suggestion === undefined ? {} : { suggestion }),
		...(startDemo && { startDemo }),
	});
}
