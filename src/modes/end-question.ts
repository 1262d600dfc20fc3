import { systemReason } from "../errors.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { AgentSession } from "../sdk/agent-session.js";
import { countJobs, shortCommand } from "../tools/job-status.js";
import { linkSignals } from "../util/abort.js";
import { type EndingSession, operationsThatEnd, saveAgain } from "./session-end.js";

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
