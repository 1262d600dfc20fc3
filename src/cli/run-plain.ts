import { runPlain } from "../modes/plain/plain-mode.js";
import { packageVersion } from "../util/package-root.js";
import type { CliOptions } from "./options.js";
import type { CliContext, InteractiveExtras } from "./run-interactive.js";
import { firstPrompts, startSession } from "./start-session.js";

/** Runs pi without a screen for a person at a terminal. */
export async function runPlainCli(
	options: CliOptions,
	context: CliContext,
	extras: InteractiveExtras = {},
): Promise<number> {
	const prompts = await firstPrompts(options, context);
	const start = { options, context, session: extras.session };
	const releases: (() => void)[] = [];
	let wantsDemo = false;
	const startDemo = () => {
		wantsDemo = true;
	};
	const code = await runPlain({
		startSession: (questions) => startSession(start, questions, releases),
		version: packageVersion(),
		prompts,
		...(extras.draft === undefined ? {} : { draft: extras.draft }),
		...(options.demo ? {} : { startDemo }),
	});
	if (!wantsDemo) return code;
	for (const release of releases) release();
	const { runDemo } = await import("./demo.js");
	return runDemo({ ...options, demo: true, files: [], messages: [] }, context);
}
