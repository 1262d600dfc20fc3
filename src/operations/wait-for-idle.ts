import { PiError } from "../errors.js";
import type { SessionComponents } from "../session/session-components.js";
import { abortable } from "../util/abort.js";
import { operation } from "./operation.js";

/**
 * Resolves when no run, compaction or shell command is active and no prompt is queued.
 * @throws the reason of `signal`; PiError `session_busy` when the session closes
 */
export const waitForIdle = operation({
	request: null,
	async run({ activity, runner, prompter }: SessionComponents, signal?: AbortSignal): Promise<void> {
		const isBusy = () => activity.has("run", "compacting", "shell", "switching", "prompting") || runner.queue.size > 0;
		const until = (event: Promise<unknown>) => (signal ? abortable(event, signal) : event);
		for (;;) {
			// A prompt of `pi.send` may not have begun its run yet.
			await until(prompter.delivered());
			if (activity.has("closing")) throw new PiError("session_busy", "The session is closing");
			if (!isBusy()) return;
			await until(activity.changed());
		}
	},
	ctx: {
		member: "waitForIdle",
		callers: "commands",
		returns: "promise",
		call: (run, _, { signal }) => run(signal),
	},
});
