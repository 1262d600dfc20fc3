import type { EntrySource } from "../context/entry-message.js";
import type { SessionEntry } from "../log/entry.js";
import type { MessageRole } from "../log/line-patterns.js";
import type { SessionLog } from "../log/session-log.js";

/** The part of a log that the context reads. */
export interface ContextLog {
	readonly length: number;
	readonly entries: readonly SessionEntry[];
	entry(index: number): SessionEntry | undefined;
	/** Type of an entry, without reading the complete entry if possible. */
	typeOf(index: number): string | undefined;
	/** False if certainly no entry has one of these types. */
	mayContain(types: readonly string[]): boolean;
	/** Index of the last entry with one of these types before an index; -1 for none. */
	findLast(type: string | readonly string[], before?: number): number;
}

/** A snapshot of a log that reads entries on demand. */
export interface LogView extends Required<EntrySource> {
	/** Like `at`, but does not keep the entry in memory: for callers that read many entries once. */
	peek(index: number): SessionEntry | undefined;
	/** Type of an entry, from the head of its line if possible. */
	typeOf(index: number): string | undefined;
	/** Role of the message in an entry, from the head of its line if possible; undefined for other entries. */
	roleOf(index: number): MessageRole | undefined;
	/** Indices of the entries in `[from, to)` whose line matches a pattern of `rawTextPattern`. Parses nothing. */
	matching(pattern: RegExp, from: number, to: number): number[];
	/** Index of the last message with one of these roles in `[from, before)`; -1 for none. Reads little more than line heads. */
	findLastMessage(role: MessageRole | readonly MessageRole[], before?: number, from?: number): number;
}

/** A snapshot of a log: `length` does not change when the log grows. */
export function viewLog(log: SessionLog): LogView {
	return {
		...sourceOf(log, log.length),
		peek: (index) => log.peek(index),
		typeOf: (index) => log.typeOf(index),
		roleOf: (index) => log.roleOf(index),
		matching: (pattern, from, to) => log.matching(pattern, from, to),
		findLastMessage: (role, before, from) => log.findLastMessage(role, before, from),
	};
}

/** The first `length` entries of a log, read on demand. */
export function sourceOf(log: ContextLog, length: number): Required<EntrySource> {
	return {
		length,
		at: (index) => log.entry(index),
		lastOfTypes: (types, before) => log.findLast(types, before),
	};
}

/** The first `length` entries of a log. */
export function entriesUpTo(log: Pick<ContextLog, "entries">, length: number): readonly SessionEntry[] {
	const { entries } = log;
	return entries.length === length ? entries : Object.freeze(entries.slice(0, length));
}
