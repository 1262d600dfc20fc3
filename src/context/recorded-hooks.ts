import { isMessageEntry, type RecordedHook, type RecordedHooks, type SessionEntry } from "../log/entry.js";
import type { EntrySource } from "./entry-message.js";
import { findRecentRecord } from "./recent-record.js";

/** Describes hooks for the log; the same list is written only once. One recorder per log. */
export class HooksRecorder {
	/** The last list in the log and the reply that has it; undefined until the log has been read. */
	#last: { key: string; reply: number } | null | undefined;
	/** The last description, until the index of its entry is known; null if it refers to an earlier one. */
	#latest: string | null = null;

	/** @param hooks in load order @returns undefined if there are none */
	describe(hooks: readonly RecordedHook[], entries: EntrySource): RecordedHooks | undefined {
		this.#latest = null;
		if (hooks.length === 0) return undefined;
		const key = JSON.stringify(hooks);
		if (this.#last === undefined) this.#last = readLast(entries);
		if (this.#last?.key === key) return { reply: this.#last.reply };
		this.#latest = key;
		return hooks;
	}

	/** Notes that the last description is stored with the reply at an entry index. */
	recorded(reply: number): void {
		if (this.#latest !== null) this.#last = { key: this.#latest, reply };
		this.#latest = null;
	}

	/** Forgets what it knows: the log is another one now. */
	reset(): void {
		this.#last = undefined;
		this.#latest = null;
	}
}

/** The hooks that computed the request that a reply answered; null if the session does not record them. */
export function readRecordedHooks(entries: EntrySource, reply: number): readonly RecordedHook[] | null {
	const record = recordIn(entries.at(reply));
	if (!record) return null;
	if (!("reply" in record)) return record;
	const own = record.reply < reply ? recordIn(entries.at(record.reply)) : undefined;
	return own && !("reply" in own) ? own : null;
}

function recordIn(entry: SessionEntry | undefined): RecordedHooks | undefined {
	return isMessageEntry(entry) ? entry.context?.hooks : undefined;
}

function readLast(entries: EntrySource): { key: string; reply: number } | null {
	const at = findRecentRecord(entries, (entry) => recordIn(entry) !== undefined);
	const record = at === null ? undefined : recordIn(entries.at(at));
	if (at === null || !record) return null;
	const reply = "reply" in record ? record.reply : at;
	const hooks = readRecordedHooks(entries, at);
	return hooks && { key: JSON.stringify(hooks), reply };
}
