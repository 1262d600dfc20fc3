import { isSessionInfoEntry } from "../log/entry.js";
import type { SessionLog } from "../log/session-log.js";

/** Finds the name of a session. Each entry is looked at once, so that asking after each append costs what was appended. */
export class SessionName {
	#log: SessionLog | null = null;
	/** Number of entries that were looked at. */
	#seen = 0;
	#name: string | null = null;

	/** The name that was given last; null for none. */
	of(log: SessionLog): string | null {
		if (log !== this.#log) {
			this.#log = log;
			this.#seen = log.length;
			this.#name = nameAt(log, log.findLast("session_info"));
		}
		for (; this.#seen < log.length; this.#seen++) {
			if (log.typeOf(this.#seen) === "session_info") this.#name = nameAt(log, this.#seen);
		}
		return this.#name;
	}
}

function nameAt(log: SessionLog, index: number): string | null {
	const entry = log.entry(index);
	return isSessionInfoEntry(entry) ? entry.name : null;
}
