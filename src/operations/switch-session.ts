import { dirname } from "node:path";
import type { OpenAs } from "../commands/open-locked.js";
import { findSession } from "../log/catalog.js";
import type { SessionComponents } from "../session/session-components.js";
import { TEXT } from "./input.js";
import { operation } from "./operation.js";

/**
 * Opens another session, or a copy of it, or reads it. Changes nothing if the session is open for writing already.
 * @returns false when a hook canceled it
 * @throws PiError when the file cannot be used; `log_locked` when another pi has it open and `as` is `original`;
 * `session_busy`
 */
export const switchSession = operation({
	request: "switch",
	run: (session: SessionComponents, path: string, as: OpenAs = "original"): Promise<boolean> =>
		session.lifecycle.switchSession(path, as),
	ctx: {
		member: "switchSession",
		callers: "commands",
		returns: "promise",
		call: async (run, session, _, path: unknown) => run(find(session, String(path))),
	},
	rpc: {
		command: "switch_session",
		concurrency: "barrier",
		/** `sessionPath`: a path, an id or the start of an id. */
		input: { type: "object", required: ["sessionPath"], properties: { sessionPath: TEXT } },
		answer: async (run, { sessionPath }, { session }) => ({ cancelled: !(await run(find(session, sessionPath))) }),
	},
});

/** The file of a session of the directory of the current one. */
function find({ state, store }: SessionComponents, target: string): string {
	const { path } = state.log;
	return findSession(path === null ? (store.sessionDir ?? store.cwd) : dirname(path), target);
}
