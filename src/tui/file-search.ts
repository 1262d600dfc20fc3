import { setImmediate as nextTick } from "node:timers/promises";
import { fuzzyMatch } from "./fuzzy.js";

/** A file that fits a query. */
export interface FoundFile {
	readonly path: string;
	/** Indices of the matched letters in `path`. */
	readonly positions: readonly number[];
}

/** A list older than this is asked for again, in the background. ms. */
const MAX_AGE_MS = 5_000;
/** How long the search may hold up everything else. ms. */
const SLICE_MS = 5;

/** Fuzzy search over a list of paths of any length: it never holds up a key for longer than a few milliseconds. */
export class FileSearch {
	#files: Promise<readonly string[]> | undefined;
	#listedAt = 0;

	/** @param listFiles gives all paths; what it gives is kept for some seconds */
	constructor(private readonly listFiles: () => Promise<readonly string[]>) {}

	/** @returns at most `limit` files, best first; nothing when aborted or when the list cannot be had */
	async search(query: string, limit: number, signal: AbortSignal): Promise<FoundFile[]> {
		const files = await this.#list();
		if (signal.aborted) return [];
		if (!query) return files.slice(0, limit).map((path) => ({ path, positions: [] }));
		const candidate = inOrder(query);
		const best: (FoundFile & { score: number })[] = [];
		let sliceEnd = performance.now() + SLICE_MS;
		for (const [index, path] of files.entries()) {
			if (index % 256 === 0 && performance.now() > sliceEnd) {
				await nextTick();
				if (signal.aborted) return [];
				sliceEnd = performance.now() + SLICE_MS;
			}
			const match = candidate.test(path) ? fuzzyMatch(query, path) : null;
			if (match) insert(best, { path, positions: match.positions, score: match.score + nameBonus(query, path) }, limit);
		}
		return best;
	}

	async #list(): Promise<readonly string[]> {
		const now = performance.now();
		if (!this.#files) {
			this.#listedAt = now;
			this.#files = this.listFiles().catch(() => []);
		} else if (now - this.#listedAt > MAX_AGE_MS) {
			this.#listedAt = now;
			const previous = this.#files;
			// The list at hand serves until the new one is there.
			void this.listFiles()
				.catch(() => previous)
				.then((files) => {
					this.#files = Promise.resolve(files);
				});
		}
		return this.#files;
	}
}

/** A cheap test that a path holds the letters of the first word in order. */
function inOrder(query: string): RegExp {
	const [word = ""] = query.trim().split(/\s+/, 1);
	const letters = word.split("").map((letter) => letter.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&"));
	return new RegExp(letters.join("[^]*?"), "i");
}

/** What is in the file's name counts for more than what is in its folders. */
function nameBonus(query: string, path: string): number {
	return fuzzyMatch(query, path.slice(path.lastIndexOf("/") + 1)) ? 20 : 0;
}

function insert<T extends { score: number }>(best: T[], item: T, limit: number): void {
	const last = best.at(-1);
	if (best.length >= limit && last && last.score >= item.score) return;
	const at = best.findIndex((other) => other.score < item.score);
	best.splice(at === -1 ? best.length : at, 0, item);
	if (best.length > limit) best.pop();
}
