import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Computes the context again from the current entries. */
export const rebuildContext = operation({
	request: null,
	async run({ context, activity, ended }: SessionComponents): Promise<void> {
		await context.rebuild(activity.signal ?? ended.signal);
	},
	ctx: {
		member: "rebuildContext",
		callers: "all",
		returns: "promise",
		call: (run, _, { defersRebuild }) => (defersRebuild ? Promise.resolve() : run()),
	},
});
