import { PiError } from "../errors.js";
import { entryTimestamp, type SessionInfoEntry } from "../log/entry.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Names the session. */
export const setName = operation({
	request: null,
	run(session: SessionComponents, name: string): void {
		session.state.append(nameEntry(name));
	},
	ctx: {
		member: "setSessionName",
		callers: "all",
		returns: "value",
		call(_, { state }, { isCommand }, name: unknown) {
			if (typeof name !== "string" || name.trim() === "")
				throw new PiError("bad_arguments", "ctx.setSessionName expects a text that is not empty");
			state.appendAll([nameEntry(name.trim())], state.isUnused && !isCommand);
		},
	},
});

function nameEntry(name: string): SessionInfoEntry {
	return { type: "session_info", timestamp: entryTimestamp(), name };
}
