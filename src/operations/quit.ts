import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";
import { waitForIdle } from "./wait-for-idle.js";

/**
 * Ends the mode that drives the session.
 * @param whenIdle waits until no run, compaction or shell command is active
 * @returns false where only the caller can do that: in print, JSON and RPC mode and in programs
 */
export const quit = operation({
	request: null,
	run(session: SessionComponents, whenIdle?: boolean): boolean {
		const { shell } = session.surface;
		if (!shell) return false;
		// It fails only while the session is closing already.
		if (whenIdle)
			waitForIdle.run(session).then(
				() => shell.quit(),
				() => {},
			);
		else shell.quit();
		return true;
	},
	ctx: {
		member: "quit",
		callers: "all",
		returns: "value",
		// What a handler belongs to waits for the handler, and would be cut off.
		call: (run, _, { isCommand }) => run(!isCommand),
	},
});
