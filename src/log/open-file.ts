import { randomBytes } from "node:crypto";
import {
	closeSync,
	constants,
	fchmodSync,
	fdatasync,
	fstatSync,
	openSync,
	readSync,
	renameSync,
	type Stats,
	statSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ensurePrivateDir, writeAllSync } from "../util/fs.js";

const NEW_FILE = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
const EXISTING_FILE = constants.O_RDWR | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A file that is read anywhere and written at its end only. */
export class OpenFile {
	#descriptor: number | null;
	#syncs = 0;
	#isClosing = false;

	private constructor(
		descriptor: number,
		/** False when appending will fail. */
		readonly canAppend: boolean,
	) {
		this.#descriptor = descriptor;
	}

	/** @throws the system's error */
	static open(path: string, canAppend: boolean): OpenFile {
		return new OpenFile(openSync(path, canAppend ? EXISTING_FILE : READ_ONLY), canAppend);
	}

	/**
	 * Makes a file (0600, its directory 0700 if it must be made) that appears under its name with all its contents.
	 * A file that stands in its place is renamed, never lost.
	 * @throws the system's error, with nothing left behind
	 */
	static create(path: string, contents: Iterable<Uint8Array>): OpenFile {
		ensurePrivateDir(dirname(path));
		const temporary = join(dirname(path), `.pi-${randomBytes(8).toString("hex")}.tmp`);
		const descriptor = openSync(temporary, NEW_FILE, 0o600);
		try {
			fchmodSync(descriptor, 0o600); // the umask may have taken more than it should
			for (const bytes of contents) writeAllSync(descriptor, bytes);
			setAside(path);
			renameSync(temporary, path);
			return new OpenFile(descriptor, true);
		} catch (error) {
			closeSync(descriptor);
			discard(temporary);
			throw error;
		}
	}

	stats(): Stats {
		return fstatSync(this.#opened());
	}

	/**
	 * Fills `bytes` from a byte offset of the file.
	 * @throws the system's error, or one that says that the file ends before
	 */
	read(bytes: Uint8Array, offset: number): void {
		for (let at = 0; at < bytes.length; ) {
			const count = readSync(this.#opened(), bytes, at, bytes.length - at, offset + at);
			if (count === 0) throw new Error("the file ends too early");
			at += count;
		}
	}

	/** Reads what is there, at most the length of `bytes`. @returns how many bytes were read */
	readSome(bytes: Uint8Array, offset: number): number {
		return readSync(this.#opened(), bytes, 0, bytes.length, offset);
	}

	/**
	 * Writes bytes at the end; usually with one call of the system.
	 * @param onWritten told how many bytes each call has written, also before a later one fails
	 * @throws the system's error
	 */
	append(bytes: Uint8Array, onWritten: (count: number) => void): void {
		for (let at = 0; at < bytes.length; ) {
			const count = writeSync(this.#opened(), bytes, at);
			at += count;
			onWritten(count);
		}
	}

	/** Resolves when the contents are on the disk. @throws the system's error */
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

	/** Closes the file, after syncs that are under way. */
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

/** What `read` makes of a file; undefined if the file was removed, or it may not be read. */
export function withFile<T>(path: string, read: (file: OpenFile) => T): T | undefined {
	let file: OpenFile | undefined;
	try {
		file = OpenFile.open(path, false);
		return read(file);
	} catch {
		return undefined; // the caller reads many files, and what one of them lacks is no reason to stop
	} finally {
		file?.close();
	}
}

function setAside(path: string): void {
	if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
	renameSync(path, `${path}.replaced-${new Date().toISOString().replace(/[:.]/g, "-")}`);
}

function discard(path: string): void {
	try {
		unlinkSync(path);
	} catch {
		// It has its final name already, or cannot be removed; the first failure is the one to report.
	}
}
