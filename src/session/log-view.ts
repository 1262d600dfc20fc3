import type { EntrySource } from "../context/entry-message.js";
import type { MessageRole } from "../log/line-patterns.js";
import type { SessionLog } from "../log/session-log.js";

/** A log to be looked into, entries read when they are asked for. */
export interface LogView extends Required<EntrySource> {
	/** Index of the last message of a role, or of several, in `[from, before)`; -1 for none. Reads hardly more than the heads of lines. */
	findLastMessage(role: MessageRole | readonly MessageRole[], before?: number, from?: number): number;
}

/** A log as it is now: `length` is that of this moment. */
export function viewLog(log: SessionLog): LogView {
	return {
		length: log.length,
		at: (index) => log.entry(index),
		lastOfTypes: (types, before) => log.findLast(types, before),
		findLastMessage: (role, before, from) => log.findLastMessage(role, before, from),
	};
}
