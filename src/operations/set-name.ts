import { PiError } from "../errors.js";
import { entryTimestamp } from "../log/entry.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Names the session. */
export const setName = operation({
	request: null,
	run(session: SessionComponents, name: string): void {
		session.state.append({ type: "session_info", timestamp: entryTimestamp(), name });
	},
	ctx: {
		member: "setSessionName",
		callers: "all",
		returns: "value",
		call(run, _, __, name: unknown) {
			if (typeof name === "string" && name.trim() !== "") return run(name.trim());
			throw new PiError("bad_arguments", "ctx.setSessionName expects a text that is not empty");
		},
	},
});
