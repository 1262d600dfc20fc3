import {
	accessSync,
	chmodSync,
	closeSync,
	constants,
	fchmodSync,
	fchownSync,
	fstatSync,
	fsyncSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	// `node:fs/promises` would be loaded at the start, which takes Node a millisecond.
	promises,
	readlinkSync,
	readSync,
	realpathSync,
	renameSync,
	rmdirSync,
	type Stats,
	statSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { PiError } from "../errors.js";
import { MAX_READ_BYTES, tooLarge } from "./read-limit.js";
import { removeAbandoned, temporaryPath } from "./temporary-file.js";

const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const MAX_LINKS = 40;
const READ_CHUNK_BYTES = 64 * 1024;

/** The `errno` name (`ENOENT`, …) of an error or of its cause; undefined if none exists. */
export function errnoCode(error: unknown): string | undefined {
	if (!(error instanceof Error)) return undefined;
	if ("code" in error && typeof error.code === "string" && !(error instanceof PiError)) return error.code;
	return errnoCode(error.cause);
}

/** True if an error, or its cause, means that the file or one of its parent directories does not exist. */
export function isNotFound(error: unknown): boolean {
	const code = errnoCode(error);
	return code === "ENOENT" || code === "ENOTDIR";
}

/** True if two paths name the same file, also through links; a file that does not exist is the same only by its path. */
export function isSameFile(a: string, b: string): boolean {
	if (resolve(a) === resolve(b)) return true;
	const [one, other] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }));
	return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** What is at a path; null if nothing exists there or it cannot be looked at, and for an invalid path. */
export function statOrNull(path: string): Stats | null {
	try {
		return statSync(path, { throwIfNoEntry: false }) ?? null;
	} catch {
		return null;
	}
}

/** A path with its links resolved; null if nothing exists there, or if it is not a valid path. */
export function realPathOrNull(path: string): string | null {
	try {
		return realpathSync(path);
	} catch {
		return null;
	}
}

/** The kind of a file in words: `a directory`, `a FIFO`, … */
export function fileKind(stats: Stats): string {
	if (stats.isFile()) return "a regular file";
	if (stats.isDirectory()) return "a directory";
	if (stats.isFIFO()) return "a FIFO";
	if (stats.isSocket()) return "a socket";
	if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
	return "not a regular file";
}

/** The error for a path that is used as a directory, but is something else. */
export function notADirectory(path: string, stats: Stats): Error {
	return Object.assign(new Error(`${path} is ${fileKind(stats)}, not a directory`), { code: "EEXIST" });
}

/**
 * Creates a directory and its missing parents, accessible only by this user (0700, independent of the umask). An
 * existing directory keeps its mode.
 */
export function ensurePrivateDir(path: string): void {
	const full = resolve(path);
	const stats = statOrNull(full);
	if (stats?.isDirectory()) return;
	if (!stats) ensurePrivateDir(dirname(full));
	try {
		mkdirSync(full, 0o700);
	} catch (error) {
		if (errnoCode(error) !== "EEXIST") throw error;
		// Another process may have created it meanwhile.
		const existing = statSync(full);
		if (!existing.isDirectory()) throw notADirectory(full, existing);
		return;
	}
	chmodSync(full, 0o700);
}

/**
 * A private directory for temporary files: `path`, or a new one in the system's directory for them if `path` cannot be
 * written to. A new one that is empty is removed when the process exits.
 */
export function usablePrivateDir(path: string): string {
	try {
		ensurePrivateDir(path);
		accessSync(path, constants.W_OK);
		return path;
	} catch {
		return temporaryDir() ?? path;
	}
}

function temporaryDir(): string | null {
	try {
		const dir = mkdtempSync(join(tmpdir(), "pi-"));
		process.once("exit", () => {
			try {
				rmdirSync(dir);
			} catch {
				// It holds files that the user may still want, such as the output of a command.
			}
		});
		return dir;
	} catch {
		return null; // what needs the directory reports that it cannot be written to
	}
}

export interface WriteFileOptions {
	/** Permission bits, independent of the umask. Default: those of the existing file, else those the umask allows. */
	mode?: number;
}

/**
 * Replaces the contents of a file atomically, even if the machine stops: writes a temporary file in the same directory,
 * syncs and renames it. Follows symbolic links; keeps mode and owner of an existing file. The directory must exist.
 * @param data pieces of a text are written as they come; an error of theirs is thrown and leaves the file unchanged
 * @throws PiError `file_unreadable` if the path is not a regular file; otherwise the system's error
 */
export async function atomicWriteFile(
	path: string,
	data: string | Uint8Array | AsyncIterable<string>,
	options: WriteFileOptions = {},
): Promise<void> {
	const plan = planWrite(path, options);
	const temporary = temporaryPath(plan.target);
	let file: FileHandle | undefined;
	try {
		file = await promises.open(temporary, "wx", plan.mode ?? 0o666);
		await promises.writeFile(file, data);
		applyOwnership(file.fd, plan);
		await file.sync();
		await file.close();
		file = undefined;
		renameSync(temporary, plan.target);
	} catch (error) {
		await file?.close().catch(() => {}); // the first error is reported instead
		tryUnlink(temporary);
		throw error;
	}
	await Promise.all([syncDirectory(dirname(plan.target)), removeAbandoned(dirname(plan.target))]);
}

/** Writes all bytes, with several system calls if necessary. */
export function writeAllSync(descriptor: number, bytes: Uint8Array): void {
	let offset = 0;
	while (offset < bytes.length) offset += writeSync(descriptor, bytes, offset);
}

/** Writes a file that is complete to the disk. @throws the system's error */
export function syncFileSync(path: string): void {
	const descriptor = openSync(path, "r");
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Makes the names in a directory durable, if the file system supports it. */
export async function syncDirectory(path: string): Promise<void> {
	try {
		const directory = await promises.open(path, "r");
		try {
			await directory.sync();
		} finally {
			await directory.close();
		}
	} catch {
		// Not every file system supports this; the file itself is already synced.
	}
}

export interface ReadFileOptions {
	/** Larger files are refused. Default: `MAX_READ_BYTES`. */
	maxBytes?: number;
	/** Receives the file that was opened, before it is read, and throws to refuse it. Only `readRegularFileSync`. */
	accept?(stats: Stats): void;
}

/**
 * Opens a regular file for reading. Never blocks on a FIFO or device. `size` is an estimate: files in /proc report 0.
 * @throws PiError `file_unreadable`, as `readRegularFile`
 */
export async function openRegularFile(path: string): Promise<{ file: FileHandle; size: number }> {
	let file: FileHandle | undefined;
	try {
		file = await promises.open(path, READ_FLAGS);
		return { file, size: acceptedSize(path, await file.stat(), Number.POSITIVE_INFINITY) };
	} catch (error) {
		await file?.close();
		throw unreadable(path, error);
	}
}

/**
 * Synchronous `openRegularFile`. @returns the descriptor
 * @throws PiError `file_unreadable`, as `readRegularFile`
 */
export function openRegularFileSync(path: string): number {
	let descriptor: number | undefined;
	try {
		descriptor = openSync(path, READ_FLAGS);
		acceptedSize(path, fstatSync(descriptor), Number.POSITIVE_INFINITY);
		return descriptor;
	} catch (error) {
		if (descriptor !== undefined) closeSync(descriptor);
		throw unreadable(path, error);
	}
}

/**
 * Reads the bytes of a regular file. Never blocks on a FIFO or device and never returns more than `maxBytes`.
 * @throws PiError `file_unreadable` with the kind of file or the reason (use `isNotFound` to detect a missing file)
 */
export async function readRegularFile(path: string, options: ReadFileOptions = {}): Promise<Buffer> {
	const maxBytes = options.maxBytes ?? MAX_READ_BYTES;
	let file: FileHandle | undefined;
	try {
		file = await promises.open(path, READ_FLAGS);
		const size = acceptedSize(path, await file.stat(), maxBytes);
		const reader = new BoundedReader(path, size, maxBytes);
		for (;;) {
			const { bytesRead } = await file.read(reader.room(), 0, reader.room().length, null);
			if (!reader.take(bytesRead)) return reader.bytes();
		}
	} catch (error) {
		throw unreadable(path, error);
	} finally {
		await file?.close();
	}
}

/** Synchronous `readRegularFile`. Same contract. */
export function readRegularFileSync(path: string, options: ReadFileOptions = {}): Buffer {
	const maxBytes = options.maxBytes ?? MAX_READ_BYTES;
	let descriptor: number | undefined;
	try {
		descriptor = openSync(path, READ_FLAGS);
		const stats = fstatSync(descriptor);
		const size = acceptedSize(path, stats, maxBytes);
		options.accept?.(stats);
		const reader = new BoundedReader(path, size, maxBytes);
		for (;;) {
			const room = reader.room();
			if (!reader.take(readSync(descriptor, room, 0, room.length, null))) return reader.bytes();
		}
	} catch (error) {
		throw unreadable(path, error);
	} finally {
		if (descriptor !== undefined) closeSync(descriptor);
	}
}

/** Collects a file's bytes up to a limit. The size is an estimate: files in /proc report 0, and files may grow. */
class BoundedReader {
	#buffer: Buffer;
	#length = 0;

	constructor(
		private readonly path: string,
		size: number,
		private readonly maxBytes: number,
	) {
		this.#buffer = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1);
	}

	room(): Buffer {
		if (this.#length === this.#buffer.length) {
			this.#buffer = Buffer.concat([this.#buffer, Buffer.allocUnsafe(Math.max(READ_CHUNK_BYTES, this.#buffer.length))]);
		}
		return this.#buffer.subarray(this.#length);
	}

	/** @returns false at the end of the file */
	take(count: number): boolean {
		this.#length += count;
		if (this.#length > this.maxBytes) throw tooLarge(this.path, this.#length, this.maxBytes);
		return count > 0;
	}

	bytes(): Buffer {
		return this.#buffer.subarray(0, this.#length);
	}
}

interface WritePlan {
	target: string;
	existing: Stats | undefined;
	mode: number | undefined;
}

function planWrite(path: string, options: WriteFileOptions): WritePlan {
	const target = followLinks(path);
	const existing = statSync(target, { throwIfNoEntry: false });
	if (existing && !existing.isFile()) {
		throw new PiError("file_unreadable", `Cannot write ${path}: it is ${fileKind(existing)}`);
	}
	return { target, existing, mode: options.mode ?? (existing && existing.mode & 0o7777) };
}

/** The path that a write must replace: with links resolved, even if the target of the last link does not exist yet. */
function followLinks(path: string): string {
	let target = resolve(path);
	for (let count = 0; count < MAX_LINKS; count++) {
		const stats = lstatSync(target, { throwIfNoEntry: false });
		if (!stats?.isSymbolicLink()) return target;
		// `..` in a link refers to the parent of the real directory, not of a path through another link.
		target = resolve(realpathSync(dirname(target)), readlinkSync(target));
	}
	throw new PiError("file_unreadable", `Cannot write ${path}: its symbolic links form a loop`);
}

function applyOwnership(descriptor: number, { existing, mode }: WritePlan): void {
	if (existing) {
		const { uid, gid } = fstatSync(descriptor);
		if (uid !== existing.uid || gid !== existing.gid) {
			try {
				fchownSync(descriptor, existing.uid, existing.gid);
			} catch {
				// Only the superuser may change the owner; the contents matter more than the owner.
			}
		}
	}
	// After chown, which clears set-id bits, and because the umask restricted the mode of `open`.
	if (mode !== undefined) fchmodSync(descriptor, mode);
}

/** Deletes a file and ignores a failure: use it only for files that may be missing or left behind. */
export function tryUnlink(path: string): void {
	try {
		unlinkSync(path);
	} catch {
		// It is missing or cannot be deleted; see above.
	}
}

function acceptedSize(path: string, stats: Stats, maxBytes: number): number {
	if (!stats.isFile()) throw new PiError("file_unreadable", `Cannot read ${path}: it is ${fileKind(stats)}`);
	if (stats.size > maxBytes) throw tooLarge(path, stats.size, maxBytes);
	return stats.size;
}

/** Codes of errors with a plainer reason than the system's. */
const REASONS: Readonly<Record<string, string>> = {
	ENOENT: "no such file",
	ELOOP: "its links form a loop",
	ENXIO: "it is a socket or a device without a driver",
};

function unreadable(path: string, error: unknown): PiError {
	if (error instanceof PiError) return error;
	const code = errnoCode(error);
	const reason = code === undefined ? undefined : REASONS[code];
	return new PiError("file_unreadable", `Cannot read ${path}${reason === undefined ? "" : `: ${reason}`}`, {
		cause: error,
	});
}
