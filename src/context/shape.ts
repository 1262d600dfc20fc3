import {
	type AppMessage,
	type ContextShape,
	isCompactionEntry,
	isMessageEntry,
	type SessionEntry,
	type ShapePart,
} from "../log/entry.js";
import type { BuiltContext, TracedMessage } from "./context-message.js";
import { digestContext } from "./digest.js";
import { compactionMessage, type EntrySource, entryMessage } from "./entry-message.js";
import { isSameMessage } from "./ledger.js";

/** Characters of new messages that the shape of one request may bring. */
const MAX_NEW_CHARACTERS = 2_000_000;
/** Those of all requests, on average: a hook that makes everything anew each time must not flood the log. */
const NEW_CHARACTERS_EACH = 200_000;

/** Describes requests, each message that a hook made only the first time. One for each log. */
export class ShapeRecorder {
	/** Where a message was written, by its digest; null before the shapes in the log were looked at. */
	#written: Map<string, { reply: number; part: number }> | null = null;
	/** Messages of the last shape by digest, until it is known which entry it stands in. */
	#latest: Map<string, number> | null = null;
	/** Characters of new messages that the next shape may bring, and those that the last one brings. */
	#room = MAX_NEW_CHARACTERS;
	#brought = 0;

	/**
	 * The shape of a context that hooks made. @returns undefined when it is what pi alone makes of the entries, and when
	 * the description would be larger than it is worth
	 */
	describe(context: BuiltContext, entries: EntrySource): ContextShape | undefined {
		this.#latest = null;
		if (!context.isChanged) return undefined;
		const written = this.#written ?? readWritten(entries);
		this.#written = written;
		const latest = new Map<string, number>();
		const parts: ShapePart[] = [];
		this.#room = Math.min(this.#room + NEW_CHARACTERS_EACH, MAX_NEW_CHARACTERS);
		this.#brought = 0;
		for (const { message, entryIndex, origin } of context.messages) {
			if (entryIndex !== null && isSameMessage(message, entryMessage(entries.at(entryIndex)) ?? undefined)) {
				addEntry(parts, entryIndex, entries);
				continue;
			}
			if (origin.kind === "compaction") {
				parts.push({ compaction: origin.entryIndex });
				continue;
			}
			const key = keyOf(message, entryIndex);
			const known = written.get(key);
			if (known) {
				parts.push(known);
				continue;
			}
			this.#brought += JSON.stringify(message).length;
			if (this.#brought > this.#room) return undefined;
			latest.set(key, parts.length);
			parts.push({ message, entryIndex });
		}
		this.#latest = latest;
		return parts;
	}

	/** Notes that the shape described last stands beside the reply in an entry. */
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
 * The messages of the request that a reply answered, as the shape beside it says. @returns null when there is no shape,
 * or when what it refers to is not there
 */
export function readShape(entries: EntrySource, reply: number): TracedMessage[] | null {
	const shape = shapeOf(entries.at(reply));
	if (!shape) return null;
	const messages: TracedMessage[] = [];
	for (const part of shape) {
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
		const traced = readPart(part, entries, reply);
		if (!traced) return null;
		messages.push(traced);
	}
	return messages;
}

function readPart(
	part: Exclude<ShapePart, readonly unknown[]>,
	entries: EntrySource,
	reply: number,
): TracedMessage | null {
	if ("compaction" in part) {
		const entry = entries.at(part.compaction);
		if (!isCompactionEntry(entry) || part.compaction >= reply) return null;
		const origin = { kind: "compaction", entryIndex: part.compaction } as const;
		return { message: compactionMessage(entry), entryIndex: null, origin };
	}
	const found = "reply" in part ? shapeOf(part.reply < reply ? entries.at(part.reply) : undefined)?.[part.part] : part;
	if (!found || !("message" in found)) return null;
	return { message: found.message, entryIndex: found.entryIndex, origin: { kind: "freeze" } };
}

function shapeOf(entry: SessionEntry | undefined): ContextShape | undefined {
	return isMessageEntry(entry) ? entry.context?.shape : undefined;
}

/** Adds the message of an entry to the stretch before it where no other entry with a message lies between. */
function addEntry(parts: ShapePart[], entryIndex: number, entries: EntrySource): void {
	const last = parts.at(-1);
	if (last && "length" in last && last[1] <= entryIndex) {
		let next = last[1];
		while (next < entryIndex && !entryMessage(entries.at(next))) next++;
		if (next === entryIndex) {
			parts[parts.length - 1] = [last[0], entryIndex + 1];
			return;
		}
	}
	parts.push([entryIndex, entryIndex + 1]);
}

/** What the last shape in the log refers to or brings; earlier ones are hardly needed again. */
function readWritten(entries: EntrySource): Map<string, { reply: number; part: number }> {
	const written = new Map<string, { reply: number; part: number }>();
	for (let index = entries.length - 1; index > 0; index--) {
		const entry = entries.at(index);
		if (!isMessageEntry(entry) || entry.message.role !== "assistant" || !entry.context) continue;
		for (const [at, part] of (entry.context.shape ?? []).entries()) {
			if ("length" in part || "compaction" in part) continue;
			const place = "reply" in part ? part : { reply: index, part: at };
			const source = "reply" in part ? shapeOf(entries.at(part.reply))?.[part.part] : part;
			if (source && "message" in source) written.set(keyOf(source.message, source.entryIndex), place);
		}
		break;
	}
	return written;
}

function keyOf(message: AppMessage, entryIndex: number | null): string {
	return `${entryIndex ?? ""} ${digestContext([message])}`;
}
