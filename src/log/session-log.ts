import { join } from "node:path";
import { errorText, PiError } from "../errors.js";
import { decodeLine, encodeEntry, withTimestamp } from "./codec.js";
import {
	isMessageEntry,
	isOpaqueEntry,
	isSessionHeader,
	type SessionEntry,
	type SessionHeader,
	type SessionOrigin,
} from "./entry.js";
import { copyFileContents } from "./file-contents.js";
import type { NewLine } from "./line-index.js";
import type { MessageRole } from "./line-patterns.js";
import { newHeader } from "./new-header.js";
import { notASession } from "./open-error.js";
import { OpenFile } from "./open-file.js";
import { holdsTornHeader, opaqueEntry, readSessionHeader } from "./read-entry.js";
import { SessionFile, type SessionFileHost } from "./session-file.js";
import { sessionFileName } from "./session-paths.js";
import { type SpentUsage, UsageTotals } from "./usage-totals.js";

export interface SessionLogOptions {
	/**
	 * Called once per incident when entries cannot be written, or when another program changed the file. The log
	 * continues in memory and tries again with each append.
	 */
	onWriteError?: (error: PiError) => void;
}

/** Placeholder for a line that has not been parsed yet. */
const UNREAD = opaqueEntry("not read yet");

/**
 * The append-only record of a session: one JSON line per entry, never edited; see docs/session-format.md. An entry's index (0 is the
 * header) is its identity, so an unreadable line keeps its index. Entries are frozen, and parsed on first access.
 */
export class SessionLog {
	/** See `SessionLogOptions`. */
	onWriteError: (error: PiError) => void;
	/** What the requests used. */
	#usage = new UsageTotals();
	/** Called after each write, when the file has all entries. */
	onSaved = () => {};
	#file: SessionFile | null = null;
	#entries: SessionEntry[] = [];
	/** Entries below this index are parsed. */
	#readUpTo = 0;
	#snapshot: readonly SessionEntry[] = [];
	#isClosed = false;

	private constructor(options: SessionLogOptions) {
		this.onWriteError = options.onWriteError ?? (() => {});
	}

	/** A new session in a file of `dir`. The first append creates the file and writes header and entry together. */
	static create(options: SessionLogOptions & SessionOrigin & { dir: string; cwd: string }): SessionLog {
		const header = newHeader(options.cwd, options);
		const path = join(options.dir, sessionFileName(new Date(header.timestamp), header.id));
		return SessionLog.createAt(path, options, header);
	}

	/** A new session in the file `path`, which does not exist yet. The first append creates it, as for `create`. */
	static createAt(
		path: string,
		options: SessionLogOptions & { cwd: string },
		header = newHeader(options.cwd),
	): SessionLog {
		const log = new SessionLog(options);
		log.#file = SessionFile.planned(path, log.#host());
		log.#queueHeader(header);
		return log;
	}

	/** A session that exists only in memory. */
	static inMemory(cwd: string, options: SessionLogOptions & { branchedFrom?: string } = {}): SessionLog {
		const log = new SessionLog(options);
		log.#entries.push(newHeader(cwd, options));
		return log;
	}

	/**
	 * Opens a session file and locks it unless `readOnly` is set. Nothing is written before the first append, which adds
	 * a missing line end, and the header (with `cwd`) to an empty file. A file that holds only a part of a header is an
	 * empty session too: the first append renames it and begins a new one.
	 * @throws PiError `log_not_found`; `log_not_a_session`, the file unchanged; `log_locked`; `file_unreadable`
	 */
	static open(path: string, options: SessionLogOptions & { readOnly?: boolean; cwd?: string } = {}): SessionLog {
		const log = new SessionLog(options);
		const file = SessionFile.open(path, options.readOnly === true, log.#host(), (opened) => {
			const header = opened.stats().size === 0 ? null : readSessionHeader(opened);
			if (typeof header !== "string") return true;
			if (holdsTornHeader(opened)) return false;
			throw notASession(path, header);
		});
		log.#file = file;
		log.#entries = new Array<SessionEntry>(file.length).fill(UNREAD);
		log.#usage = new UsageTotals(file.usage);
		if (file.length === 0) log.#queueHeader(newHeader(options.cwd ?? process.cwd()));
		return log;
	}

	/** Absolute path of the file, which may not exist yet; null for a session in memory. */
	get path(): string | null {
		return this.#file?.path ?? null;
	}

	get isReadOnly(): boolean {
		return this.#file?.isReadOnly ?? false;
	}

	get header(): SessionHeader {
		const header = this.entry(0);
		if (!isSessionHeader(header))
			throw new PiError("log_not_a_session", `The header of ${this.path} can no longer be read`);
		return header;
	}

	get id(): string {
		return this.header.id;
	}

	/** Number of entries, including the header. */
	get length(): number {
		return this.#file?.length ?? this.#entries.length;
	}

	/** The entry at an index; undefined if none exists. */
	entry(index: number): SessionEntry | undefined {
		if (!Number.isSafeInteger(index) || index < 0 || index >= this.length) return undefined;
		this.#parse(index, index + 1);
		return this.#entries[index];
	}

	/** Entries with index in `[from, to)`; parses only those. */
	slice(from: number, to = this.length): SessionEntry[] {
		const end = Math.min(to, this.length);
		this.#parse(Math.max(0, from), end);
		return this.#entries.slice(Math.max(0, from), Math.max(0, end));
	}

	/** A frozen snapshot of all entries, the same array until the next append. Parses entries that are not parsed yet. */
	get entries(): readonly SessionEntry[] {
		if (this.#snapshot.length !== this.length) {
			this.#parse(this.#readUpTo, this.length);
			this.#readUpTo = this.length;
			this.#snapshot = Object.freeze(this.#entries.slice());
		}
		return this.#snapshot;
	}

	/**
	 * Index of the last entry of a type, or of one of several types, before index `before`; -1 if none exists. Reads the
	 * heads of lines, so that it parses little more than the entry it finds.
	 */
	findLast(type: string | readonly string[], before = this.length): number {
		const types = typeof type === "string" ? [type] : type;
		if (!this.mayContain(types)) return -1;
		for (let index = Math.min(before, this.length) - 1; index >= 0; index--) {
			const hint = this.#typeHint(index);
			if (hint !== undefined && !types.includes(hint)) continue;
			const entry = this.entry(index);
			if (entry && types.includes(entry.type)) return index;
		}
		return -1;
	}

	/** False if certainly no entry has one of these types. Takes the same time for any number of entries. */
	mayContain(types: readonly string[]): boolean {
		const heads = this.#file?.heads;
		return heads === undefined || types.some((type) => heads.mayContain(type));
	}

	/** Type of an entry, from the head of its line if possible; undefined if there is no entry at that index. */
	typeOf(index: number): string | undefined {
		return this.#typeHint(index) ?? this.entry(index)?.type;
	}

	/** Role of the message in an entry, from the head of its line if possible; undefined for other entries. */
	roleOf(index: number): MessageRole | undefined {
		const isRead = this.#entries[index] !== undefined && this.#entries[index] !== UNREAD;
		const hint = isRead ? undefined : this.#file?.heads.roleHint(index);
		if (hint !== undefined || this.typeOf(index) !== "message") return hint;
		const entry = this.peek(index);
		return isMessageEntry(entry) ? entry.message.role : undefined;
	}

	/**
	 * Index of the last message with a role, or one of several roles, in `[from, before)`; -1 if none exists. Parses
	 * only lines that `roleOf` must parse.
	 */
	findLastMessage(role: MessageRole | readonly MessageRole[], before = this.length, from = 0): number {
		const roles: readonly (MessageRole | undefined)[] = typeof role === "string" ? [role] : role;
		for (let index = Math.min(before, this.length) - 1; index >= from; index--) {
			if (roles.includes(this.roleOf(index))) return index;
		}
		return -1;
	}

	/** Number of entries of each type. */
	countTypes(): Map<string, number> {
		const hints = this.#file?.heads.countTypes();
		if (hints && !hints.has("")) return hints;
		const counts = new Map<string, number>();
		for (let index = 0; index < this.length; index++) {
			const type = this.typeOf(index) ?? "";
			counts.set(type, (counts.get(type) ?? 0) + 1);
		}
		return counts;
	}

	/** Like `entry`, but does not cache the parsed entry: for callers that read many entries once. */
	peek(index: number): SessionEntry | undefined {
		if (this.#file === null || this.#entries[index] !== UNREAD) return this.entry(index);
		let entry: SessionEntry | undefined;
		try {
			this.#file.forEachLine(index, index + 1, (_, bytes) => {
				entry = decodeLine(bytes);
			});
		} catch (error) {
			entry = unreadable(error);
		}
		return entry;
	}

	/** Indices of the entries in `[from, to)` whose line matches a pattern of `rawTextPattern`. Parses nothing. */
	matching(pattern: RegExp, from: number, to: number): number[] {
		const found: number[] = [];
		this.forEachLine(from, to, (index, line) => {
			pattern.lastIndex = 0;
			if (pattern.test(line.toString("latin1"))) found.push(index);
		});
		return found;
	}

	/** Visits the lines of the entries in `[from, to)`; `line` is only valid during the call. Parses nothing. */
	forEachLine(from: number, to: number, visit: (index: number, line: Buffer) => void): void {
		this.#file?.forEachLine(from, to, visit);
		const entries = this.#file ? [] : this.#entries.slice(from, to);
		for (const [at, entry] of entries.entries()) visit(from + at, Buffer.from(encodeEntry(entry)));
	}

	/** @throws PiError `log_read_only` if opened read-only */
	checkWritable(): void {
		if (this.isReadOnly)
			throw new PiError("log_read_only", "This session is read-only", { hint: "/resume can continue it" });
	}

	/**
	 * Appends an entry, with the current time if it has none. On return it is in the file (on disk after `flush`), or
	 * `onWriteError` has been called.
	 * @returns its index; `entry(index)` returns the entry as it will be read from the file
	 * @throws PiError `entry_refused`, nothing appended; `log_read_only`; `log_write_failed` if closed
	 */
	append(entry: SessionEntry): number {
		return this.appendAll([entry])[0] ?? -1;
	}

	/**
	 * Appends entries, all or none of them even if the process dies. @returns their indices @throws like `append`
	 * @param isQueued the next append writes them: without one they leave no file
	 */
	appendAll(entries: readonly SessionEntry[], isQueued = false): number[] {
		const prepared = entries.map((entry) => this.#prepare(entry));
		const first = prepared.length === 0 ? 0 : this.#appendLines(prepared, isQueued);
		return entries.map((_, position) => first + position);
	}

	/** Resolves when everything appended so far is on disk, or `onWriteError` has been called. */
	async flush(): Promise<void> {
		await this.#file?.flush();
	}

	/** Tries again to write what the file lacks. @returns why it still lacks some; null if it has everything */
	save(): { cause: unknown } | null {
		return this.#file?.save() ?? null;
	}

	/** Releases the lock and closes the file. Entries parsed so far remain readable. */
	close(): void {
		this.#isClosed = true;
		this.#file?.close(this.#usage.counted);
	}

	/** Tokens and price of all requests, counted in steps of a few ms. @returns null until all are counted */
	countUsage(): SpentUsage | null {
		return this.#usage.countSome(this);
	}

	/**
	 * Creates a session with the entries before `index` (1 or more), or all, in a new file of `dir`. They are copied byte
	 * for byte and keep their indices. With `dir` null, and of a session in memory, the branch is in memory.
	 * @throws PiError `bad_arguments` if the index is out of range; `log_write_failed`
	 */
	branchTo(index: number | "all", options: SessionLogOptions & { dir: string | null; cwd?: string }): SessionLog {
		const end = index === "all" ? this.length : index;
		if (!Number.isSafeInteger(end) || end < 1 || end > this.length) {
			const message = `Cannot branch at entry ${index}: the session has entries 0 to ${this.length - 1}`;
			throw new PiError("bad_arguments", message);
		}
		const header = newHeader(options.cwd ?? this.header.cwd, this.path === null ? {} : { branchedFrom: this.path });
		const [dir, file] = [options.dir, this.#file];
		const isSaved = file !== null && dir !== null;
		const branch = isSaved ? this.#writeBranch(file, header, end, { ...options, dir }) : new SessionLog(options);
		branch.#entries = [header, ...(isSaved ? this.#entries.slice(1, end) : this.slice(1, end))];
		return branch;
	}

	#typeHint(index: number): string | undefined {
		const known = this.#entries[index];
		return known === undefined || known === UNREAD ? this.#file?.heads.typeHint(index) : known.type;
	}

	#writeBranch(
		source: SessionFile,
		header: SessionHeader,
		end: number,
		options: SessionLogOptions & { dir: string },
	): SessionLog {
		const path = join(options.dir, sessionFileName(new Date(header.timestamp), header.id));
		function* contents(): Generator<Uint8Array> {
			yield Buffer.from(encodeEntry(header));
			yield* source.bytes(1, end);
		}
		try {
			OpenFile.create(path, contents()).close();
			copyFileContents(source.path, path);
		} catch (cause) {
			throw new PiError("log_write_failed", `Cannot write the branch ${path}`, { cause });
		}
		return SessionLog.open(path, options);
	}

	#queueHeader(header: SessionHeader): void {
		this.#file?.queue({ text: encodeEntry(header), type: header.type });
		this.#entries.push(header);
	}

	#prepare(entry: SessionEntry): { line: NewLine; entry: SessionEntry } {
		if (this.#isClosed) throw new PiError("log_write_failed", `The session ${this.path} is closed`);
		this.checkWritable();
		const text = encodeEntry(withTimestamp(entry));
		const read = decodeLine(text); // this session must see the entry exactly as a later one will read it
		const reason = isOpaqueEntry(read)
			? read.reason
			: isSessionHeader(read)
				? "a session has only one header"
				: undefined;
		if (reason !== undefined)
			throw new PiError("entry_refused", `Cannot save an entry of type ${entry.type}: ${reason}`);
		return { line: { text, type: read.type }, entry: read };
	}

	#appendLines(prepared: readonly { line: NewLine; entry: SessionEntry }[], isQueued: boolean): number {
		const lines = prepared.map(({ line }) => line);
		const first = this.#file === null || isQueued ? this.length : this.#file.append(lines);
		if (isQueued) for (const line of lines) this.#file?.queue(line);
		while (this.#entries.length < first) this.#entries.push(UNREAD); // lines that another program appended
		for (const { entry } of prepared) this.#entries.push(entry);
		return first;
	}

	#parse(from: number, to: number): void {
		if (this.#file === null) return;
		while (this.#entries.length < this.length) this.#entries.push(UNREAD);
		for (let index = from; index < to; index++) {
			if (this.#entries[index] !== UNREAD) continue;
			let end = index + 1;
			while (end < to && this.#entries[end] === UNREAD) end++;
			this.#parseUnread(this.#file, index, end);
			index = end;
		}
	}

	#parseUnread(file: SessionFile, from: number, to: number): void {
		try {
			file.forEachLine(from, to, (index, bytes) => {
				this.#entries[index] = decodeLine(bytes);
			});
		} catch (error) {
			const lost = unreadable(error);
			for (let index = from; index < to; index++) if (this.#entries[index] === UNREAD) this.#entries[index] = lost;
		}
	}

	#host(): SessionFileHost {
		return {
			log: this,
			restoreLine: (index) => {
				const entry = this.#entries[index];
				if (entry !== undefined && entry !== UNREAD && !isOpaqueEntry(entry)) return encodeEntry(entry);
				return encodeEntry(opaqueEntry("the line was lost when the file was truncated"));
			},
		};
	}
}

function unreadable(error: unknown): SessionEntry {
	return opaqueEntry(`the line could not be read: ${errorText(error)}`);
}
