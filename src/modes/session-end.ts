import { describeHookErrorInFull } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { AgentSession } from "../session/agent-session.js";

/** Maximum time to wait for a session to end before the user gets the shell back, in ms. */
const DISPOSE_LIMIT_MS = 3000;

/** Ends a session, waiting at most 3 s. Safe to call more than once. */
export async function endSession(session: AgentSession | null): Promise<void> {
	if (session) await waitAtMost(DISPOSE_LIMIT_MS, session.dispose());
}

/** Ends a session whose screen is closed. @param onLine receives errors of hooks from now on, also after the session's end */
export async function endWithoutScreen(session: AgentSession, onLine: (line: string) => void): Promise<void> {
	printHookErrors(session, onLine);
	await endSession(session);
	printHookErrors(session, onLine);
}

/**
 * Passes errors of hooks to a callback as lines, until the session closes. Called after that, it also receives those of timers
 * and promises that hooks left behind.
 */
export function printHookErrors(session: AgentSession, onLine: (line: string) => void): void {
	session.subscribe((event) => {
		if (event.type === "hook_error") onLine(describeHookErrorInFull(event, hookFileName(event.hookPath)));
	});
}

/** Waits for a promise, but at most `limitMs` milliseconds. Rejects as the promise does. */
export async function waitAtMost(limitMs: number, promise: Promise<unknown>): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, limitMs);
	});
	await Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

/** A hint how to resume a session; null when it is not saved or has no user message. */
export function resumeHint(session: AgentSession | null): string | null {
	if (!session || session.sessionFile === null || session.log.findLastMessage("user") < 0) return null;
	return `Resume this session with pi --session ${session.sessionArgument}`;
}
