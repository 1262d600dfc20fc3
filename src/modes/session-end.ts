import type { AgentSession } from "../session/agent-session.js";

/** A session that hangs while it ends must not keep the user from the shell, ms. */
const DISPOSE_LIMIT_MS = 3000;

/** Ends a session, or gives up waiting for its end. Safe to call more than once. */
export async function endSession(session: AgentSession | null): Promise<void> {
	if (!session) return;
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, DISPOSE_LIMIT_MS);
	});
	await Promise.race([session.dispose(), limit]);
	clearTimeout(timer);
}

/** How to come back to a session; null where there is nothing to come back to. */
export function resumeHint(session: AgentSession | null): string | null {
	if (!session || session.sessionFile === null || session.log.findLastMessage("user") < 0) return null;
	return `pi --session ${session.sessionId.slice(0, 8)} resumes this session`;
}
