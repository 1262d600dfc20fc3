import { isToolHostEntry } from "../../log/entry.js";
import type { RecordedMachine } from "../../log/last-choices.js";
import type { SessionLog } from "../../log/session-log.js";

/** Finds the machine of an entry. Searches each log once, and then what is added to it. */
export class LoggedMachines {
	#log: SessionLog | null = null;
	/** Number of entries searched so far. */
	#searched = 0;
	/** Oldest first. */
	#named: { index: number; host: RecordedMachine }[] = [];

	/** The machine that a log names last before an entry; null if it names none: tools worked where pi runs. */
	before(log: SessionLog, entryIndex: number): RecordedMachine | null {
		if (log !== this.#log) {
			this.#log = log;
			this.#searched = 0;
			this.#named = [];
		}
		const found: { index: number; host: RecordedMachine }[] = [];
		for (let index = log.findLast("tool_host"); index >= this.#searched; index = log.findLast("tool_host", index)) {
			const entry = log.entry(index);
			if (isToolHostEntry(entry)) found.unshift({ index, host: entry });
		}
		this.#named.push(...found);
		this.#searched = log.length;
		return this.#named.findLast(({ index }) => index < entryIndex)?.host ?? null;
	}
}
