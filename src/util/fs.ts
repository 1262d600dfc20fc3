import {
	chmodSync,
	closeSync,
	constants,
	fchmodSync,
	fchownSync,
	fstatSync,
	fsyncSync,
	lstatSync,
	mkdirSync,
	openSync,
	readlinkSync,
	readSync,
	realpathSync,
	renameSync,
	type Stats,
	statSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { PiError } from "../errors.js";

/** Largest file that is read whole unless the caller says otherwise. */
export const MAX_READ_BYTES = 50 * 1024 * 1024;

const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const MAX_LINKS = 40;
const READ_CHUNK_BYTES = 64 * 1024;

/** The `errno` name (`ENOENT`, …) of a failure or of its cause; undefined when it has none. */
export function errnoCode(error: unknown): string | undefined {
	if (!(error instanceof Error)) return undefined;
	if ("code" in error && typeof error.code === "string" && !(error instanceof PiError)) return error.code;
	return errnoCode(error.cause);
}

/** True when a failure, or its cause, says that the file or a directory on the way to it does not exist. */
export function isNotFound(error: unknown): boolean {
	const code = errnoCode(error);
	return code === "ENOENT" || code === "ENOTDIR";
}

/** What stands at a path, in words: `a directory`, `a FIFO`, … */
export function fileKind(stats: Stats): string {
	if (stats.isFile()) return "a regular file";
	if (stats.isDirectory()) return "a directory";
	if (stats.isFIFO()) return "a FIFO";
	if (stats.isSocket()) return "a socket";
	if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
	return "not a regular file";
}

/**
 * Creates a directory and its missing parents, for this user alone (0700, whatever the umask is).
 * A directory that exists keeps its mode.
 */
export function ensurePrivateDir(path: string): void {
	const full = resolve(path);
	const stats = statSync(full, { throwIfNoEntry: false });
	if (stats?.isDirectory()) return;
	if (!stats) ensurePrivateDir(dirname(full));
	try {
		mkdirSync(full, 0o700);
	} catch (error) {
		// Another process may have made it in between.
		if (errnoCode(error) === "EEXIST" && statSync(full).isDirectory()) return;
		throw error;
	}
	chmodSync(full, 0o700);
}

/** How a file is written. */
export interface WriteFileOptions {
	/** Permission bits, independent of the umask. Unset: those of the existing file, else what the umask allows. */
	mode?: number;
}

/**
 * Replaces a file's contents so that it is wholly old or wholly new whenever the machine stops: temporary file beside
 * it, fsync, rename. A symbolic link stays and its target is replaced; mode and owner of an existing file are kept.
 * The directory must exist.
 * @throws PiError `file_unreadable` when something other than a regular file is in place; the error of the system otherwise
 */
export async function atomicWriteFile(
	path: string,
	data: string | Uint8Array,
	options: WriteFileOptions = {},
): Promise<void> {
	const plan = planWrite(path, options);
	const temporary = temporaryPath(plan.target);
	let file: FileHandle | undefined;
	try {
		file = await open(temporary, "wx", plan.mode ?? 0o666);
		await file.writeFile(data);
		applyOwnership(file.fd, plan);
		await file.sync();
		await file.close();
		file = undefined;
		renameSync(temporary, plan.target);
	} catch (error) {
		await file?.close().catch(() => {}); // the first failure is the one to report
		tryUnlink(temporary);
		throw error;
	}
	await syncDirectory(dirname(plan.target));
}

/** `atomicWriteFile` for places that cannot wait. Same contract. */
export function atomicWriteFileSync(path: string, data: string | Uint8Array, options: WriteFileOptions = {}): void {
	const plan = planWrite(path, options);
	const temporary = temporaryPath(plan.target);
	let descriptor: number | undefined;
	try {
		descriptor = openSync(temporary, "wx", plan.mode ?? 0o666);
		writeAllSync(descriptor, typeof data === "string" ? Buffer.from(data) : data);
		applyOwnership(descriptor, plan);
		fsyncSync(descriptor);
		closeSync(descriptor);
		descriptor = undefined;
		renameSync(temporary, plan.target);
	} catch (error) {
		if (descriptor !== undefined) closeSync(descriptor);
		tryUnlink(temporary);
		throw error;
	}
	syncDirectorySync(dirname(plan.target));
}

/** Writes all bytes, also when the system takes them in several pieces. */
export function writeAllSync(descriptor: number, bytes: Uint8Array): void {
	let offset = 0;
	while (offset < bytes.length) offset += writeSync(descriptor, bytes, offset);
}

/** Makes names in a directory durable, where the system can. */
export function syncDirectorySync(path: string): void {
	try {
		const descriptor = openSync(path, "r");
		try {
			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}
	} catch {
		// Not every file system can; the file itself is synced already.
	}
}

/** Makes names in a directory durable, where the system can. */
export async function syncDirectory(path: string): Promise<void> {
	try {
		const directory = await open(path, "r");
		try {
			await directory.sync();
		} finally {
			await directory.close();
		}
	} catch {
		// Not every file system can; the file itself is synced already.
	}
}

/** Limits of a read. */
export interface ReadFileOptions {
	/** Larger files are refused. Unset: `MAX_READ_BYTES`. */
	maxBytes?: number;
}

/**
 * The bytes of a regular file. Never blocks on a FIFO or device and never reads more than `maxBytes`.
 * @throws PiError `file_unreadable` that says what stands at the path, or why it cannot be read (`isNotFound` tells a missing file)
 */
export async function readRegularFile(path: string, options: ReadFileOptions = {}): Promise<Buffer> {
	const maxBytes = options.maxBytes ?? MAX_READ_BYTES;
	let file: FileHandle | undefined;
	try {
		file = await open(path, READ_FLAGS);
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

/** `readRegularFile` for places that cannot wait. Same contract. */
export function readRegularFileSync(path: string, options: ReadFileOptions = {}): Buffer {
	const maxBytes = options.maxBytes ?? MAX_READ_BYTES;
	let descriptor: number | undefined;
	try {
		descriptor = openSync(path, READ_FLAGS);
		const size = acceptedSize(path, fstatSync(descriptor), maxBytes);
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

/** Collects a file's bytes up to a limit. The size is only a first guess: files of /proc say 0, others grow meanwhile. */
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

/** The path that a write must replace: links resolved, also when the last one points at nothing yet. */
function followLinks(path: string): string {
	let target = resolve(path);
	for (let count = 0; count < MAX_LINKS; count++) {
		const stats = lstatSync(target, { throwIfNoEntry: false });
		if (!stats?.isSymbolicLink()) return target;
		// `..` in a link goes up from where the directory really is, which a path through another link does not say.
		target = resolve(realpathSync(dirname(target)), readlinkSync(target));
	}
	throw new PiError("file_unreadable", `Cannot write ${path}: its symbolic links form a loop`);
}

function temporaryPath(target: string): string {
	return join(dirname(target), `.pi-${crypto.randomUUID()}.tmp`);
}

function applyOwnership(descriptor: number, { existing, mode }: WritePlan): void {
	if (existing) {
		const { uid, gid } = fstatSync(descriptor);
		if (uid !== existing.uid || gid !== existing.gid) {
			try {
				fchownSync(descriptor, existing.uid, existing.gid);
			} catch {
				// Only the superuser may give files away; the contents matter more than the owner.
			}
		}
	}
	if (mode !== undefined) fchmodSync(descriptor, mode); // after chown, which clears set-id bits; the umask has cut open's mode
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

function tooLarge(path: string, size: number, maxBytes: number): PiError {
	return new PiError("file_unreadable", `Cannot read ${path}: ${size} bytes is more than the limit of ${maxBytes}`);
}

function unreadable(path: string, error: unknown): PiError {
	if (error instanceof PiError) return error;
	const code = errnoCode(error);
	if (code === "ENOENT") return new PiError("file_unreadable", `Cannot read ${path}: no such file`, { cause: error });
	// Opening a socket, or a FIFO's or device's missing other side.
	if (code === "ENXIO") {
		return new PiError("file_unreadable", `Cannot read ${path}: it is a socket or a device without a driver`, {
			cause: error,
		});
	}
	return new PiError("file_unreadable", `Cannot read ${path}`, { cause: error });
}
