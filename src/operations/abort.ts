import { setImmediate as nextTick } from "node:timers/promises";
import type { SessionComponents } from "../session/session-components.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/** Stops everything the session is doing and waits until it has stopped. @returns the queued prompts */
export const abort = operation({
	request: null,
	async run({ activity, runner }: SessionComponents): Promise<string[]> {
		const texts = runner.queue.clear();
		activity.abort();
		await activity.untilEnded();
		return texts;
	},
	ctx: {
		member: "abort",
		callers: "all",
		returns: "value",
		// At once: the run would wait for the hook, and the hook for the run. Queued prompts go back to the user.
		call: (_, { activity }) => activity.abort("run", "compacting", "shell"),
	},
	rpc: {
		command: "abort",
		concurrency: "interrupt",
		input: NO_INPUT,
		async answer(run) {
			// The previous line may have just arrived and not begun its run yet; the next line waits for the abort.
			await nextTick();
			return { queued: await run() };
		},
	},
});
