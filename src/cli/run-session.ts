import type { CliContext, CliOptions } from "./options.js";
import type { TerminalExtras } from "./start-session.js";

/**
 * Runs pi for a person at a terminal: on the screen, or line by line where that is wanted or the terminal cannot do
 * more. With `--demo`, or if the user asks for it, on the demo's scratch project.
 */
export async function runTerminal(options: CliOptions, context: CliContext): Promise<number> {
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
	const { withDemo, DEMO_DRAFT } = await import("./demo.js");
	return withDemo(options, context, {}, (session) =>
		openTerminal(options, context, { session, draft: DEMO_DRAFT, releases: [] }),
	);
}

async function openTerminal(options: CliOptions, context: CliContext, extras: TerminalExtras): Promise<number> {
	if (options.plain || context.settings.current.plain || context.env.TERM === "dumb") {
		const { runPlainCli } = await import("./run-plain.js");
		return runPlainCli(options, context, extras);
	}
	// Before anything heavy is loaded: until then the terminal echoes keys and handles some of them itself.
	process.stdin.setRawMode(true);
	const { runInteractiveCli } = await import("./run-interactive.js");
	return runInteractiveCli(options, context, extras);
}
