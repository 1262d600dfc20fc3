import { existsSync } from "node:fs";
import { describeHookErrorInFull, systemReason } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { AgentSession } from "../sdk/agent-session.js";
import type { Activity, OperationKind } from "../session/activity.js";
import { countJobs, shortCommand } from "../tools/job-status.js";
import { linkSignals } from "../util/abort.js";

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

/** Tries again to save a session. @returns why a part of it is not saved, and which; null for one without a user message or a file */
function saveAgain(session: EndingSession): { cause: unknown; part: string } | null {
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

/** The parts of a session that its end needs. */
type EndingSession = Pick<AgentSession, "activity" | "jobs" | "log" | "save" | "sessionFile" | "subscribe" | "unsaved">;

export interface EndQuestion {
	/** Such as `Quit pi?` */
	title: string;
	/** What is asked about: `entries` that cannot be saved; with `work`, also what runs; with `all`, also background commands alone. */
	about: "entries" | "work" | "all";
	/** Cancels the question. */
	signal?: AbortSignal | undefined;
}

/**
 * Asks before entries are lost with a session, or what runs ends with it. Tries to save the entries first. When the reason to ask is
 * gone, the question closes.
 * @returns false if the session goes on; true without a question if the reasons are gone
 */
export async function confirmEnd(
	session: EndingSession,
	{ title, about, signal }: EndQuestion,
	ui: Pick<SessionUI, "confirm">,
): Promise<boolean> {
	while (!signal?.aborted) {
		const message = describeEnd(session, about);
		if (message === null) return true;
		const asked = stateOf(session);
		const outdated = new AbortController();
		const stop = session.subscribe(() => {
			if (stateOf(session) !== asked) outdated.abort();
		});
		const canceled = linkSignals(signal, outdated.signal);
		const isConfirmed = await ui.confirm(title, message, { signal: canceled.signal }).finally(() => {
			stop();
			canceled.unlink();
		});
		if (!outdated.signal.aborted) return isConfirmed;
	}
	return false;
}

/** Leaves a mode; see `createLeave`. */
export type Leave = (about: EndQuestion["about"], signal?: AbortSignal, by?: () => void) => Promise<void>;

/**
 * Creates the function with which everything leaves a mode that has a user. It quits after `confirmEnd`, and does nothing while that
 * question is open.
 */
export function createLeave(
	session: () => AgentSession | null,
	ui: Pick<SessionUI, "confirm">,
	quit: () => void,
): Leave {
	let isAsking = false;
	return async (about, signal, by = quit) => {
		if (isAsking) return;
		isAsking = true;
		try {
			const current = session();
			if (current === null || (await confirmEnd(current, { title: "Quit pi?", about, signal }, ui))) by();
		} finally {
			isAsking = false;
		}
	};
}

/** What the question is about: it is outdated once this changes. */
function stateOf({ activity, jobs, unsaved }: EndingSession): string {
	return [...operationsThatEnd(activity), jobs.running > 0, unsaved === null].join();
}

/** What ends or is lost with a session; null if nothing is that the question is about. */
function describeEnd(session: EndingSession, about: EndQuestion["about"]): string | null {
	const failure = saveAgain(session);
	const operations = operationsThatEnd(session.activity);
	const running = session.jobs.list().filter(({ isRunning }) => isRunning);
	const isAsked =
		failure !== null || (about !== "entries" && operations.length > 0) || (about === "all" && running.length > 0);
	if (!isAsked) return null;
	const ends = [...operations, ...(running.length > 0 ? [countJobs(running.length)] : [])].join(" and ");
	return [
		...(ends === "" ? [] : [`This ends ${ends}.`]),
		...running.map(({ id, command }) => `${id}  ${shortCommand(command)}`),
		...(failure === null
			? []
			: [
					`${failure.part} is not saved and would be lost: ${systemReason(failure.cause)}.`,
					"To keep it, free or allow space there and try again, or write a copy elsewhere with /export <file>.",
				]),
	].join("\n");
}

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

function operationsThatEnd({ operations }: Activity): string[] {
	const names = operations.map(({ kind, phase }) => (phase === "ending" ? undefined : ENDING[kind]));
	return [...new Set(names.filter((name) => name !== undefined))];
}
