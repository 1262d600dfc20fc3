import { existsSync } from "node:fs";
import { describeHookErrorInFull, systemReason } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { AgentSession } from "../sdk/agent-session.js";
import type { Activity, OperationKind } from "../session/activity.js";
import { countJobs, shortCommand } from "../tools/job-status.js";

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

/** Saves a session once more, and says whether it can be resumed. Nothing for one without a user message or a file. */
function saveOrHint(session: AgentSession | null): string[] {
	if (!session || session.sessionFile === null || session.log.findLastMessage("user") < 0) return [];
	const failure = session.save();
	const isThere = existsSync(session.sessionFile);
	return [
		failure &&
			`${isThere ? "The end of this session" : "This session"} was not saved: ${systemReason(failure.cause)} · ` +
				"free or allow space there, or choose another directory with --session-dir",
		isThere ? `Resume this session with pi --session ${session.sessionArgument}` : null,
	].filter((line) => line !== null);
}

/** What ends with a session, for the user; the other operations are short. */
const ENDING: Partial<Record<OperationKind, string>> = {
	run: "the run",
	compacting: "the compaction",
	shell: "the shell command",
};

/**
 * Asks before what runs ends with the session.
 * @param title the question, such as `Quit pi?`
 * @param asksForJobs whether background commands need the question, too
 * @returns false if it goes on; true without a question if nothing runs
 */
export async function confirmEnd(
	{ activity, jobs }: Pick<AgentSession, "activity" | "jobs">,
	title: string,
	confirm: (title: string, message: string) => Promise<boolean>,
	asksForJobs = false,
): Promise<boolean> {
	const operations = operationsThatEnd(activity);
	const running = jobs.list().filter(({ isRunning }) => isRunning);
	if (operations.length === 0 && (running.length === 0 || !asksForJobs)) return true;
	const ends = [...operations, ...(running.length > 0 ? [countJobs(running.length)] : [])].join(" and ");
	const lines = running.map(({ id, command }) => `${id}  ${shortCommand(command)}`);
	return confirm(title, [`This ends ${ends}.`, ...lines].join("\n"));
}

/**
 * Ends the background commands of a session because the user quits, and saves what could not be saved.
 * @returns what was stopped, what was not saved, and how to resume the session, one line each. Not safe for a terminal
 */
export function leaveSession(session: AgentSession | null): string[] {
	const stopped = session ? operationsThatEnd(session.activity) : [];
	return [
		stopped.length > 0 ? `Stopped ${stopped.join(" and ")}` : null,
		session?.jobs.endAll() ?? null,
		...saveOrHint(session),
	].filter((line) => line !== null);
}

function operationsThatEnd({ operations }: Activity): string[] {
	const names = operations.map(({ kind, phase }) => (phase === "ending" ? undefined : ENDING[kind]));
	return [...new Set(names.filter((name) => name !== undefined))];
}
