import { readFileSync } from "node:fs";
import type { RequestUsage } from "../log/request-usage.js";
import { withFileLock } from "../util/file-lock.js";
import { atomicWriteFile } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";

/** Numbers per request in `IndexedFile.requests`. */
export const FIELDS = 8;
/** The price of a request that a subscription paid for. */
const NO_COST = -1;
/** The price of a request whose server reported no usage. */
const UNREPORTED = -2;
/** Other versions are read as empty. */
const VERSION = 2;
/** Longest wait for another process that writes the index, in ms. */
const LOCK_MS = 1000;

/** What the index knows of a session file. A file that is not a session has an empty id and no requests. */
export interface IndexedFile {
	/** Size and modification time of the file when it was read. */
	size: number;
	mtimeMs: number;
	/** Offset from which a longer file is read on. */
	offset: number;
	/** Digest of the bytes before `offset`: another one means that the file was rewritten. */
	mark: string;
	id: string;
	cwd: string;
	/** Start of the session, ms since the epoch. */
	beganAt: number;
	/** `FIELDS` numbers for each request, see `encodeRequest`. */
	requests: number[];
}

/** The index as it is stored: a cache that may be deleted at any time. */
export interface StoredIndex {
	/** Names of models; requests refer to them by position. */
	models: string[];
	/** By path. */
	files: Map<string, IndexedFile>;
}

/** Appends a request to a list of numbers. */
export function encodeRequest(list: number[], usage: RequestUsage, models: { numberOf(name: string): number }): void {
	const { at, sentAt, model, input, output, cacheRead, cacheWrite, cost, isUnreported } = usage;
	const price = isUnreported ? UNREPORTED : (cost ?? NO_COST);
	list.push(at, at - sentAt, models.numberOf(model), input, output, cacheRead, cacheWrite, price);
}

/** Reads the request at a position of a list. */
export function decodeRequest(list: readonly number[], position: number, models: readonly string[]): RequestUsage {
	const at = list[position] ?? 0;
	const cost = list[position + 7] ?? 0;
	return {
		at,
		sentAt: at - (list[position + 1] ?? 0),
		model: models[list[position + 2] ?? 0] ?? "",
		input: list[position + 3] ?? 0,
		output: list[position + 4] ?? 0,
		cacheRead: list[position + 5] ?? 0,
		cacheWrite: list[position + 6] ?? 0,
		cost: cost === NO_COST ? null : Math.max(0, cost),
		...(cost === UNREPORTED && { isUnreported: true }),
	};
}

/** Reads a stored index. Never throws: a missing or invalid one is empty. */
export function readIndexFile(path: string): StoredIndex {
	try {
		return parseIndex(JSON.parse(readFileSync(path, "utf8"))) ?? emptyIndex();
	} catch {
		return emptyIndex(); // it is written again
	}
}

/** Replaces the stored index. Never throws: without it, the next report reads the session files again. */
export async function writeIndexFile(path: string, { models, files }: StoredIndex): Promise<void> {
	const text = JSON.stringify({ version: VERSION, models, files: Object.fromEntries(files) });
	try {
		await withFileLock(path, () => atomicWriteFile(path, text, { mode: 0o600 }), LOCK_MS);
	} catch {
		// A read-only or full disk, or another pi that writes the same.
	}
}

function emptyIndex(): StoredIndex {
	return { models: [], files: new Map() };
}

function parseIndex(value: unknown): StoredIndex | null {
	if (!isRecord(value) || value.version !== VERSION || !isRecord(value.files)) return null;
	const { models } = value;
	if (!Array.isArray(models) || !models.every((name) => typeof name === "string")) return null;
	const files = new Map<string, IndexedFile>();
	for (const [path, file] of Object.entries(value.files)) {
		if (!isIndexedFile(file)) return null;
		files.set(path, file);
	}
	return { models, files };
}

function isIndexedFile(value: unknown): value is IndexedFile {
	if (!isRecord(value)) return false;
	const { size, mtimeMs, offset, mark, id, cwd, beganAt, requests } = value;
	return (
		[size, mtimeMs, offset, beganAt].every((number) => typeof number === "number") &&
		[mark, id, cwd].every((text) => typeof text === "string") &&
		Array.isArray(requests) &&
		requests.length % FIELDS === 0 &&
		areNumbers(requests)
	);
}

/** A loop: a callback for each of some 100,000 numbers takes longer than parsing them. */
function areNumbers(values: readonly unknown[]): boolean {
	for (const value of values) if (typeof value !== "number") return false;
	return true;
}
