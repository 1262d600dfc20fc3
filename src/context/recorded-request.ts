import {
	type AppMessage,
	type CompactionEntry,
	isCompactionEntry,
	isMessageEntry,
	type RecordedRequest,
	type RecordedSegment,
	type SessionEntry,
	withoutStyles,
} from "../log/entry.js";
import type { BuiltContext, TracedMessage } from "./context-message.js";
import { digestContext } from "./digest.js";
import { compactionMessage, type EntrySource, entryMessage } from "./entry-message.js";
import { isSameMessage } from "./ledger.js";
import { findRecentRecord } from "./recent-record.js";
import { shortenOutput } from "./shorten.js";

/** Maximum number of characters of new messages that the record of one request may add. */
const MAX_NEW_CHARACTERS = 2_000_000;
/** The average for all requests: a hook that creates every message again each time must not flood the log. */
const NEW_CHARACTERS_EACH = 200_000;

/** Describes requests for the log; a message that a hook made is written only once. One recorder per log. */
export class RequestRecorder {
	/** Where a message was written, by its digest; null until the log has been read. */
	#written: Map<string, { reply: number; part: number }> | null = null;
	/** New messages of the last description by digest, until the index of its entry is known. */
	#latest: Map<string, number> | null = null;
	/** Characters of new messages that the next description may add, and the number that the last one adds. */
	#room = MAX_NEW_CHARACTERS;
	#brought = 0;

	/**
	 * Describes the messages of a request that hooks changed. @returns undefined if no hook changed it, or if the description would
	 * exceed the limits above
	 */
	describe(context: BuiltContext, entries: EntrySource): RecordedRequest | undefined {
		this.#latest = null;
		// A freeze needs the messages also if hooks changed only the system prompt or the tools.
		if (!context.isChanged && !context.preamble.isChanged) return undefined;
		const written = this.#written ?? readWritten(entries);
		this.#written = written;
		const latest = new Map<string, number>();
		const segments: RecordedSegment[] = [];
		this.#room = Math.min(this.#room + NEW_CHARACTERS_EACH, MAX_NEW_CHARACTERS);
		this.#brought = 0;
		for (const { message, entryIndex, origin } of context.messages) {
			if (entryIndex !== null && isSameMessage(message, entryMessage(entries.at(entryIndex)) ?? undefined)) {
				addEntry(segments, entryIndex, entries);
				continue;
			}
			if (origin.kind === "compaction") {
				segments.push({ compaction: origin.entryIndex });
				continue;
			}
			if (origin.kind === "shortened" && entryIndex !== null) {
				segments.push({ compaction: origin.entryIndex, entry: entryIndex });
				continue;
			}
			const key = keyOf(message, entryIndex);
			const known = written.get(key);
			if (known) {
				segments.push(known);
				continue;
			}
			const plain = withoutStyles(message);
			this.#brought += JSON.stringify(plain).length;
			if (this.#brought > this.#room) return undefined;
			latest.set(key, segments.length);
			segments.push({ message: plain, entryIndex });
		}
		this.#latest = latest;
		return segments;
	}

	/** Notes that the last description is stored with the reply at an entry index. */
	recorded(reply: number): void {
		if (!this.#latest) return;
		for (const [key, part] of this.#latest) this.#written?.set(key, { reply, part });
		this.#latest = null;
		this.#room -= this.#brought;
	}

	/** Forgets what it knows: the log is another one now. */
	reset(): void {
		this.#written = null;
		this.#latest = null;
		this.#room = MAX_NEW_CHARACTERS;
	}
}

/**
 * Reads the messages of the request that a reply answered from the record stored with the reply. @returns null if there
 * is no record, or if it refers to an entry that is missing
 */
export function readRecordedRequest(entries: EntrySource, reply: number): TracedMessage[] | null {
	const recorded = recordedIn(entries.at(reply));
	if (!recorded) return null;
	const messages: TracedMessage[] = [];
	for (const part of recorded) {
		if ("length" in part) {
			// What is no entry before the reply was not part of the request.
			for (let index = part[0]; index < Math.min(part[1], reply); index++) {
				const entry = entries.at(index);
				const message = entryMessage(entry);
				if (!message) continue;
				const kind = isMessageEntry(entry) ? "entry" : "system_item";
				messages.push({ message, entryIndex: index, origin: { kind } });
			}
			continue;
		}
		const traced = readSegment(part, entries, reply);
		if (!traced) return null;
		messages.push(traced);
	}
	return messages;
}

function readSegment(
	part: Exclude<RecordedSegment, readonly unknown[]>,
	entries: EntrySource,
	reply: number,
): TracedMessage | null {
	if ("compaction" in part) {
		const entry = entries.at(part.compaction);
		if (!isCompactionEntry(entry) || part.compaction >= reply) return null;
		const origin = { kind: "compaction", entryIndex: part.compaction } as const;
		if (part.entry !== undefined) return readShortened(part.compaction, entry, part.entry, entries);
		return { message: compactionMessage(entry), entryIndex: null, origin };
	}
	const found =
		"reply" in part ? recordedIn(part.reply < reply ? entries.at(part.reply) : undefined)?.[part.part] : part;
	if (!found || !("message" in found)) return null;
	return { message: found.message, entryIndex: found.entryIndex, origin: { kind: "freeze" } };
}

function readShortened(
	compaction: number,
	{ shortened = [] }: CompactionEntry,
	entryIndex: number,
	entries: EntrySource,
): TracedMessage | null {
	const message = entryMessage(entries.at(entryIndex));
	const found = shortened.find((one) => one.entryIndex === entryIndex);
	if (!message || !found) return null;
	const origin = { kind: "shortened", entryIndex: compaction } as const;
	return { message: shortenOutput(message, found.characters), entryIndex, origin };
}

function recordedIn(entry: SessionEntry | undefined): RecordedRequest | undefined {
	return isMessageEntry(entry) ? entry.context?.shape : undefined;
}

/** Adds the message of an entry to the stretch before it where no other entry with a message lies between. */
function addEntry(segments: RecordedSegment[], entryIndex: number, entries: EntrySource): void {
	const last = segments.at(-1);
	if (last && "length" in last && last[1] <= entryIndex) {
		let next = last[1];
		while (next < entryIndex && !entryMessage(entries.at(next))) next++;
		if (next === entryIndex) {
			segments[segments.length - 1] = [last[0], entryIndex + 1];
			return;
		}
	}
	segments.push([entryIndex, entryIndex + 1]);
}

/** The messages that the last record in the log refers to or contains; earlier ones are rarely needed again. */
function readWritten(entries: EntrySource): Map<string, { reply: number; part: number }> {
	const written = new Map<string, { reply: number; part: number }>();
	const last = findRecentRecord(
		entries,
		(entry) => isMessageEntry(entry) && entry.message.role === "assistant" && entry.context !== undefined,
	);
	if (last === null) return written;
	for (const [at, part] of (recordedIn(entries.at(last)) ?? []).entries()) {
		if ("length" in part || "compaction" in part) continue;
		const place = "reply" in part ? part : { reply: last, part: at };
		const source = "reply" in part ? recordedIn(entries.at(part.reply))?.[part.part] : part;
		if (source && "message" in source) written.set(keyOf(source.message, source.entryIndex), place);
	}
	return written;
}

function keyOf(message: AppMessage, entryIndex: number | null): string {
	return `${entryIndex ?? ""} ${digestContext([message])}`;
}
