import type { AgentSession } from "../sdk/agent-session.js";
import type { AgentSessionEvent } from "../session/events.js";

/** True for the notice that the session cannot be saved, which every mode without a screen also prints to stderr. */
export function isUnsaved(
	event: AgentSessionEvent,
	session: Pick<AgentSession, "unsaved">,
): event is Extract<AgentSessionEvent, { type: "notice" }> {
	return event.type === "notice" && event.message === session.unsaved;
}
