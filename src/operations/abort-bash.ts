import { setImmediate as nextTick } from "node:timers/promises";
import type { SessionComponents } from "../session/session-components.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/** Stops the user's shell command, if one is running, and waits until it has stopped. */
export const abortBash = operation({
	request: null,
	async run({ activity }: SessionComponents): Promise<void> {
		activity.abort("shell");
		await activity.until("shell");
	},
	rpc: {
		command: "abort_bash",
		concurrency: "interrupt",
		input: NO_INPUT,
		async answer(run) {
			await nextTick();
			await run();
			return null;
		},
	},
});
