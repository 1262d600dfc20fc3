import { setImmediate } from "node:timers/promises";
import { escapePattern, rawTextPattern } from "../../../log/line-patterns.js";
import { monotonicMs } from "../../../util/clock.js";
import type { ItemRef, PagerItems } from "./pager-items.js";

/** Entries that are read between two looks at the clock. */
const BATCH = 32;
/** Longest time without a turn for other work, ms. */
const SLICE_MS = 8;

/** Searches all items of a log in slices that do not block keys and frames, from a position on and then from the start. */
export class TranscriptSearch {
	/** Matches an occurrence, ignoring letter case. */
	readonly pattern: RegExp;
	readonly #raw: RegExp;
	/** Items from the start position on, and those before it; in order. */
	readonly #ahead: ItemRef[] = [];
	readonly #behind: ItemRef[] = [];
	readonly #end: number;
	#searched = 0;
	#isStopped = false;

	constructor(
		readonly text: string,
		private readonly items: PagerItems,
		/** Index of the entry to start from. */
		private readonly from: number,
	) {
		this.pattern = new RegExp(escapePattern(text), "giu");
		this.#raw = rawTextPattern(text);
		this.#end = items.log.length;
	}

	/** All items with the text that were found so far, in order. */
	get found(): readonly ItemRef[] {
		return [...this.#behind, ...this.#ahead];
	}

	/** The first item found from the start position on, else the first of all; undefined while none is found. */
	get first(): ItemRef | undefined {
		return this.#ahead[0] ?? this.#behind[0];
	}

	get isDone(): boolean {
		return this.#searched >= this.#end;
	}

	/** Share of the entries that have been searched, 0 to 1. */
	get progress(): number {
		return this.#end === 0 ? 1 : Math.min(1, this.#searched / this.#end);
	}

	/** Searches until everything is searched or `stop` is called. @param onProgress called after each slice */
	async run(onProgress: () => void): Promise<void> {
		await this.#search(this.from, this.#end, this.#ahead, onProgress);
		await this.#search(0, this.from, this.#behind, onProgress);
		if (this.#isStopped) return;
		this.#searched = this.#end;
		onProgress();
	}

	stop(): void {
		this.#isStopped = true;
	}

	async #search(from: number, to: number, found: ItemRef[], onProgress: () => void): Promise<void> {
		let sliceEnd = monotonicMs() + SLICE_MS;
		for (let index = from; index < to && !this.#isStopped; index += BATCH) {
			const end = Math.min(to, index + BATCH);
			for (const entry of this.items.log.matching(this.#raw, index, end)) found.push(...this.#matches(entry));
			this.#searched += end - index;
			if (monotonicMs() < sliceEnd) continue;
			onProgress();
			await setImmediate();
			sliceEnd = monotonicMs() + SLICE_MS;
		}
	}

	/** The items with the text in an entry; those of the reply for a result. */
	#matches(entry: number): ItemRef[] {
		const { log } = this.items;
		const own = this.items.of(entry);
		const isResult = own.length === 0 && log.roleOf(entry) === "toolResult";
		const shown = isResult ? this.items.of(log.findLastMessage("assistant", entry)) : own;
		return shown
			.filter(({ text, kind }) => text.search(this.pattern) !== -1 && (!isResult || kind === "tool"))
			.map(({ entry: index, part }) => ({ entry: index, part }))
			.filter((ref) => !this.#has(ref));
	}

	#has({ entry, part }: ItemRef): boolean {
		// A call is found again with its result, which follows soon after it.
		const isSame = (other: ItemRef) => other.entry === entry && other.part === part;
		return this.#ahead.slice(-BATCH).some(isSame) || this.#behind.slice(-BATCH).some(isSame);
	}
}
