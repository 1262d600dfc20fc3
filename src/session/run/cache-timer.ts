import { ASSUMED_LIFETIME_MS } from "../../context/facts.js";
import { isMessageEntry } from "../../log/entry.js";
import type { SessionLog } from "../../log/session-log.js";
import { viewLog } from "../log-view.js";
import type { SessionCore } from "../session-core.js";

/** Time before the end of the cache's lifetime at which hooks hear of it: enough to send a request that still reads it. */
export const EXPIRY_NOTICE_MS = 30_000;

/** Tells hooks while the session is idle that its provider is about to forget the last request. */
export class CacheTimer {
	#timer: NodeJS.Timeout | undefined;

	constructor(private readonly deps: Pick<SessionCore, "state" | "context" | "hooks" | "activity" | "ended">) {}

	/** Starts to wait, once a run is over; it does not keep the process running. */
	start(): void {
		this.stop();
		const { state, context, hooks, ended } = this.deps;
		if (ended.aborted || !hooks().registry.has("cache_expiring")) return;
		const { log } = state;
		const expiresAt = lastSent(log) + (context.facts(viewLog(log)).cache.lifetimeMs ?? ASSUMED_LIFETIME_MS);
		const waitMs = expiresAt - EXPIRY_NOTICE_MS - Date.now();
		if (waitMs < 0) return;
		this.#timer = setTimeout(() => this.#notify(log, expiresAt), waitMs);
		this.#timer.unref();
	}

	stop(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}

	#notify(log: SessionLog, expiresAt: number): void {
		const { state, context, hooks, activity, ended } = this.deps;
		if (ended.aborted || state.log !== log || activity.verdict("compact") !== "allow") return;
		// Another model may have been chosen, or the computer slept.
		const { warmTokens } = context.facts(viewLog(log)).cache;
		if (warmTokens === 0) return;
		const event = Object.freeze({ type: "cache_expiring", warmTokens, expiresInMs: expiresAt - Date.now() } as const);
		void hooks().emit(event, AbortSignal.any([ended, activity.nextAbort]));
	}
}

/** When the last request was sent, ms since the epoch; 0 for none. */
function lastSent(log: SessionLog): number {
	const entry = log.entry(viewLog(log).findLastMessage("assistant"));
	return isMessageEntry(entry) ? entry.message.timestamp : 0;
}
