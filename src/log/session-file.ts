import { type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describeError, PiError } from "../errors.js";
import { acquireLock, type Lock } from "../util/file-lock.js";
import { ensurePrivateDir, fileKind, isNotFound, syncDirectory } from "../util/fs.js";
import { completeBatch, dropBatchJournal, writeBatchJournal } from "./batch-journal.js";
import { CHUNK_BYTES, LineIndex, type NewLine, sharedBuffer } from "./line-index.js";
import { isForbidden, realPath, rewritten, unopened } from "./open-error.js";
import { OpenFile } from "./open-file.js";
import { type KnownLines, openIndex, saveIndex } from "./saved-index.js";

const COPIED_BYTES = 1024 * 1024;

/** Listens to the writes of a session file: which fail, and which succeed. */
export interface LogWatcher {
	/** Called once per incident: when writes start to fail, or when another program changed the file. */
	onWriteError(error: PiError): void;
	/** Called after each write, when everything is in the file. */
	onSaved(): void;
}

/** What a session file needs from its log. */
export interface SessionFileHost {
	readonly log: LogWatcher;
	/** The line, including `\n`, of an entry whose bytes are no longer in the file. */
	restoreLine(index: number): string;
}

type Accept = (file: OpenFile) => boolean;

/**
 * The file of a session: lines by index, written only at its end. A line that cannot be written stays pending, and the
 * next append writes it first, so that indices on disk always equal indices in memory.
 */
export class SessionFile {
	/** What an earlier process counted of the requests. */
	usage: KnownLines["usage"];
	#index = new LineIndex();
	#file: OpenFile | null = null;
	#lock: Lock | null = null;
	#device = 0;
	#inode = 0;
	/** Bytes in the file. */
	#size = 0;
	/** Bytes to write after them. */
	#pending: Buffer[] = [];
	#pendingLines = 0;
	/** Offset of the next line: after `#size` and the pending bytes. */
	#end = 0;
	/** True if the last line has no line end. */
	#isTorn = false;
	/** True if appended lines are not in the file yet. */
	#isDue = false;
	/** Why the last write failed; null if it did not. */
	#failure: { cause: unknown } | null = null;
	#isClosed = false;
	#created: Promise<void> = Promise.resolve();

	private constructor(
		/** The given path, made absolute. */
		readonly path: string,
		/** `path` with links resolved: the file to lock and write. */
		private readonly target: string,
		readonly isReadOnly: boolean,
		private readonly host: SessionFileHost,
	) {}

	/** A file that the first append creates. */
	static planned(path: string, host: SessionFileHost): SessionFile {
		const full = resolve(path);
		return new SessionFile(full, full, false, host);
	}

	/**
	 * Opens a file and finds its lines without parsing them.
	 * @param accept checks the open file before anything else happens to it, and throws to refuse it. False: the file has
	 * no line to keep, and the first append replaces it
	 * @throws PiError `log_not_found`, `log_not_a_session`, `log_locked`, `file_unreadable`
	 */
	static open(path: string, isReadOnly: boolean, host: SessionFileHost, accept: Accept): SessionFile {
		const full = resolve(path);
		const file = new SessionFile(full, realPath(full), isReadOnly, host);
		try {
			file.#open(accept);
			return file;
		} catch (error) {
			file.#lock?.release();
			file.#file?.close();
			throw error;
		}
	}

	/** Number of lines with an index, including pending ones. */
	get length(): number {
		return this.#index.length;
	}

	/** Information from the heads of the lines. */
	get heads(): Pick<LineIndex, "typeHint" | "roleHint" | "countTypes" | "mayContain"> {
		return this.#index;
	}

	/**
	 * Appends lines, all or none of them even if the process dies. Does not throw if they cannot be written: the host is
	 * notified and they stay pending.
	 * @returns the index of the first
	 */
	append(lines: readonly NewLine[]): number {
		const misplaced = this.#findMisplaced();
		const first = this.#index.length;
		for (const line of lines) this.queue(line);
		this.#isDue = true;
		this.#write(misplaced);
		return first;
	}

	/** Adds a line that the next append writes first. */
	queue({ text, type }: NewLine): void {
		if (this.#isTorn) {
			this.#pending.push(Buffer.from("\n"));
			this.#end++;
			this.#isTorn = false;
		}
		const bytes = Buffer.from(text);
		this.#index.add(this.#end, bytes.length - 1, type);
		this.#pending.push(bytes);
		this.#pendingLines++;
		this.#end += bytes.length;
	}

	/**
	 * Visits the bytes of lines in order; `bytes` is only valid during the call.
	 * @throws the system's error if they cannot be read
	 */
	forEachLine(from: number, to: number, visit: (index: number, bytes: Buffer) => void): void {
		for (let index = from; index < to; ) {
			const start = this.#index.start(index);
			let last = index;
			while (last + 1 < to && this.#lineEnd(last + 1) - start <= CHUNK_BYTES) last++;
			const size = this.#lineEnd(last) - start;
			const buffer = size <= CHUNK_BYTES ? sharedBuffer().subarray(0, size) : undefined;
			const block = this.#read(start, start + size, buffer);
			for (; index <= last; index++) {
				visit(index, block.subarray(this.#index.start(index) - start, this.#lineEnd(index) - start));
			}
		}
	}

	/** The unchanged bytes of lines in chunks, including blank lines between them; the last chunk ends with a line end. */
	*bytes(from: number, to: number): Generator<Buffer> {
		if (from >= to) return;
		const end = to < this.length ? this.#index.start(to) : this.#end;
		for (let at = this.#index.start(from); at < end; at += COPIED_BYTES) {
			yield this.#read(at, Math.min(end, at + COPIED_BYTES));
		}
		if (to >= this.length && this.#isTorn) yield Buffer.from("\n");
	}

	/** Resolves when all appended lines are on disk, or the host has been notified of the failure. */
	async flush(): Promise<void> {
		this.save();
		await this.#created;
		if (!this.#isClosed) await this.#sync(this.#file);
	}

	/** Tries again to write pending lines. @returns the failure if appended lines are still not in the file; else null */
	save(): { cause: unknown } | null {
		if (this.#isDue && !this.#isClosed) this.#write(this.#findMisplaced());
		return this.#isDue ? this.#failure : null;
	}

	/**
	 * Tries again to write pending lines, releases the lock and closes the file.
	 * @param usage kept for the next start, with the index of a large file
	 */
	close(usage: KnownLines["usage"]): void {
		if (this.#isClosed) return;
		this.save();
		this.#isClosed = true;
		const known = { index: this.#index, isEnded: !this.#isTorn, usage };
		if (this.#file && this.#lock && this.#pending.length === 0) saveIndex(this.target, this.#file, this.#size, known);
		this.#lock?.release();
		this.#file?.close();
	}

	#open(accept: Accept): void {
		const file = this.#openExisting();
		this.#file = file;
		const stats = file.stats();
		if (!stats.isFile())
			throw new PiError("log_not_a_session", `${this.path} is not a session: it is ${fileKind(stats)}`);
		const isKept = accept(file);
		if (!this.isReadOnly) this.#takeLock();
		if (!isKept) {
			file.close();
			this.#file = null;
			return;
		}
		if (file.canAppend) this.#completeBatch(file);
		this.#remember(file);
		const { index, isEnded, usage } = openIndex(this.target, file, this.#size);
		this.#index = index;
		this.#isTorn = !isEnded;
		this.usage = usage;
	}

	#completeBatch(file: OpenFile): void {
		try {
			completeBatch(this.target, file);
		} catch (error) {
			this.#reportFailure(error); // the session still opens, with a part of the batch
		}
	}

	#openExisting(): OpenFile {
		try {
			if (this.isReadOnly) return OpenFile.open(this.target, false);
			try {
				return OpenFile.open(this.target, true);
			} catch (error) {
				if (!isForbidden(error)) throw error;
				return OpenFile.open(this.target, false); // the first append tries to open it for writing again
			}
		} catch (error) {
			throw unopened(this.path, error);
		}
	}

	#takeLock(): void {
		try {
			this.#lock ??= acquireLock(this.target);
		} catch (error) {
			if (error instanceof PiError) throw error;
			// The lock file cannot be created (read-only directory, full disk): a write will report the reason if it fails too.
		}
	}

	/** Adds lines of other programs. @returns "was deleted" or the like if the file must be written again; else null */
	#findMisplaced(): string | null {
		if (this.#file === null || this.#isClosed) return null;
		const stats = this.#statTarget();
		if (stats === null) return null;
		if (stats === undefined) return "was deleted";
		if (stats.ino !== this.#inode || stats.dev !== this.#device) return "was replaced";
		if (stats.size === this.#size) return null;
		if (stats.size < this.#size) return "was truncated";
		if (this.#pendingLines > 0) return "was written to";
		this.#isTorn = !this.#index.scan(this.#file, this.#size, stats.size);
		this.#size = stats.size;
		this.#end = stats.size;
		const hint = "its lines are kept; open a session in only one program at a time";
		this.#report(`Another program wrote to the session file ${this.path}`, hint);
		return null;
	}

	/** @returns undefined if the file does not exist; null if that is unknown, so that a write to the open file decides */
	#statTarget(): Stats | undefined | null {
		try {
			return statSync(this.target, { throwIfNoEntry: false });
		} catch (error) {
			return isNotFound(error) ? undefined : null;
		}
	}

	#write(misplaced: string | null): void {
		try {
			if (this.#file === null) ensurePrivateDir(dirname(this.target));
			this.#takeLock();
			if (this.#file === null) this.#begin(OpenFile.create(this.target, [this.#pendingBytes()]));
			else if (misplaced !== null) this.#rewrite(this.#file, misplaced);
			else this.#writePending(this.#file);
			this.#isDue = false;
			this.#failure = null;
			this.host.log.onSaved();
		} catch (error) {
			this.#reportFailure(error);
		}
	}

	#writePending(current: OpenFile): void {
		let file = current;
		if (!file.canAppend) {
			file = OpenFile.open(this.target, true);
			this.#file = file;
			current.close();
		}
		const bytes = this.#pendingBytes();
		const isBatch = this.#pendingLines > 1;
		if (isBatch) writeBatchJournal(this.target, this.#size, bytes);
		let written = 0;
		try {
			file.append(bytes, (count) => {
				written += count;
			});
		} finally {
			// Written bytes stay in the file: after a failure the next write continues in the middle of the line.
			this.#size += written;
			this.#pending = written < bytes.length ? [bytes.subarray(written)] : [];
		}
		this.#pendingLines = 0;
		if (isBatch) dropBatchJournal(this.target);
	}

	/** Writes the complete session to its path again after another program removed, replaced or truncated the file. */
	#rewrite(old: OpenFile, incident: string): void {
		ensurePrivateDir(dirname(this.target));
		this.#lock?.release(); // the lock file may be gone too
		this.#lock = null;
		this.#takeLock();
		const file = OpenFile.create(this.target, this.#everything(old));
		const { index } = openIndex(this.target, file, file.stats().size);
		const lost = (index.countTypes().get("opaque") ?? 0) - (this.#index.countTypes().get("opaque") ?? 0);
		this.#index = index;
		this.#adopt(file);
		old.close();
		this.#report(`The session file ${this.path} ${incident} while in use`, rewritten(lost, file.replaced));
	}

	*#everything(old: OpenFile): Generator<Buffer> {
		const available = Math.min(old.stats().size, this.#size);
		let kept = this.length;
		if (available < this.#size) {
			kept = 0;
			while (kept < this.length && this.#lineEnd(kept) < available) kept++;
		}
		yield* this.bytes(0, kept);
		for (let index = kept; index < this.length; index++) {
			if (this.#index.start(index) >= this.#size) yield* this.bytes(index, index + 1);
			else yield Buffer.from(this.host.restoreLine(index));
		}
	}

	#begin(file: OpenFile): void {
		this.#adopt(file);
		if (file.replaced === null) return;
		const message = `The file ${this.path} held no complete session, so pi began a new one`;
		this.#report(message, `its content is kept as ${file.replaced}`);
	}

	#adopt(file: OpenFile): void {
		this.#file = file;
		this.#pending = [];
		this.#pendingLines = 0;
		this.#isTorn = false;
		this.#remember(file);
		this.#created = this.#sync(file).then(() => syncDirectory(dirname(this.target)));
	}

	#remember(file: OpenFile): void {
		const stats = file.stats();
		this.#device = stats.dev;
		this.#inode = stats.ino;
		this.#size = stats.size;
		this.#end = stats.size;
	}

	async #sync(file: OpenFile | null): Promise<void> {
		if (!file?.canAppend) return;
		try {
			await file.sync();
		} catch (error) {
			this.#reportFailure(error);
		}
	}

	#reportFailure(cause: unknown): void {
		const isKnown = this.#failure !== null;
		this.#failure = { cause };
		if (isKnown) return;
		const hint = "the session continues in memory; pi tries to save again with each new entry";
		this.#report(`Cannot save the session to ${this.path}: ${describeError(cause)}`, hint, this.#failure);
	}

	#report(message: string, hint: string, options: { cause?: unknown } = {}): void {
		this.host.log.onWriteError(new PiError("log_write_failed", message, { ...options, hint }));
	}

	#pendingBytes(): Buffer {
		if (this.#pending.length > 1) this.#pending = [Buffer.concat(this.#pending)];
		return this.#pending[0] ?? Buffer.alloc(0);
	}

	#lineEnd(index: number): number {
		return this.#index.start(index) + this.#index.byteLength(index);
	}

	#read(from: number, to: number, bytes: Buffer = Buffer.allocUnsafe(to - from)): Buffer {
		const inFile = Math.max(0, Math.min(to, this.#size) - from);
		if (inFile > 0) {
			if (this.#file === null) throw new Error("the file is closed");
			this.#file.read(bytes.subarray(0, inFile), from);
		}
		if (inFile < bytes.length) {
			const offset = from + inFile - this.#size;
			this.#pendingBytes().copy(bytes, inFile, offset, offset + bytes.length - inFile);
		}
		return bytes;
	}
}
