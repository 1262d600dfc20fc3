import { randomBytes } from "node:crypto";
import {
	closeSync,
	constants,
	fchmodSync,
	fdatasync,
	fstatSync,
	fsyncSync,
	openSync,
	readSync,
	renameSync,
	type Stats,
	statSync,
	writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ensurePrivateDir, tryUnlink, writeAllSync } from "../util/fs.js";

const NEW_FILE = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
const EXISTING_FILE = constants.O_RDWR | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A file that can be read at any offset and written only at its end. */
export class OpenFile {
	#descriptor: number | null;
	#syncs = 0;
	#isClosing = false;

	private constructor(
		descriptor: number,
		/** False if appending will fail. */
		readonly canAppend: boolean,
		/** New name of the file that was at the path when this one was created; null if there was none. */
		readonly replaced: string | null = null,
	) {
		this.#descriptor = descriptor;
	}

	/** @throws the system's error */
	static open(path: string, canAppend: boolean): OpenFile {
		return new OpenFile(openSync(path, canAppend ? EXISTING_FILE : READ_ONLY), canAppend);
	}

	/**
	 * Creates a file (0600; a missing directory 0700) that appears under its name only with its complete contents. An
	 * existing file at that path is renamed, never lost, unless `replaces` is set: then it is replaced at once, and the
	 * new contents are on disk before.
	 * @throws the system's error, leaving no temporary file
	 */
	static create(path: string, contents: Iterable<Uint8Array>, { replaces = false } = {}): OpenFile {
		ensurePrivateDir(dirname(path));
		const temporary = join(dirname(path), `.pi-${randomBytes(8).toString("hex")}.tmp`);
		const descriptor = openSync(temporary, NEW_FILE, 0o600);
		try {
			fchmodSync(descriptor, 0o600); // the umask may have removed too many permissions
			for (const bytes of contents) writeAllSync(descriptor, bytes);
			if (replaces) fsyncSync(descriptor);
			const replaced = replaces ? null : setAside(path);
			renameSync(temporary, path);
			return new OpenFile(descriptor, true, replaced);
		} catch (error) {
			closeSync(descriptor);
			tryUnlink(temporary);
			throw error;
		}
	}

	stats(): Stats {
		return fstatSync(this.#opened());
	}

	/** Differs for another file, and after any change to this one: its place on the disk, its size, and when it changed, in ns. */
	fingerprint(): string {
		const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(this.#opened(), { bigint: true });
		return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
	}

	/**
	 * Fills `bytes` from a byte offset of the file.
	 * @throws the system's error, or an error if the file ends too early
	 */
	read(bytes: Uint8Array, offset: number): void {
		for (let at = 0; at < bytes.length; ) {
			const count = readSync(this.#opened(), bytes, at, bytes.length - at, offset + at);
			if (count === 0) throw new Error("the file ends too early");
			at += count;
		}
	}

	/** Reads available bytes, at most the length of `bytes`. @returns the number of bytes read */
	readSome(bytes: Uint8Array, offset: number): number {
		return readSync(this.#opened(), bytes, 0, bytes.length, offset);
	}

	/**
	 * Writes bytes at the end, usually with one system call.
	 * @param onWritten receives the number of bytes that each call wrote, even if a later call fails
	 * @throws the system's error
	 */
	append(bytes: Uint8Array, onWritten: (count: number) => void): void {
		for (let at = 0; at < bytes.length; ) {
			const count = writeSync(this.#opened(), bytes, at);
			at += count;
			onWritten(count);
		}
	}

	/** Resolves when the contents are on disk. @throws the system's error */
	sync(): Promise<void> {
		const descriptor = this.#opened();
		this.#syncs++;
		return new Promise((done, fail) => {
			fdatasync(descriptor, (error) => {
				this.#syncs--;
				if (this.#isClosing) this.close();
				if (error) fail(error);
				else done();
			});
		});
	}

	/** Closes the file after pending syncs. */
	close(): void {
		this.#isClosing = true;
		if (this.#syncs > 0 || this.#descriptor === null) return;
		closeSync(this.#descriptor);
		this.#descriptor = null;
	}

	#opened(): number {
		if (this.#descriptor === null || this.#isClosing) throw new Error("the file is closed");
		return this.#descriptor;
	}
}

/** Calls `read` with an open file. @returns its result; undefined if the file cannot be read */
export function withFile<T>(path: string, read: (file: OpenFile) => T): T | undefined {
	let file: OpenFile | undefined;
	try {
		file = OpenFile.open(path, false);
		return read(file);
	} catch {
		return undefined; // callers read many files and skip those that fail
	} finally {
		file?.close();
	}
}

/** @returns the new name; null if there is no such file */
function setAside(path: string): string | null {
	if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
	const aside = `${path}.replaced-${new Date().toISOString().replace(/[:.]/g, "-")}`;
	renameSync(path, aside);
	return aside;
}
