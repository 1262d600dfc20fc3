import { existsSync } from "node:fs";
import { describeHookErrorInFull, systemReason } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { AgentSession } from "../sdk/agent-session.js";
import type { Activity, OperationKind } from "../session/activity.js";

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

/** The parts of a session that its end needs. */
export type EndingSession = Pick<
	AgentSession,
	"activity" | "jobs" | "log" | "save" | "sessionFile" | "subscribe" | "unsaved"
>;

/** Tries again to save a session. @returns why a part of it is not saved, and which; null for one without a user message or a file */
export function saveAgain(session: EndingSession): { cause: unknown; part: string } | null {
	if (session.sessionFile === null || session.log.findLastMessage("user") < 0) return null;
	const failure = session.save();
	return failure && { ...failure, part: existsSync(session.sessionFile) ? "The end of this session" : "This session" };
}

/** Says what of a session is not saved; null if nothing is missing. */
function describeLoss(session: EndingSession): string | null {
	const failure = saveAgain(session);
	return (
		failure &&
		`${failure.part} was not saved: ${systemReason(failure.cause)} · ` +
			"free or allow space there, or choose another directory with --session-dir"
	);
}

/** What ends with a session, for the user; the other operations are short. */
const ENDING: Partial<Record<OperationKind, string>> = {
	run: "the run",
	compacting: "the compaction",
	shell: "the shell command",
};

/**
 * Ends the background commands of a session because the user quits, and saves what could not be saved.
 * @param kept what was kept for the next time, as a line; null: nothing
 * @returns what was stopped, what was not saved, and how to resume the session, one line each. Not safe for a terminal
 */
export function leaveSession(session: AgentSession, kept: string | null): string[] {
	const stopped = operationsThatEnd(session.activity);
	const { sessionFile } = session;
	const canResume = sessionFile !== null && session.log.findLastMessage("user") >= 0;
	return [
		stopped.length > 0 ? `Stopped ${stopped.join(" and ")}` : null,
		session.jobs.endAll(),
		describeLoss(session),
		kept,
		canResume && existsSync(sessionFile) ? `Resume this session with pi --session ${session.sessionArgument}` : null,
	].filter((line) => line !== null);
}

/**
 * The exit code of a session that has ended: 1 if a part of it was lost. Its last entries were written after the user left it.
 * @param said what `leaveSession` said
 * @param onLine receives what was lost since then
 */
export function exitCodeOf(
	session: AgentSession | null,
	said: readonly string[],
	onLine: (line: string) => void,
): 0 | 1 {
	const loss = session && describeLoss(session);
	if (loss === null) return 0;
	if (!said.includes(loss)) onLine(loss);
	return 1;
}

/** Names of the operations that end with a session. */
export function operationsThatEnd({ operations }: Activity): string[] {
	const names = operations.map(({ kind, phase }) => (phase === "ending" ? undefined : ENDING[kind]));
	return [...new Set(names.filter((name) => name !== undefined))];
}
