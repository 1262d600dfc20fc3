import type { SessionComponents } from "../session/session-components.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/** Begins a new, empty session. @returns false when a hook canceled it @throws PiError `session_busy` */
export const newSession = operation({
	request: "switch",
	run: (session: SessionComponents): Promise<boolean> => session.lifecycle.newSession(),
	ctx: { member: "newSession", callers: "commands", returns: "promise" },
	rpc: {
		command: "reset",
		concurrency: "barrier",
		input: NO_INPUT,
		answer: async (run) => ({ cancelled: !(await run()) }),
	},
});
