import type { RereadFiles } from "../commands/command.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/**
 * Reads hooks, tools, skills, templates, context files, settings and models again.
 * @param screen the files that the mode has read again
 * @returns the result as one line for the user
 */
export const reload = operation({
	request: "switch",
	run: (session: SessionComponents, screen: RereadFiles | null = null): Promise<string> =>
		session.reloader.reload(screen),
	ctx: {
		member: "reload",
		callers: "commands",
		returns: "promise",
		async call(run, { surface }) {
			await run(surface.shell?.rereadFiles?.() ?? null);
			return true;
		},
	},
});
