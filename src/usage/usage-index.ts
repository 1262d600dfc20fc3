import { createHash } from "node:crypto";
import { existsSync, type Stats, statSync } from "node:fs";
import { setImmediate as nextTick } from "node:timers/promises";
import { sessionFiles } from "../log/catalog.js";
import { OpenFile } from "../log/open-file.js";
import { readSessionHeader } from "../log/read-entry.js";
import { readUsage } from "../log/read-usage.js";
import type { RequestUsage } from "../log/request-usage.js";
import { monotonicMs } from "../util/clock.js";
import { decodeRequest, encodeRequest, FIELDS, type IndexedFile, readIndexFile, writeIndexFile } from "./index-file.js";

/** Time after which reading yields to the event loop. */
const SLICE_MS = 8;
/** Bytes compared to find out whether a file was only appended to. */
const MARK_BYTES = 4096;

/** The session that a request belongs to. */
export interface UsageSession {
	id: string;
	/** Working directory in which it began. */
	cwd: string;
}

/** A request and its session. */
export interface SessionRequest {
	session: UsageSession;
	usage: RequestUsage;
}

/**
 * The usage of all sessions in some directories, from their files. An index on disk spares reading files that are
 * unchanged, and the known part of those that have grown; the files always decide.
 */
export class UsageIndex {
	readonly #file: string;
	readonly #dirs: () => readonly string[];
	readonly #models: string[];
	readonly #modelNumbers: Map<string, number>;
	readonly #files: Map<string, IndexedFile>;
	/** Files in the directories when they were listed last. */
	#listed = new Set<string>();
	#isChanged = false;
	#sliceStart = 0;

	/**
	 * @param file path of the index
	 * @param dirs lists the directories with session files
	 */
	constructor(file: string, dirs: () => readonly string[]) {
		this.#file = file;
		this.#dirs = dirs;
		const { models, files } = readIndexFile(file);
		this.#models = models;
		this.#modelNumbers = new Map(models.map((name, number) => [name, number]));
		this.#files = files;
	}

	/** Reads what changed in the session files since the last time. Files that cannot be read are omitted. */
	async refresh(signal?: AbortSignal): Promise<void> {
		const paths = this.#dirs().flatMap(sessionFiles);
		this.#listed = new Set(paths);
		for (const path of this.#files.keys()) if (!this.#listed.has(path) && !existsSync(path)) this.#drop(path);
		this.#sliceStart = monotonicMs();
		for (const path of paths) {
			signal?.throwIfAborted();
			await this.refreshFile(path);
		}
	}

	/** Reads what changed in one session file. */
	async refreshFile(path: string): Promise<void> {
		this.#listed.add(path);
		const stats = statSync(path, { throwIfNoEntry: false });
		const known = this.#files.get(path);
		if (stats && known && known.size === stats.size && known.mtimeMs === stats.mtimeMs) return;
		this.#isChanged = true;
		const read = stats?.isFile() ? await this.#read(path, stats, known) : null;
		if (read) this.#files.set(path, read);
		else this.#drop(path);
	}

	/** Saves the index if it changed. */
	async save(): Promise<void> {
		if (!this.#isChanged) return;
		this.#isChanged = false;
		await writeIndexFile(this.#file, { models: this.#models, files: this.#files });
	}

	/**
	 * Every request, session by session. A request that is in several files, because a session was branched or copied, is
	 * yielded once, for the session that began first.
	 * @param since leaves out earlier requests; ms since the epoch
	 */
	*requests(since = 0): Generator<SessionRequest> {
		const files = [...this.#files].filter(([path, { mtimeMs }]) => this.#listed.has(path) && mtimeMs >= since);
		files.sort(([pathA, a], [pathB, b]) => a.beganAt - b.beganAt || (pathA < pathB ? -1 : 1));
		const repeated = repeatedTimes(files.map(([, { requests }]) => requests));
		const copies = new Copies();
		for (const [, { id, cwd, requests }] of files) {
			const session = { id, cwd };
			for (let position = 0; position < requests.length; position += FIELDS) {
				const at = requests[position] ?? 0;
				if (at < since) continue;
				const usage = decodeRequest(requests, position, this.#models);
				if (!repeated.has(at) || !copies.has(usage)) yield { session, usage };
			}
		}
	}

	#drop(path: string): void {
		if (this.#files.delete(path)) this.#isChanged = true;
	}

	async #read(path: string, { size, mtimeMs }: Stats, known: IndexedFile | undefined): Promise<IndexedFile | null> {
		let file: OpenFile | undefined;
		try {
			file = OpenFile.open(path, false);
			const base = known && size > known.size && markBefore(file, known.offset) === known.mark ? known : null;
			const header = base ? null : readSessionHeader(file);
			if (typeof header === "string") {
				return { size, mtimeMs, offset: 0, mark: "", id: "", cwd: "", beganAt: 0, requests: [] };
			}
			const { requests: added, end, hasOpenEnd } = await readUsage(file, base?.offset ?? 0, () => this.#breathe());
			const requests = base ? [...base.requests] : [];
			for (const usage of added) encodeRequest(requests, usage, { numberOf: (name) => this.#numberOf(name) });
			return {
				size,
				mtimeMs,
				// An entry without line end is counted; whatever follows it, the file is then read from its start.
				offset: hasOpenEnd ? 0 : end,
				mark: hasOpenEnd ? "" : markBefore(file, end),
				id: header?.id ?? base?.id ?? "",
				cwd: header?.cwd ?? base?.cwd ?? "",
				beganAt: header ? Date.parse(header.timestamp) || 0 : (base?.beganAt ?? 0),
				requests,
			};
		} catch {
			return null; // it was deleted, or is not readable
		} finally {
			file?.close();
		}
	}

	#numberOf(model: string): number {
		const known = this.#modelNumbers.get(model);
		if (known !== undefined) return known;
		const number = this.#models.push(model) - 1;
		this.#modelNumbers.set(model, number);
		return number;
	}

	async #breathe(): Promise<void> {
		if (monotonicMs() - this.#sliceStart < SLICE_MS) return;
		await nextTick();
		this.#sliceStart = monotonicMs();
	}
}

/** A digest of the bytes before an offset of a file. */
function markBefore(file: OpenFile, offset: number): string {
	const bytes = Buffer.alloc(Math.min(offset, MARK_BYTES));
	const count = file.readSome(bytes, offset - bytes.length);
	return createHash("sha1").update(bytes.subarray(0, count)).digest("base64");
}

/** Times at which several requests were written: only these can be copies of each other. */
function repeatedTimes(lists: readonly (readonly number[])[]): ReadonlySet<number> {
	const times = new Float64Array(lists.reduce((count, { length }) => count + length / FIELDS, 0));
	let filled = 0;
	for (const list of lists) {
		for (let position = 0; position < list.length; position += FIELDS) times[filled++] = list[position] ?? 0;
	}
	times.sort();
	const repeated = new Set<number>();
	let before = Number.NaN;
	for (const time of times) {
		if (time === before) repeated.add(time);
		before = time;
	}
	return repeated;
}

/** Finds requests that were copied to another file. */
class Copies {
	/** The first request written at each time. */
	readonly #first = new Map<number, RequestUsage>();
	/** Others that were written in the same millisecond. */
	readonly #others = new Map<number, RequestUsage[]>();

	/** Remembers a request. @returns true if the same one was there before */
	has(usage: RequestUsage): boolean {
		const first = this.#first.get(usage.at);
		if (!first) {
			this.#first.set(usage.at, usage);
			return false;
		}
		const others = this.#others.get(usage.at) ?? [];
		if (isSame(first, usage) || others.some((other) => isSame(other, usage))) return true;
		this.#others.set(usage.at, [...others, usage]);
		return false;
	}
}

function isSame(a: RequestUsage, b: RequestUsage): boolean {
	return (
		a.sentAt === b.sentAt &&
		a.model === b.model &&
		a.input === b.input &&
		a.output === b.output &&
		a.cacheRead === b.cacheRead &&
		a.cacheWrite === b.cacheWrite
	);
}
