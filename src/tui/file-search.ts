import { setImmediate as nextTick } from "node:timers/promises";
import { monotonicMs } from "../util/clock.js";
import { fuzzyMatch } from "./fuzzy.js";

/** A file or folder that matches a query. */
export interface FoundFile {
	/** Ends in `/` for a folder. */
	readonly path: string;
	/** Indices of the matched letters in `path`. */
	readonly positions: readonly number[];
}

/** Reports all paths, separated by `/`, as they are found. Resolves after the last one, or soon after an abort. */
export type ListFiles = (onFile: (path: string) => void, signal: AbortSignal) => Promise<void>;

/** Options of a search. */
export interface SearchControls {
	limit: number;
	signal: AbortSignal;
	/** Receives the best results so far, repeatedly. */
	onPartial?(found: FoundFile[]): void;
}

/** A list older than this is refreshed in the background. */
const MAX_AGE_MS = 5_000;
/** Number of paths to match, in a few milliseconds, before keys and frames are handled. */
const SLICE = 2_000;
/** Interval between partial results. */
const PARTIAL_MS = 80;

interface ScoredFile extends FoundFile {
	readonly score: number;
}

/** The matches of a query. A longer query searches only these and the unseen rest of the list. */
interface Matches {
	readonly list: FileList;
	readonly query: string;
	readonly paths: string[];
	/** Number of paths of the list that were matched. */
	readonly seen: number;
}

/** Fuzzy search over a list of paths of any length, including a list that is still growing. */
export class FileSearch {
	#list: FileList | undefined;
	#next: FileList | undefined;
	#listedAt = 0;
	#matches: Matches | undefined;

	constructor(private readonly listFiles: ListFiles) {}

	/** @returns at most `limit` files and folders, best first; empty when aborted or when listing fails */
	async search(query: string, { limit, signal, onPartial }: SearchControls): Promise<FoundFile[]> {
		const list = this.#current();
		const known = this.#matches?.list === list && query.startsWith(this.#matches.query) ? this.#matches : undefined;
		const candidate = inOrder(query);
		const best: ScoredFile[] = [];
		const matched: string[] = [];
		// The first partial result comes sooner: the popup is still empty.
		let reportedAt = monotonicMs() - PARTIAL_MS / 2;
		let isReported = true;
		const look = (path: string): void => {
			const found = candidate.test(path) ? scored(query, path, candidate) : null;
			if (!found) return;
			matched.push(path);
			insert(best, found, limit);
			isReported = false;
		};
		const pause = async (): Promise<void> => {
			await nextTick();
			if (signal.aborted || isReported || monotonicMs() - reportedAt < PARTIAL_MS) return;
			reportedAt = monotonicMs();
			isReported = true;
			onPartial?.([...best]);
		};
		for (const [index, path] of known?.paths.entries() ?? []) {
			look(path);
			if (index % SLICE === SLICE - 1) await pause();
			if (signal.aborted) return [];
		}
		let at = known?.seen ?? 0;
		const keep = () => {
			this.#matches = { list, query, paths: matched, seen: at };
		};
		for (;;) {
			const end = Math.min(list.paths.length, at + SLICE);
			for (; at < end; at++) look(list.paths[at] ?? "");
			if (at < list.paths.length) await pause();
			else if (list.isComplete) break;
			else {
				await pause();
				if (at === list.paths.length) await list.more(signal, isReported ? undefined : PARTIAL_MS / 2);
			}
			if (signal.aborted) {
				keep();
				return [];
			}
		}
		keep();
		return best;
	}

	/** Stops listing. A complete list is kept. */
	cancel(): void {
		this.#next?.cancel();
		this.#next = undefined;
		if (this.#list?.isComplete) return;
		this.#list?.cancel();
		this.#list = undefined;
	}

	#current(): FileList {
		const now = monotonicMs();
		if (!this.#list) {
			this.#listedAt = now;
			this.#list = new FileList(this.listFiles);
		} else if (this.#list.isComplete && !this.#next && now - this.#listedAt > MAX_AGE_MS) {
			this.#listedAt = now;
			const next = new FileList(this.listFiles);
			this.#next = next;
			// The old list is used until the new one is complete.
			void next.done.then(() => {
				if (this.#next !== next) return;
				this.#list = next;
				this.#next = undefined;
			});
		}
		return this.#list;
	}
}

/** Paths in the order in which they are found, along with their folders. */
class FileList {
	readonly paths: string[] = [];
	readonly done: Promise<void>;
	isComplete = false;
	readonly #folders = new Set<string>();
	readonly #stop = new AbortController();
	readonly #waiting = new Set<() => void>();
	#lastFolder = "";

	constructor(listFiles: ListFiles) {
		this.done = listFiles((path) => this.#add(path), this.#stop.signal)
			// Paths found before the failure can still be searched.
			.catch(() => {})
			.then(() => {
				this.isComplete = true;
				this.#wake();
			});
	}

	cancel(): void {
		this.#stop.abort();
	}

	/** Resolves when a path arrives, when the list is complete, on abort, or after the timeout. */
	more(signal: AbortSignal, timeoutMs?: number): Promise<void> {
		return new Promise((resolve) => {
			let timer: NodeJS.Timeout | undefined;
			const end = () => {
				clearTimeout(timer);
				signal.removeEventListener("abort", end);
				this.#waiting.delete(end);
				resolve();
			};
			if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs);
			this.#waiting.add(end);
			signal.addEventListener("abort", end, { once: true });
			if (this.isComplete || signal.aborted) end();
		});
	}

	#wake(): void {
		for (const end of this.#waiting) end();
	}

	#add(path: string): void {
		const folder = path.slice(0, path.lastIndexOf("/") + 1);
		if (folder !== this.#lastFolder) {
			this.#lastFolder = folder;
			this.#addFolder(folder);
		}
		this.paths.push(path);
		if (this.#waiting.size > 0) this.#wake();
	}

	/** Adds a folder after its parent folders. */
	#addFolder(folder: string): void {
		if (folder === "" || this.#folders.has(folder)) return;
		this.#addFolder(folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1));
		this.#folders.add(folder);
		this.paths.push(folder);
	}
}

function scored(query: string, path: string, candidate: RegExp): ScoredFile | null {
	// An empty query lists paths near the root first, folders before files.
	if (!query) return { path, positions: [], score: -2 * depthOf(path) + (path.endsWith("/") ? 1 : 0) };
	const match = path === query ? null : fuzzyMatch(query, path);
	return match && { path, positions: match.positions, score: match.score + nameBonus(candidate, path) };
}

function depthOf(path: string): number {
	let depth = 0;
	for (let at = path.indexOf("/"); at !== -1 && at < path.length - 1; at = path.indexOf("/", at + 1)) depth++;
	return depth;
}

/** A cheap test that a path contains the letters of the first word in order. */
function inOrder(query: string): RegExp {
	const [word = ""] = query.trim().split(/\s+/, 1);
	const letters = word.split("").map((letter) => letter.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&"));
	return new RegExp(letters.join("[^]*?"), "i");
}

/** Matches in the file name count more than matches in its folders. */
function nameBonus(candidate: RegExp, path: string): number {
	return candidate.test(path.slice(path.lastIndexOf("/", path.length - 2) + 1)) ? 20 : 0;
}

/** Equal scores are ordered by name. */
function isBetter(a: ScoredFile, b: ScoredFile): boolean {
	return a.score > b.score || (a.score === b.score && a.path < b.path);
}

function insert(best: ScoredFile[], item: ScoredFile, limit: number): void {
	const last = best.at(-1);
	if (best.length >= limit && last && !isBetter(item, last)) return;
	const at = best.findIndex((other) => isBetter(item, other));
	best.splice(at === -1 ? best.length : at, 0, item);
	if (best.length > limit) best.pop();
}
