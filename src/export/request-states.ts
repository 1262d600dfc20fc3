import { compactionMessage, type EntrySource, entriesBefore, entryMessage } from "../context/entry-message.js";
import { activeReplacement } from "../context/replacement.js";
import { estimateTokens } from "../context/tokens.js";
import { isCompactionEntry, isMessageEntry, type RecordedSegment, type SessionEntry } from "../log/entry.js";
import { usageOf } from "../log/request-usage.js";
import { cleanText } from "./html-text.js";
import { type LedgerPreamble, RequestPreambles } from "./request-preambles.js";

/**
 * Which messages were in the context of which request, as numbers. Entries come first, by index, then the messages that
 * hooks made. A request lists only what changed since the one before it.
 */
export interface RequestLedger {
	/** Number of entries. */
	entries: number;
	/** Estimated tokens of each message; 0 for entries without one. */
	tokens: number[];
	/** Entry index of the reply to the first request with each message of a hook. */
	hookReplies: number[];
	/** Why a message is not in a context, or is changed in it, by state. State 0 means "in the context". */
	reasons: Reason[];
	/** In order; the last one is not a request but the context after all entries. */
	requests: LedgerRequest[];
	/** The system prompts and tools of requests, each once; absent without any. */
	preambles?: LedgerPreamble[];
}

/** What a state means. */
export interface Reason {
	text: string;
	/** True if the message is in the context in another form. */
	changed?: true;
}

export interface LedgerRequest {
	/** Later entries were not sent yet. */
	end: number;
	/** Entry index of the reply; absent for the context after all entries. */
	reply?: number;
	/** Input tokens that the provider reported, or the estimate of pi; 0 if unknown. */
	sent: number;
	/** Tokens of these that the provider read from its cache. */
	cached?: number;
	/** US dollars; absent if unknown or paid by a subscription. */
	cost?: number;
	/** Number of its system prompt and tools in `preambles`; absent if the log does not have them. */
	preamble?: number;
	/** `from, to, state` of each stretch of messages whose state changed. */
	changes?: number[];
}

/** A stretch of messages with the same state. */
type Stretch = readonly [from: number, to: number, state: number];

/** The messages of a request: stretches of entries, and messages that are in another form. */
interface Request {
	included: (readonly [from: number, to: number])[];
	/** State of single messages. */
	changed: Map<number, number>;
}

const IN_CONTEXT = 0;
/** The state of a hook's message in requests without it. */
const NOT_PART = 1;
const BY_HOOK = 2;
const UNUSED = 3;
const FIRST_REASONS: readonly Reason[] = [
	{ text: "" },
	{ text: "not part of this request" },
	{ text: "hidden by a hook" },
	{ text: "no longer used" },
];

/** Collects the ledger of a session while its entries are read in order. */
export class RequestStates {
	readonly #tokens: number[] = [];
	/** Number of messages among the entries before an index. */
	readonly #messagesBefore: number[] = [];
	readonly #reasons: Reason[] = [...FIRST_REASONS];
	readonly #stateOf = new Map<string, number>();
	readonly #requests: LedgerRequest[] = [];
	readonly #compactions: number[] = [];
	/** Tokens of the messages of hooks, and their numbers by reply and position in its record. */
	readonly #hookTokens: number[] = [];
	readonly #hookReplies: number[] = [];
	readonly #hookNumbers = new Map<string, number>();
	#current: readonly Stretch[] = [];
	#replacement: ReturnType<typeof activeReplacement> = null;
	#isStale = false;

	readonly preambles: RequestPreambles;

	/** @param peeked the entries, in a form that does not keep them in memory */
	constructor(
		private readonly entries: EntrySource,
		peeked = entries,
	) {
		this.preambles = new RequestPreambles(peeked);
	}

	/** Adds the next entry. */
	add(index: number, entry: SessionEntry | undefined): void {
		if (isMessageEntry(entry) && entry.message.role === "assistant" && !entry.retried) this.#addRequest(index, entry);
		const message = isCompactionEntry(entry) ? compactionMessage(entry) : entryMessage(entry);
		const count = this.#messagesBefore[index] ?? 0;
		this.#messagesBefore[index + 1] = count + (entryMessage(entry) ? 1 : 0);
		this.#tokens[index] = message ? estimateTokens(message) : 0;
		if (isCompactionEntry(entry)) this.#compactions.push(index);
		if (entry?.type === "compaction" || entry?.type === "context_freeze" || entry?.type === "context_undo")
			this.#isStale = true;
	}

	/** Number of a hook's message, which is stored with a reply; undefined for other messages. */
	hookMessage(reply: number, part: number): number | undefined {
		return this.#hookNumbers.get(`${reply} ${part}`);
	}

	/** @param hidden the entries that hooks hide now, with the name of the hook */
	finish(hidden: readonly { entryIndex: number; by: { kind: string; hook?: string } }[]): RequestLedger {
		const { length } = this.entries;
		const request = this.#fromEntries(length);
		for (const { entryIndex, by } of hidden) {
			const text = `hidden by the hook ${cleanText(by.hook ?? "")}`;
			if (by.kind === "hook" && isIn(request.included, entryIndex))
				request.changed.set(entryIndex, this.#state({ text }));
		}
		const preamble = this.#requests.at(-1)?.preamble;
		const now = preamble === undefined ? {} : { preamble };
		this.#requests.push({ end: length, sent: 0, ...now, ...this.#change(request, length) });
		return {
			entries: length,
			tokens: this.#tokens.concat(this.#hookTokens),
			hookReplies: this.#hookReplies,
			reasons: this.#reasons,
			requests: this.#requests,
			...(this.preambles.list.length > 0 && { preambles: this.preambles.list }),
		};
	}

	/** Why an entry is not in the context of the last request or after all entries; undefined if it is. */
	reasonNow(index: number): string | undefined {
		if (!this.#tokens[index]) return undefined;
		const found = this.#current.find(([from, to]) => from <= index && index < to);
		const reason = this.#reasons[found?.[2] ?? IN_CONTEXT];
		return reason?.changed ? undefined : reason?.text || undefined;
	}

	#addRequest(reply: number, entry: SessionEntry): void {
		if (!isMessageEntry(entry)) return;
		const shape = entry.context?.shape;
		const request = shape ? this.#fromRecord(shape, reply) : this.#fromEntries(reply);
		const end = shape ? reply : this.#sentEnd(reply, entry.context?.messages);
		const preamble = this.preambles.add(reply, entry.context);
		const usage = usageOf(entry);
		const reported = usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0;
		this.#requests.push({
			end,
			reply,
			sent: reported || entry.context?.tokens || 0,
			...(usage && usage.cacheRead > 0 && { cached: usage.cacheRead }),
			...(usage?.cost && { cost: Number(usage.cost.toFixed(6)) }),
			...(preamble !== undefined && { preamble }),
			...this.#change(request, reply),
		});
	}

	/** Entries that were saved while the reply streamed are before it in the log, but were not in its request. */
	#sentEnd(reply: number, recorded: number | undefined): number {
		if (recorded === undefined || this.#active(reply) !== null) return reply;
		let end = reply;
		while (end > 0 && (this.#messagesBefore[end] ?? 0) > recorded) end--;
		return end;
	}

	/** The request that pi builds from the entries before an index without hooks. */
	#fromEntries(end: number): Request {
		const active = this.#active(end);
		const request: Request = { included: [[active?.firstKeptEntryIndex ?? 0, end]], changed: new Map() };
		if (active?.kind === "compaction") {
			for (const index of [...active.keptPrompts, active.entryIndex]) request.included.push([index, index + 1]);
			const state = this.#shortened(active.entryIndex);
			for (const { entryIndex } of active.entry.shortened ?? []) request.changed.set(entryIndex, state);
		}
		for (const { entryIndex, origin } of active?.kind === "freeze" ? active.messages : []) {
			const index = origin.kind === "compaction" ? origin.entryIndex : entryIndex;
			if (index !== null) request.included.push([index, index + 1]);
		}
		return this.#withoutSummaries(request, active?.kind === "compaction" ? [active.entryIndex] : []);
	}

	/** The request of a reply as it was recorded, after all hooks. */
	#fromRecord(shape: readonly RecordedSegment[], reply: number): Request {
		this.#active(reply);
		const request: Request = { included: [], changed: new Map() };
		const summaries: number[] = [];
		for (const [part, segment] of shape.entries()) {
			if ("length" in segment) request.included.push([segment[0], Math.min(segment[1], reply)]);
			else if ("compaction" in segment) {
				const { compaction, entry } = segment;
				if (entry === undefined) summaries.push(compaction);
				else request.changed.set(entry, this.#shortened(compaction));
				const index = entry ?? compaction;
				request.included.push([index, index + 1]);
			} else {
				const at = this.entries.length + this.#hookNumber(segment, reply, part);
				request.included.push([at, at + 1]);
			}
		}
		return this.#withoutSummaries(request, summaries);
	}

	#hookNumber(
		segment: Exclude<RecordedSegment, readonly unknown[] | { compaction: number }>,
		reply: number,
		part: number,
	): number {
		const key = "reply" in segment ? `${segment.reply} ${segment.part}` : `${reply} ${part}`;
		const known = this.#hookNumbers.get(key);
		if (known !== undefined) return known;
		const number = this.#hookTokens.length;
		this.#hookTokens.push("message" in segment ? estimateTokens(segment.message) : 0);
		this.#hookReplies.push(reply);
		this.#hookNumbers.set(key, number);
		return number;
	}

	/** Entries of compactions have no message of their own: only the summary that was sent is in a context. */
	#withoutSummaries({ included, changed }: Request, sent: readonly number[]): Request {
		const unused = this.#compactions.filter((index) => !sent.includes(index));
		const split = unused.reduce<Request["included"]>(
			(ranges, index) =>
				ranges.flatMap(([from, to]) =>
					index < from || index >= to
						? [[from, to] as const]
						: [[from, index] as const, [index + 1, to] as const].filter(([start, end]) => start < end),
				),
			included,
		);
		return { included: split, changed: new Map([...changed].filter(([index]) => isIn(split, index))) };
	}

	#active(end: number): ReturnType<typeof activeReplacement> {
		if (this.#isStale) {
			this.#replacement = activeReplacement(entriesBefore(this.entries, end));
			this.#isStale = false;
		}
		return this.#replacement;
	}

	/** The states that differ from those of the previous request. */
	#change({ included, changed }: Request, end: number): { changes?: number[] } {
		const next = [...this.#gaps(included, end), ...[...changed].map(([at, state]): Stretch => [at, at + 1, state])];
		const before = byStart(this.#current);
		const after = byStart(next);
		const changes: number[] = [];
		for (const stretch of this.#current) {
			if (!isSame(stretch, after.get(stretch[0]))) changes.push(stretch[0], stretch[1], IN_CONTEXT);
		}
		for (const stretch of next) if (!isSame(stretch, before.get(stretch[0]))) changes.push(...stretch);
		this.#current = next;
		return changes.length > 0 ? { changes } : {};
	}

	/** The messages that a request does not include, with the reason. */
	#gaps(included: Request["included"], end: number): Stretch[] {
		const { length } = this.entries;
		const kept = this.#replacement?.firstKeptEntryIndex ?? 0;
		const ofEntries = included.filter(([from]) => from < length);
		const ofHooks = included.filter(([from]) => from >= length);
		return [...gapsBetween(ofEntries, 0, Math.min(kept, end)), ...gapsBetween(ofEntries, Math.min(kept, end), end)]
			.map(([from, to]): Stretch => [from, to, this.#gapState(from, to, kept)])
			.concat(
				gapsBetween(ofHooks, length, length + this.#hookReplies.length).map(([from, to]) => [from, to, NOT_PART]),
			);
	}

	#gapState(from: number, to: number, kept: number): number {
		const active = this.#replacement;
		if (active && to <= kept) {
			const verb = active.kind === "compaction" ? "summarized by the compaction" : "replaced by the freeze";
			return this.#state({ text: `${verb} in entry ${active.entryIndex}` });
		}
		for (let index = from; index < to; index++) {
			if (this.#tokens[index] && !this.#compactions.includes(index)) return BY_HOOK;
		}
		return UNUSED;
	}

	#shortened(compaction: number): number {
		return this.#state({ text: `shortened by the compaction in entry ${compaction}`, changed: true });
	}

	#state(reason: Reason): number {
		const known = this.#stateOf.get(reason.text);
		if (known !== undefined) return known;
		this.#stateOf.set(reason.text, this.#reasons.length);
		return this.#reasons.push(reason) - 1;
	}
}

function isIn(ranges: Request["included"], index: number): boolean {
	return ranges.some(([from, to]) => from <= index && index < to);
}

/** The parts of `[start, end)` outside all ranges. */
function gapsBetween(ranges: Request["included"], start: number, end: number): [from: number, to: number][] {
	const gaps: [number, number][] = [];
	let at = start;
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		if (at < Math.min(from, end)) gaps.push([at, Math.min(from, end)]);
		at = Math.max(at, to);
	}
	if (at < end) gaps.push([at, end]);
	return gaps;
}

/** No two stretches start at the same message. */
function byStart(stretches: readonly Stretch[]): Map<number, Stretch> {
	return new Map(stretches.map((stretch) => [stretch[0], stretch]));
}

function isSame(a: Stretch, b: Stretch | undefined): boolean {
	return b !== undefined && a[1] === b[1] && a[2] === b[2];
}
