import { decodeLine } from "./codec.js";
import { mayRecordUsage, ROLES, roleAt, TypeTable, usageInReply } from "./line-patterns.js";
import { usageOf } from "./request-usage.js";

/** Tokens and price of the requests of a session. */
export interface SpentUsage {
	tokens: { input: number; output: number; cacheRead: number; cacheWrite: number };
	/** US dollars, without requests that a subscription paid for. */
	cost: number;
}

const NOTHING: CountedUsage = {
	entries: 0,
	totals: { tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, cost: 0 },
};
/** `countSome` reads about as many bytes per call: a few ms. */
const BYTES_AT_A_TIME = 2 * 1024 * 1024;
/** Number of entries after which it compares. */
const ENTRIES_AT_A_TIME = 64;

/** The lines of a log. */
export interface CountedLines {
	readonly length: number;
	/** Visits the lines of the entries in `[from, to)`; `line` is only valid during the call. */
	forEachLine(from: number, to: number, visit: (index: number, line: Buffer) => void): void;
}

/** How far the usage of a log has been counted. */
export interface CountedUsage {
	/** Number of entries that were counted. */
	entries: number;
	totals: SpentUsage;
}

/** Counts what the requests of a log used, incrementally. Decodes almost no entries, and keeps none. */
export class UsageTotals {
	readonly #types = new TypeTable();
	#next: number;
	readonly #totals: SpentUsage;

	/** @param counted what an earlier process counted */
	constructor(counted: CountedUsage = NOTHING) {
		this.#next = counted.entries;
		this.#totals = copyOf(counted.totals);
	}

	/** What has been counted so far. */
	get counted(): CountedUsage {
		return { entries: this.#next, totals: copyOf(this.#totals) };
	}

	/** Counts on where the last call stopped. @returns a snapshot; null until everything is counted */
	countSome(log: CountedLines): SpentUsage | null {
		for (let bytes = 0; this.#next < log.length && bytes < BYTES_AT_A_TIME; ) bytes += this.#countNext(log);
		return this.#next < log.length ? null : copyOf(this.#totals);
	}

	/** @returns the number of bytes read */
	#countNext(log: CountedLines): number {
		const from = this.#next;
		this.#next = Math.min(log.length, from + ENTRIES_AT_A_TIME);
		let bytes = 0;
		try {
			log.forEachLine(from, this.#next, (_, line) => {
				bytes += line.length;
				this.#add(line);
			});
		} catch {
			// Lines that cannot be read record no usage.
		}
		return bytes;
	}

	#add(line: Buffer): void {
		const role = ROLES[roleAt(line, 0, line.length)];
		const isReply = role === "assistant";
		if (!isReply && (role !== "" || !mayRecordUsage(line, 0, line.length, this.#types))) return;
		const usage = (isReply && usageInReply(line)) || usageOf(decodeLine(line));
		if (!usage) return;
		const { tokens } = this.#totals;
		tokens.input += usage.input;
		tokens.output += usage.output;
		tokens.cacheRead += usage.cacheRead;
		tokens.cacheWrite += usage.cacheWrite;
		this.#totals.cost += usage.cost ?? 0;
	}
}

function copyOf({ tokens, cost }: SpentUsage): SpentUsage {
	return { tokens: { ...tokens }, cost };
}
