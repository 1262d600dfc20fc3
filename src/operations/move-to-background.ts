import type { SessionComponents } from "../session/session-components.js";
import type { JobStatus } from "../tools/job-status.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/**
 * Moves the shell commands that the run or the user waits for to the background, where they go on, as many as may run there.
 * @returns null if there are none
 */
export const moveToBackground = operation({
	request: null,
	run: ({ jobs }: SessionComponents): JobStatus[] | null => jobs.table.move(),
	rpc: {
		command: "move_to_background",
		concurrency: "interrupt",
		input: NO_INPUT,
		answer: async (run) => ({ jobs: (run() ?? []).map(({ id, command }) => ({ id, command })) }),
	},
});
