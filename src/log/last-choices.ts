import {
	isMessageEntry,
	isModelChangeEntry,
	isSessionInfoEntry,
	isThinkingLevelChangeEntry,
	isToolHostEntry,
	type ThinkingLevel,
	type ToolHostEntry,
} from "./entry.js";
import type { SessionLog } from "./session-log.js";

/** The model last used in a log. Reads backward and stops at the first entry that names one. */
export function lastModel(log: SessionLog): { provider: string; id: string } | null {
	const changed = log.findLast("model_change");
	for (let index = log.findLast("message"); index > changed; index = log.findLast("message", index)) {
		const entry = log.entry(index);
		if (isMessageEntry(entry) && entry.message.role === "assistant") {
			return { provider: entry.message.provider, id: entry.message.model };
		}
	}
	const entry = log.entry(changed);
	return isModelChangeEntry(entry) ? { provider: entry.provider, id: entry.modelId } : null;
}

/** The machine on which tools work, as a session records it. */
export type RecordedMachine = Pick<ToolHostEntry, "on" | "name">;

/** The machine that a log names last; null if it names none. */
export function lastMachine(log: SessionLog): RecordedMachine | null {
	const entry = log.entry(log.findLast("tool_host"));
	return isToolHostEntry(entry) ? { on: entry.on, name: entry.name } : null;
}

/** The thinking level that a log names last before an index; null if it names none. */
export function lastThinkingLevel(log: SessionLog, before = log.length): ThinkingLevel | null {
	const entry = log.entry(log.findLast("thinking_level_change", before));
	return isThinkingLevelChangeEntry(entry) ? entry.thinkingLevel : null;
}

/** Finds the name of a session. Checks each entry once, so that a call costs only what was appended since the last one. */
export class SessionName {
	#log: SessionLog | null = null;
	/** Number of entries checked so far. */
	#checked = 0;
	#name: string | null = null;

	/** The latest name; null for none. */
	of(log: SessionLog): string | null {
		if (log !== this.#log) {
			this.#log = log;
			this.#checked = log.length;
			this.#name = nameAt(log, log.findLast("session_info"));
		}
		for (; this.#checked < log.length; this.#checked++) {
			if (log.typeOf(this.#checked) === "session_info") this.#name = nameAt(log, this.#checked);
		}
		return this.#name;
	}
}

function nameAt(log: SessionLog, index: number): string | null {
	const entry = log.entry(index);
	return isSessionInfoEntry(entry) ? entry.name : null;
}
