import { join, resolve } from "node:path";
import { DEMO_PROMPTS } from "../demo/demo-prompts.js";
import { createScratchProject } from "../demo/scratch-project.js";
import { registerDemoModel } from "../demo/scripted-model.js";
import { packageRoot } from "../util/package-root.js";
import type { CliOptions } from "./options.js";
import type { CliContext } from "./run-interactive.js";

/** Played where there is no terminal: the work, then the pop of it, then what is left of it in the context. */
const PLAYED = [DEMO_PROMPTS[0]?.text ?? "", "/pop 1", "/context"];

/** Runs the demo: a scripted model and real tools on a scratch project, which is removed at the end. */
export async function runDemo(options: CliOptions, context: CliContext): Promise<number> {
	const project = await createScratchProject();
	try {
		const isInteractive = process.stdin.isTTY && process.stdout.isTTY && !options.print && options.mode === undefined;
		const session = {
			cwd: project.dir,
			home: context.home,
			env: context.env,
			settings: context.settings,
			session: { kind: "memory" as const },
			model: await registerDemoModel(isInteractive ? {} : { pace: 0 }),
			hooks: [
				join(packageRoot(), "hooks-examples", "stacking.ts"),
				...options.hooks.map((path) => resolve(context.cwd, path)),
			],
			discoverHooks: false,
			contextFiles: false,
			discoverSkills: false,
			offline: true,
		};
		if (isInteractive) {
			const { runInteractiveCli } = await import("./run-interactive.js");
			const extras = { session, ...(DEMO_PROMPTS[0] ? { draft: DEMO_PROMPTS[0].text } : {}) };
			return await runInteractiveCli(options, context, extras);
		}
		// Not before it is known that there is no screen: from then on only answers go to stdout.
		const [{ runHeadless }, { standardIO }] = await Promise.all([
			import("./run-headless.js"),
			import("./standard-io.js"),
		]);
		const messages = options.messages.length > 0 ? options.messages : PLAYED;
		return await runHeadless({ ...options, messages }, session, standardIO());
	} finally {
		await project.remove();
	}
}
