import { registerDemoModel } from "../demo/demo-model.js";
import { createScratchProject } from "../demo/scratch-project.js";
import { DEMO_PROMPTS } from "../demo/script.js";
import type { CreateAgentSessionOptions } from "../sdk/create-session.js";
import type { CliContext, CliOptions } from "./options.js";
import { hookArguments } from "./session-options.js";

/** The prompt that the demo suggests first. */
export const DEMO_SUGGESTION = DEMO_PROMPTS[0]?.text ?? "";

/** Prompts sent without a terminal: the task, popping it, and the resulting context. */
const PLAYED = [DEMO_SUGGESTION, "/pop 1", "/context"];

type DemoSession = CreateAgentSessionOptions & { cwd: string; home: string };

/** Runs `run` with a scripted model and real tools on a scratch project, then removes the project. */
export async function withDemo(
	options: CliOptions,
	context: CliContext,
	pacing: Parameters<typeof registerDemoModel>[0],
	run: (session: DemoSession) => Promise<number>,
): Promise<number> {
	const project = await createScratchProject();
	try {
		return await run({
			cwd: project.dir,
			home: context.home,
			env: context.env,
			settings: context.settings,
			session: { kind: "memory" },
			model: await registerDemoModel(pacing),
			hooks: hookArguments(options.hooks, context),
			discoverHooks: false,
			bundledHooks: options.findHooks,
			contextFiles: false,
			discoverSkills: false,
			localServers: { ports: {} },
		});
	} finally {
		await project.remove();
	}
}

/** Plays the demo without a terminal: sends the prompts of the command line, or the demo's own, and prints the answers. */
export async function playDemo(options: CliOptions, context: CliContext): Promise<number> {
	const [{ runHeadless }, { standardIO }] = await Promise.all([
		import("./run-headless.js"),
		import("./standard-io.js"),
	]);
	const messages = options.messages.length > 0 ? options.messages : PLAYED;
	return withDemo(options, context, { pace: 0 }, (session) =>
		runHeadless({ ...options, messages }, session, standardIO()),
	);
}
