import type { AssistantMessage } from "@mariozechner/pi-ai";
import {
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isImageOmissionEntry,
	isMessageEntry,
	isOpaqueEntry,
	isSessionHeader,
	type MessageEntry,
	type RecordedPreamble,
	type RecordedSegment,
	type SessionEntry,
} from "./entry.js";

/** The kinds of problems in a session file. */
export type IssueKind =
	/** The first line is not a header, so that pi cannot open the file. */
	| "no_header"
	/** The header is that of another format, which `pi sessions import` reads. */
	| "other_format"
	/** A line that cannot be read. pi skips it; other entries keep their indices. */
	| "damaged_line"
	/** A line that is too long to be read. */
	| "long_line"
	/** A tool call without a result. */
	| "unanswered_call"
	/** A tool result without a call, or a second one for the same call. */
	| "stray_result"
	/** An entry refers to an entry that does not exist or is of another kind. */
	| "bad_index"
	/** A header that is not the first line. */
	| "second_header"
	/** pi stopped while it wrote several entries; its journal holds the rest. */
	| "unfinished_write"
	/** The file cannot be read. */
	| "unreadable";

/** A problem in a session file. */
export interface SessionIssue {
	kind: IssueKind;
	/** Number of the line, from 1; null for a problem of the file. */
	line: number | null;
	/** Index of the entry; null for a problem of the file. */
	entryIndex: number | null;
	/** What is wrong, without the position. */
	text: string;
	/** Of the tool call. */
	callId?: string;
	toolName?: string;
}

interface OpenCall {
	line: number;
	entryIndex: number;
	name: string;
	/** False if no request contains the call, because its reply failed or was retried. */
	isSent: boolean;
}

/** Finds problems in the entries of a session, which it visits in order. */
export class SessionChecker {
	readonly #issues: SessionIssue[] = [];
	/** Type of each entry, or the role of its message. */
	readonly #kinds: string[] = [];
	/** Calls without a result so far, by id. Some providers use an id more than once. */
	readonly #open = new Map<string, OpenCall[]>();
	readonly #answered = new Set<string>();
	/** Number of segments in the recorded requests, by entry. */
	readonly #segments = new Map<number, number>();
	/** Number of parts in the recorded preambles, by entry. */
	readonly #parts = new Map<number, number>();
	#line = 0;

	/** Number of entries so far. */
	get length(): number {
		return this.#kinds.length;
	}

	/** True if a message could be read. */
	get hasMessages(): boolean {
		return this.#kinds.some((kind) => kind === "user" || kind === "assistant");
	}

	/** Index of the last reply; -1 without one. */
	get lastReply(): number {
		return this.#kinds.lastIndexOf("assistant");
	}

	/** The problems so far, in the order of their lines. */
	get issues(): SessionIssue[] {
		const unanswered = [...this.#open].flatMap(([callId, calls]) =>
			calls.filter(({ isSent }) => isSent).map((call) => unansweredCall(callId, call)),
		);
		return [...this.#issues, ...unanswered].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
	}

	/** @param line its number in the file, from 1 */
	visit(entry: SessionEntry, line: number): void {
		this.#line = line;
		const index = this.#kinds.push(isMessageEntry(entry) ? entry.message.role : entry.type) - 1;
		if (isOpaqueEntry(entry)) {
			// The header is checked on its own.
			if (index > 0) this.#add("damaged_line", `damaged: ${entry.reason}`);
		} else if (isSessionHeader(entry)) {
			if (index > 0) this.#add("second_header", "a second header");
		} else if (isMessageEntry(entry)) {
			this.#visitMessage(entry, index);
		} else if (isCompactionEntry(entry)) {
			const { firstKeptEntryIndex, keptEntries = [], shortened = [] } = entry;
			this.#checkIndex("firstKeptEntryIndex", firstKeptEntryIndex, index + 1);
			for (const kept of keptEntries) this.#checkIndex("keptEntries", kept, index);
			for (const { entryIndex } of shortened) this.#checkIndex("shortened", entryIndex, index);
		} else if (isContextUndoEntry(entry)) {
			this.#checkIndex("entryIndex", entry.entryIndex, index, ["compaction", "context_freeze", "image_omission"]);
		} else if (isContextFreezeEntry(entry)) {
			this.#checkIndex("entryIndex", entry.entryIndex, index, ["assistant"]);
		} else if (isImageOmissionEntry(entry)) {
			for (const { entryIndex } of entry.images) if (entryIndex !== null) this.#checkIndex("images", entryIndex, index);
		}
	}

	/** Notes a line that is too long to be read. */
	visitLong(length: number, line: number): void {
		this.#line = line;
		this.#kinds.push("opaque");
		this.#add("long_line", `too long to be read: ${length} bytes`);
	}

	#visitMessage({ message, retried, context }: MessageEntry, entryIndex: number): void {
		for (const segment of context?.shape ?? []) this.#checkSegment(segment, entryIndex);
		if (context?.shape) this.#segments.set(entryIndex, context.shape.length);
		if (context?.native !== undefined) this.#checkIndex("context.native", context.native, entryIndex, ["compaction"]);
		if (context?.preamble) this.#checkPreamble(context.preamble, entryIndex);
		if (message.role === "assistant") this.#visitCalls(message, entryIndex, retried !== true);
		if (message.role !== "toolResult") return;
		const { toolCallId, toolName } = message;
		if (this.#open.get(toolCallId)?.shift() !== undefined) {
			this.#answered.add(toolCallId);
			return;
		}
		// The reply with the call cannot be read.
		if (!this.#answered.has(toolCallId) && this.#kinds.lastIndexOf("opaque") > this.lastReply) return;
		const text = this.#answered.has(toolCallId) ? "a second result of" : "a result without";
		this.#issues.push({
			...{ kind: "stray_result", line: this.#line, entryIndex, text: `${text} ${toolName} call ${toolCallId}` },
			...{ callId: toolCallId, toolName },
		});
	}

	#visitCalls({ content, stopReason }: AssistantMessage, entryIndex: number, isKept: boolean): void {
		const isSent = isKept && stopReason !== "error" && stopReason !== "aborted";
		for (const block of content) {
			if (block.type !== "toolCall") continue;
			const calls = this.#open.get(block.id) ?? [];
			calls.push({ line: this.#line, entryIndex, name: block.name, isSent });
			this.#open.set(block.id, calls);
			this.#answered.delete(block.id);
		}
	}

	#checkSegment(segment: RecordedSegment, before: number): void {
		if (Array.isArray(segment)) {
			const [from = 0, to = 0] = segment;
			if (from > to) this.#add("bad_index", `context.shape refers to the entries ${from} to ${to}`);
			else this.#checkIndex("context.shape", to, before + 1);
		} else if ("compaction" in segment) {
			this.#checkIndex("context.shape", segment.compaction, before, ["compaction"]);
			if (segment.entry !== undefined) this.#checkIndex("context.shape", segment.entry, before);
		} else if ("reply" in segment) {
			this.#checkIndex("context.shape", segment.reply, before, ["assistant"]);
			if (segment.reply < before && segment.part >= (this.#segments.get(segment.reply) ?? 0))
				this.#lacks("context.shape", `part ${segment.part}`, segment.reply);
		} else if ("entryIndex" in segment && segment.entryIndex !== null) {
			this.#checkIndex("context.shape", segment.entryIndex, before);
		}
	}

	#checkPreamble(preamble: RecordedPreamble, before: number): void {
		const isPart = (reply: number, part: number) => part < (this.#parts.get(reply) ?? 0);
		if ("reply" in preamble) {
			if (!this.#parts.has(preamble.reply)) this.#lacks("context.preamble", "the preamble", preamble.reply);
			return;
		}
		this.#parts.set(before, preamble.parts.length);
		const { core, sent = [], generated = {} } = preamble;
		const made = Object.values(generated).filter((reference) => reference !== null);
		for (const reference of [...core, ...sent, ...made]) {
			const [reply, part] = typeof reference === "number" ? [before, reference] : reference;
			if (!isPart(reply, part)) this.#lacks("context.preamble", `part ${part}`, reply);
		}
	}

	#lacks(field: string, what: string, index: number): void {
		if (this.#isDamaged(index)) return;
		this.#add("bad_index", `${field} refers to ${what} of entry ${index}, which it lacks`);
	}

	/** @param kinds that the entry at `index` may have; default: any */
	#checkIndex(field: string, index: number, before: number, kinds?: readonly string[]): void {
		const kind = this.#kinds[index];
		if (!Number.isSafeInteger(index) || index < 0 || index >= before) {
			this.#add("bad_index", `${field} refers to entry ${index}, which does not precede it`);
		} else if (kinds && !kinds.includes(kind ?? "") && !this.#isDamaged(index)) {
			this.#add("bad_index", `${field} refers to entry ${index}, which is of type ${kind}`);
		}
	}

	/** Whether an entry cannot be read. That is the problem, and references to what it contained are its consequences. */
	#isDamaged(index: number): boolean {
		return index > 0 && this.#kinds[index] === "opaque";
	}

	#add(kind: IssueKind, text: string): void {
		this.#issues.push({ kind, line: this.#line, entryIndex: this.#kinds.length - 1, text });
	}
}

function unansweredCall(callId: string, { line, entryIndex, name }: OpenCall): SessionIssue {
	const text = `${name} call ${callId} has no result`;
	return { kind: "unanswered_call", line, entryIndex, text, callId, toolName: name };
}
