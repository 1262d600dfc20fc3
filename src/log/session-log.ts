import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { errorText, PiError } from "../errors.js";
import { decodeLine, encodeEntry } from "./codec.js";
import {
	entryTimestamp,
	isMessageEntry,
	isOpaqueEntry,
	isSessionHeader,
	type SessionEntry,
	type SessionHeader,
} from "./entry.js";
import { freezeDeep } from "./freeze.js";
import type { MessageRole } from "./line-patterns.js";
import { OpenFile } from "./open-file.js";
import { opaqueEntry } from "./read-entry.js";
import { type NewLine, SessionFile, type SessionFileHost } from "./session-file.js";
import { readFirstLine } from "./session-head.js";
import { sessionFileName } from "./session-paths.js";

/** What every log may be told when it is made. */
export interface SessionLogOptions {
	/**
	 * Told once per incident when entries cannot be written, or when others touched the file. The log goes on in
	 * memory and tries again with each append.
	 */
	onWriteError?: (error: PiError) => void;
}

/** Stands for a line that was not parsed yet. */
const UNREAD = opaqueEntry("not read yet");

/**
 * The append-only record of a session: one JSON line per entry, never edited. An entry's index (0 is the header) is
 * its identity, so an unreadable line keeps its place. Entries are frozen, and parsed when they are asked for.
 * @see docs/session-format.md
 */
export class SessionLog {
	/** See `SessionLogOptions`. */
	onWriteError: (error: PiError) => void;
	#file: SessionFile | null = null;
	#entries: SessionEntry[] = [];
	/** Entries below this index are parsed. */
	#readUpTo = 0;
	#snapshot: readonly SessionEntry[] = [];
	#isClosed = false;

	private constructor(options: SessionLogOptions) {
		this.onWriteError = options.onWriteError ?? (() => {});
	}

	/** A new session in a file of `dir`. Nothing is on disk before the first append, which writes header and entry at once. */
	static create(options: SessionLogOptions & { dir: string; cwd: string; branchedFrom?: string }): SessionLog {
		const log = new SessionLog(options);
		const header = newHeader(options.cwd, options.branchedFrom);
		const path = join(options.dir, sessionFileName(new Date(header.timestamp), header.id));
		log.#file = SessionFile.planned(path, log.#host());
		log.#queueHeader(header);
		return log;
	}

	/** A session that lives in memory alone. */
	static inMemory(cwd: string, options: SessionLogOptions & { branchedFrom?: string } = {}): SessionLog {
		const log = new SessionLog(options);
		log.#entries.push(newHeader(cwd, options.branchedFrom));
		return log;
	}

	/**
	 * Opens a session file, and locks it unless it is opened read-only. Nothing is written before the first append: a
	 * last line without line end is ended then, and an empty file gets its header (with `cwd`).
	 * @throws PiError `log_not_found`; `log_not_a_session`, the file untouched; `log_locked`; `file_unreadable`
	 */
	static open(path: string, options: SessionLogOptions & { readOnly?: boolean; cwd?: string } = {}): SessionLog {
		const log = new SessionLog(options);
		const file = SessionFile.open(path, options.readOnly === true, log.#host(), (opened) => {
			if (opened.stats().size === 0) return;
			const header = readFirstLine(opened);
			if (typeof header === "string") {
				throw new PiError("log_not_a_session", `${path} is not a session: ${header}`, {
					hint: "choose a session file, or start without one",
				});
			}
		});
		log.#file = file;
		log.#entries = new Array<SessionEntry>(file.length).fill(UNREAD);
		if (file.length === 0) log.#queueHeader(newHeader(options.cwd ?? process.cwd(), undefined));
		return log;
	}

	/** Absolute path of the file; null for a session in memory. The file may not exist yet. */
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

	/** How many entries there are, header included. */
	get length(): number {
		return this.#file?.length ?? this.#entries.length;
	}

	/** One entry; undefined when there is none at that index. */
	entry(index: number): SessionEntry | undefined {
		if (!Number.isSafeInteger(index) || index < 0 || index >= this.length) return undefined;
		this.#parse(index, index + 1);
		return this.#entries[index];
	}

	/** Entries from one index to before another, parsing only those. */
	slice(from: number, to = this.length): SessionEntry[] {
		const end = Math.min(to, this.length);
		this.#parse(Math.max(0, from), end);
		return this.#entries.slice(Math.max(0, from), Math.max(0, end));
	}

	/** All entries, frozen: a snapshot, and the same array for as long as nothing is appended. Parses what is not parsed yet. */
	get entries(): readonly SessionEntry[] {
		if (this.#snapshot.length !== this.length) {
			this.#parse(this.#readUpTo, this.length);
			this.#readUpTo = this.length;
			this.#snapshot = Object.freeze(this.#entries.slice());
		}
		return this.#snapshot;
	}

	/**
	 * Index of the last entry of a type, or of one of several, before index `before`; -1 when there is none. Looks at the
	 * heads of lines, so that hardly more than the entry it finds is parsed.
	 */
	findLast(type: string | readonly string[], before = this.length): number {
		const isWanted =
			typeof type === "string" ? (other: string) => other === type : (other: string) => type.includes(other);
		for (let index = Math.min(before, this.length) - 1; index >= 0; index--) {
			const hint = this.#typeHint(index);
			if (hint !== undefined && !isWanted(hint)) continue;
			const entry = this.entry(index);
			if (entry && isWanted(entry.type)) return index;
		}
		return -1;
	}

	/** Type of an entry, from the head of its line where that says it; undefined when there is none at that index. */
	typeOf(index: number): string | undefined {
		return this.#typeHint(index) ?? this.entry(index)?.type;
	}

	/** Who says the message that an entry holds; undefined for other entries. From the head of its line where that says it. */
	roleOf(index: number): MessageRole | undefined {
		const isRead = this.#entries[index] !== undefined && this.#entries[index] !== UNREAD;
		const hint = isRead ? undefined : this.#file?.heads.roleHint(index);
		if (hint !== undefined || this.typeOf(index) !== "message") return hint;
		const entry = this.peek(index);
		return isMessageEntry(entry) ? entry.message.role : undefined;
	}

	/**
	 * Index of the last message of a role, or of several, in `[from, before)`; -1 when there is none. Reads no more than
	 * `roleOf` must.
	 */
	findLastMessage(role: MessageRole | readonly MessageRole[], before = this.length, from = 0): number {
		const roles: readonly (MessageRole | undefined)[] = typeof role === "string" ? [role] : role;
		for (let index = Math.min(before, this.length) - 1; index >= from; index--) {
			if (roles.includes(this.roleOf(index))) return index;
		}
		return -1;
	}

	/** How many entries there are of each type. */
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

	/** As `entry`, but what must be parsed for it is not kept: for those who go through many and look at each once. */
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

	/**
	 * Appends an entry, with the time if it has none. It is in the file on return (on the disk after `flush`), or
	 * `onWriteError` was told why not.
	 * @returns its index; `entry(index)` is how it will be read back
	 * @throws PiError `entry_refused`, nothing appended; `log_locked` when opened read-only; `log_write_failed` when closed
	 */
	append(entry: SessionEntry): number {
		return this.#appendLines([this.#prepare(entry)]);
	}

	/** Appends several entries, all or none of them once the process has died. @returns their indices @throws as `append` */
	appendAll(entries: readonly SessionEntry[]): number[] {
		if (entries.length === 0) return [];
		const first = this.#appendLines(entries.map((entry) => this.#prepare(entry)));
		return entries.map((_, position) => first + position);
	}

	/** Resolves when everything appended so far is on the disk, or `onWriteError` was told why not. */
	async flush(): Promise<void> {
		await this.#file?.flush();
	}

	/** Gives up lock and file. Entries parsed so far stay readable. */
	close(): void {
		this.#isClosed = true;
		this.#file?.close();
	}

	/**
	 * A new session with the entries before `index` (at least the first after the header), or all, byte for byte and
	 * under the same indices, in a new file of `dir`. A session in memory branches in memory.
	 * @throws PiError `bad_arguments` for an index that is not there; `log_write_failed`
	 */
	branchTo(index: number | "all", options: SessionLogOptions & { dir: string; cwd?: string }): SessionLog {
		const end = index === "all" ? this.length : index;
		if (!Number.isSafeInteger(end) || end < 1 || end > this.length) {
			throw new PiError(
				"bad_arguments",
				`Cannot branch at entry ${index}: the session has entries 0 to ${this.length - 1}`,
			);
		}
		const header = newHeader(options.cwd ?? this.header.cwd, this.path ?? undefined);
		const branch = this.#file === null ? new SessionLog(options) : this.#writeBranch(this.#file, header, end, options);
		branch.#entries = [header, ...this.#entries.slice(1, end)];
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
		if (this.isReadOnly) {
			throw new PiError("log_locked", `The session ${this.path} was opened for reading only`, {
				hint: "branch from it to go on",
			});
		}
		const text = encodeEntry(withTimestamp(entry));
		const read = decodeLine(text); // what a later session will find is what this one sees
		const reason = isOpaqueEntry(read) ? read.reason : isSessionHeader(read) ? "a session has one header" : undefined;
		if (reason !== undefined)
			throw new PiError("entry_refused", `Cannot save an entry of type ${entry.type}: ${reason}`);
		return { line: { text, type: read.type }, entry: read };
	}

	#appendLines(prepared: readonly { line: NewLine; entry: SessionEntry }[]): number {
		const first = this.#file === null ? this.#entries.length : this.#file.append(prepared.map(({ line }) => line));
		while (this.#entries.length < first) this.#entries.push(UNREAD); // lines that others wrote meanwhile
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
			onWriteError: (error) => this.onWriteError(error),
			restoreLine: (index) => {
				const entry = this.#entries[index];
				if (entry !== undefined && entry !== UNREAD && !isOpaqueEntry(entry)) return encodeEntry(entry);
				return encodeEntry(opaqueEntry("the line was lost when the file was cut short"));
			},
		};
	}
}

function unreadable(error: unknown): SessionEntry {
	return opaqueEntry(`the line could not be read: ${errorText(error)}`);
}

function withTimestamp(entry: SessionEntry): SessionEntry {
	if ("timestamp" in entry && entry.timestamp !== undefined) return entry;
	return { ...entry, timestamp: entryTimestamp() };
}

function newHeader(cwd: string, branchedFrom: string | undefined): SessionHeader {
	return freezeDeep({
		type: "session",
		version: 1,
		id: randomUUID(),
		timestamp: entryTimestamp(),
		cwd,
		...(branchedFrom !== undefined && { branchedFrom }),
	});
}
