import type { ToolResultMessage } from "@mariozechner/pi-ai";
import type { EntrySource } from "../context/entry-message.js";
import {
	type ContextRecord,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isImageOmissionEntry,
	isMessageEntry,
	type PartReference,
	type RecordedPreamble,
	type RecordedRequest,
	type RecordedSegment,
	type SessionEntry,
} from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";

/** Fields of the entries of bundled hooks that hold the index of an entry. */
const INDEX_FIELDS: Readonly<Record<string, readonly string[]>> = {
	stack_pop: ["backToIndex", "toIndex", "pushIndex"],
	stack_unpop: ["popIndex"],
	note_undo: ["noteIndex"],
	fold: ["from", "to"],
	fold_undo: ["foldIndex"],
	pin: ["turn"],
	unpin: ["turn"],
};

/**
 * The log of a session as it would be if a strategy had run: the recorded entries, and between them those that the strategy
 * saves. Entries refer to others by index, so the indices in recorded entries are changed along.
 */
export class ShadowLog {
	readonly #entries: SessionEntry[] = [];
	#list: readonly SessionEntry[] | null = null;
	readonly #types = new Set<string>();
	/** Recorded entries that the strategy has saved again. */
	readonly #claimed = new Set<number>();
	/** Recorded entries as a strategy has changed them, by index. */
	readonly #changed = new Map<number, SessionEntry>();
	/** The index here of each recorded entry so far. */
	readonly #places: number[] = [];

	constructor(private readonly recorded: readonly SessionEntry[]) {}

	/** All entries so far, frozen. */
	get entries(): readonly SessionEntry[] {
		if (this.#list?.length !== this.#entries.length) this.#list = Object.freeze(this.#entries.slice());
		return this.#list;
	}

	/** The entries so far, read on demand. */
	source(): EntrySource {
		const { length } = this.#entries;
		return { length, at: (index) => (index < length ? this.#entries[index] : undefined) };
	}

	/** Whether an entry has one of these types. */
	hasType(types: readonly string[]): boolean {
		return types.some((type) => this.#types.has(type));
	}

	/** Number of recorded entries so far. */
	get recordedLength(): number {
		return this.#places.length;
	}

	/** The index here of a recorded entry; that of the next entry for one that is not here yet. */
	placeOf(recorded: number): number {
		return this.#places[recorded] ?? this.#entries.length + (recorded - this.#places.length);
	}

	/** Changes the prompt at an index of the recording that is not here yet. */
	changePrompt(index: number, text: string): void {
		const entry = this.recorded[index];
		if (!isMessageEntry(entry) || entry.message.role !== "user") return;
		const { content } = entry.message;
		const others = typeof content === "string" ? [] : content.filter(({ type }) => type !== "text");
		const message = { ...entry.message, content: [{ type: "text" as const, text }, ...others] };
		this.#changed.set(index, freezeDeep({ ...entry, message }));
	}

	/** Changes the result of a tool call, which is not here yet, at or after an index of the recording. */
	changeResult(from: number, callId: string, fields: Pick<ToolResultMessage, "content" | "isError">): void {
		for (let index = from; index < this.recorded.length; index++) {
			const entry = this.recorded[index];
			if (!isMessageEntry(entry) || entry.message.role !== "toolResult") continue;
			if (entry.message.toolCallId !== callId) continue;
			this.#changed.set(index, freezeDeep({ ...entry, message: { ...entry.message, ...fields } }));
			return;
		}
	}

	/** Index in the recording of an entry that the strategy saved in this turn, and that no earlier call has claimed. */
	claim(entry: SessionEntry): number | null {
		const key = keyOf(entry);
		const isBorder = (index: number) => {
			const candidate = this.recorded[index];
			return isMessageEntry(candidate) && candidate.message.role !== "toolResult";
		};
		let from = this.recordedLength;
		while (from > 1 && !isBorder(from - 1)) from--;
		for (let index = from; index < this.recorded.length; index++) {
			const candidate = this.recorded[index];
			if (index >= this.recordedLength && isBorder(index)) return null;
			if (!candidate || candidate.type !== entry.type || this.#claimed.has(index) || keyOf(candidate) !== key) continue;
			this.#claimed.add(index);
			return index;
		}
		return null;
	}

	/** Adds recorded entries up to index `end`. */
	extend(end: number): void {
		for (let index = this.#places.length; index < end; index++) {
			const entry = this.recorded[index];
			if (!entry) continue;
			this.#places.push(this.#entries.length);
			// A header of its own: caches of items belong to a header.
			const own = index === 0 ? Object.freeze({ ...entry }) : this.#moved(this.#changed.get(index) ?? entry);
			this.#add(own);
		}
	}

	/** Adds entries of a strategy. @returns their indices */
	append(entries: readonly SessionEntry[]): number[] {
		return entries.map((entry) => this.#add(freezeDeep(entry)));
	}

	#add(entry: SessionEntry): number {
		this.#types.add(entry.type);
		return this.#entries.push(entry) - 1;
	}

	get #isMoved(): boolean {
		return this.#entries.length > this.#places.length;
	}

	/** A recorded entry with the indices that the entries have here. */
	#moved(entry: SessionEntry): SessionEntry {
		if (!this.#isMoved) return entry;
		const place = (index: number) => this.placeOf(index);
		if (isCompactionEntry(entry)) {
			const { firstKeptEntryIndex, keptEntries, shortened } = entry;
			return freezeDeep({
				...entry,
				firstKeptEntryIndex: place(firstKeptEntryIndex),
				...(keptEntries && { keptEntries: keptEntries.map(place) }),
				...(shortened && {
					shortened: shortened.map((one) => ({ ...one, entryIndex: place(one.entryIndex) })),
				}),
			});
		}
		if (isContextUndoEntry(entry) || isContextFreezeEntry(entry))
			return freezeDeep({ ...entry, entryIndex: place(entry.entryIndex) });
		if (isImageOmissionEntry(entry)) {
			const images = entry.images.map((image) =>
				image.entryIndex === null ? image : { ...image, entryIndex: place(image.entryIndex) },
			);
			return freezeDeep({ ...entry, images });
		}
		if (isMessageEntry(entry)) {
			// The same message object: it stands for the same part of a request. Only a freeze reads the record.
			return entry.context ? Object.freeze({ ...entry, context: movedRecord(entry.context, place) }) : entry;
		}
		const fields = (INDEX_FIELDS[entry.type] ?? []).flatMap((name) => {
			const index: unknown = Reflect.get(entry, name);
			return typeof index === "number" ? [[name, place(index)] as const] : [];
		});
		return fields.length === 0 ? entry : freezeDeep({ ...entry, ...Object.fromEntries(fields) });
	}
}

function movedRecord(context: ContextRecord, place: (index: number) => number): ContextRecord {
	const { shape, preamble, native } = context;
	return {
		...context,
		...(native !== undefined && { native: place(native) }),
		...(shape && { shape: movedShape(shape, place) }),
		...(preamble && { preamble: movedPreamble(preamble, place) }),
	};
}

function movedPreamble(preamble: RecordedPreamble, place: (index: number) => number): RecordedPreamble {
	if ("reply" in preamble) return { reply: place(preamble.reply) };
	const moved = (at: PartReference): PartReference => (typeof at === "number" ? at : [place(at[0]), at[1]]);
	const { core, sent, generated } = preamble;
	const written = Object.entries(generated ?? {}).map(([id, at]) => [id, at === null ? null : moved(at)] as const);
	return {
		...preamble,
		core: core.map(moved),
		...(sent && { sent: sent.map(moved) }),
		...(generated && { generated: Object.fromEntries(written) }),
	};
}

function movedShape(shape: RecordedRequest, place: (index: number) => number): RecordedRequest {
	return shape.map((segment): RecordedSegment => {
		if ("length" in segment) return [place(segment[0]), place(segment[1] - 1) + 1];
		if ("compaction" in segment) {
			const { compaction, entry } = segment;
			return { compaction: place(compaction), ...(entry === undefined ? {} : { entry: place(entry) }) };
		}
		if ("reply" in segment) return { ...segment, reply: place(segment.reply) };
		return segment.entryIndex === null ? segment : { ...segment, entryIndex: place(segment.entryIndex) };
	});
}

/** An entry without the time at which it was saved. */
function keyOf({ timestamp: _, ...entry }: SessionEntry & { timestamp?: unknown }): string {
	return JSON.stringify(entry);
}
