import type { AgentSession } from "../../src/sdk/agent-session.js";
import type { Activity } from "../../src/session/activity.js";

/** Resolves when the session's activity matches, possibly at once. */
export async function untilActivity(session: AgentSession, matches: (activity: Activity) => boolean): Promise<void> {
	while (!matches(session.activity)) {
		await new Promise<void>((resolve) => {
			const stop = session.subscribe(({ type }) => {
				if (type !== "activity_changed") return;
				stop();
				resolve();
			});
		});
	}
}

/** Resolves when the session is idle. */
export function untilIdle(session: AgentSession): Promise<void> {
	return untilActivity(session, ({ state }) => state === "idle");
}
