import type { SessionComponents } from "../session/session-components.js";
import { abort } from "./abort.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/** Ends a run that waits to repeat a failed request; otherwise does nothing. */
export const abortRetry = operation({
	request: null,
	async run(session: SessionComponents): Promise<void> {
		if (session.activity.current.phase === "retrying") await abort.run(session);
	},
	rpc: {
		command: "abort_retry",
		concurrency: "interrupt",
		input: NO_INPUT,
		async answer(run) {
			await run();
			return null;
		},
	},
});
