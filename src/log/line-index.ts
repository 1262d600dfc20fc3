import { HEAD_BYTES, isBlank, LF, type MessageRole, ROLES, roleAt, TypeTable } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";

/** A line to append. */
export interface NewLine {
	/** Includes `\n`. */
	text: string;
	type: string;
}

/** The contents of an index. */
export interface IndexColumns {
	/** Number of lines. */
	lines: number;
	/** Names of the types by number. */
	types: readonly string[];
	/** Offsets, lengths, types and roles of the lines. */
	bytes: Buffer[];
}

/** Small enough to stay in the processor's cache between read and scan. */
export const CHUNK_BYTES = 128 * 1024;
/** `}`, the last byte of an object. */
const BRACE = 0x7d;
/** Lines for which a new index has room. A list of sessions indexes thousands of short files. */
const FIRST_LINES = 64;

/** Shared by all scans and visits of lines, which never overlap and keep nothing of it. */
let shared: Buffer | undefined;

/** A buffer of `CHUNK_BYTES` for bytes that are needed only until the next call. */
export function sharedBuffer(): Buffer {
	shared ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
	return shared;
}

/**
 * Locates the entries of a file: byte offset, length, type and message role of each line, without the contents. Blank
 * lines have no index. Uses about 19 bytes per line.
 */
export class LineIndex {
	#starts = new Float64Array(FIRST_LINES);
	#lengths = new Float64Array(FIRST_LINES);
	#types = new Uint16Array(FIRST_LINES);
	#roles = new Uint8Array(FIRST_LINES);
	#count = 0;
	/** Number of lines that must be parsed. */
	#untyped = 0;
	readonly #table = new TypeTable();

	/** Number of lines with an index. */
	get length(): number {
		return this.#count;
	}

	/** Offset of a line's first byte. */
	start(index: number): number {
		return this.#starts[index] ?? 0;
	}

	/** Length of a line in bytes, without its line end. */
	byteLength(index: number): number {
		return this.#lengths[index] ?? 0;
	}

	/** The type in the head of a line; undefined if the line must be parsed. */
	typeHint(index: number): string | undefined {
		return this.#table.names[this.#types[index] ?? 0] || undefined;
	}

	/** The role in the head of a message's line; undefined if the line must be parsed. */
	roleHint(index: number): MessageRole | undefined {
		return ROLES[this.#roles[index] ?? 0] || undefined;
	}

	/** False if certainly no line has the type. Takes the same time for any number of lines. */
	mayContain(type: string): boolean {
		return this.#untyped > 0 || this.#table.has(type);
	}

	/** Number of lines of each type; `""` counts lines that must be parsed. */
	countTypes(): Map<string, number> {
		const { names } = this.#table;
		const counts = new Uint32Array(names.length);
		for (const number of this.#types.subarray(0, this.#count)) counts[number] = (counts[number] ?? 0) + 1;
		return new Map(names.map((name, number) => [name, counts[number] ?? 0] as const).filter(([, n]) => n > 0));
	}

	/** Everything in this index: columns of numbers, in the byte order of this machine, and the names of the types. */
	toColumns(): IndexColumns {
		const used = [this.#starts, this.#lengths, this.#types, this.#roles].map((column) =>
			column.subarray(0, this.#count),
		);
		return { lines: this.#count, types: this.#table.names, bytes: used.map(bytesOf) };
	}

	/** The index that `toColumns` returned. @param bytes its columns, one after the other */
	static fromColumns(lines: number, types: readonly string[], bytes: Buffer): LineIndex {
		const index = new LineIndex();
		index.#starts = new Float64Array(lines);
		index.#lengths = new Float64Array(lines);
		index.#types = new Uint16Array(lines);
		index.#roles = new Uint8Array(lines);
		let at = 0;
		for (const column of [index.#starts, index.#lengths, index.#types, index.#roles].map(bytesOf)) {
			at += bytes.copy(column, 0, at, at + column.length);
		}
		for (const type of types.slice(1)) index.#table.numberOf(type);
		for (const type of index.#types) if (type === 0) index.#untyped++;
		index.#count = lines;
		return index;
	}

	/** Adds a line after all others. */
	add(start: number, byteLength: number, type: string | undefined): void {
		this.#push(start, byteLength, type === undefined ? 0 : this.#table.numberOf(type), 0);
	}

	/**
	 * Adds the lines of a file in the byte range `[from, to)`. Only LF ends a line.
	 * @returns true if the last line has its line end, or the range is empty
	 */
	scan(file: Pick<OpenFile, "readSome">, from: number, to: number): boolean {
		const buffer = sharedBuffer();
		let carried: Buffer | null = null; // head of a line that began in an earlier chunk
		let lineStart = from;
		let previous = 0; // last byte of the chunk before
		for (let position = from; position < to; ) {
			const count = file.readSome(buffer.subarray(0, to - position), position);
			if (count === 0) break;
			const chunk = buffer.subarray(0, count);
			let at = 0;
			for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
				const last = end > 0 ? chunk[end - 1] : previous;
				if (carried) this.#addLine(withHead(carried, chunk.subarray(at, end)), lineStart, position + end, last);
				else this.#addLine(chunk, lineStart, position + end, last, at, end);
				carried = null;
				at = end + 1;
				lineStart = position + at;
			}
			if (at < count) carried = withHead(carried, chunk.subarray(at));
			previous = chunk[count - 1] ?? 0;
			position += count;
		}
		if (lineStart >= to) return true;
		if (carried) this.#addLine(carried, lineStart, to, previous);
		return false;
	}

	/** Adds a line unless it is blank. `bytes[at, end)` is the line, or its head; `last` is its last byte. */
	#addLine(bytes: Buffer, start: number, lineEnd: number, last = 0, at = 0, end = bytes.length): void {
		let first = at;
		while (first < end && isBlank(bytes[first])) first++;
		if (first === end) return;
		// The head of a line that was cut off says nothing about its entry.
		const isPlain = first === at && (last === BRACE || isBlank(last));
		this.#push(
			start,
			lineEnd - start,
			isPlain ? this.#table.numberAt(bytes, at, end) : 0,
			isPlain ? roleAt(bytes, at, end) : 0,
		);
	}

	#push(start: number, byteLength: number, type: number, role: number): void {
		if (this.#count === this.#starts.length) this.#grow();
		this.#starts[this.#count] = start;
		this.#lengths[this.#count] = byteLength;
		this.#types[this.#count] = type;
		this.#roles[this.#count] = role;
		if (type === 0) this.#untyped++;
		this.#count++;
	}

	#grow(): void {
		const size = Math.max(FIRST_LINES, this.#starts.length * 2);
		this.#starts = copyTo(new Float64Array(size), this.#starts);
		this.#lengths = copyTo(new Float64Array(size), this.#lengths);
		this.#types = copyTo(new Uint16Array(size), this.#types);
		this.#roles = copyTo(new Uint8Array(size), this.#roles);
	}
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
	return Buffer.from(buffer, byteOffset, byteLength);
}

function copyTo<T extends { set(values: T): void }>(larger: T, values: T): T {
	larger.set(values);
	return larger;
}

/** The first bytes of a line, collected from several chunks; of blanks at its start only one is kept. */
function withHead(head: Buffer | null, more: Buffer): Buffer {
	if (head && head.length >= HEAD_BYTES) return head;
	const joined = head ? Buffer.concat([head, more]) : more;
	let blanks = 0;
	while (blanks < joined.length && isBlank(joined[blanks])) blanks++;
	const from = Math.max(0, blanks - 1);
	return Buffer.from(joined.subarray(from, from + HEAD_BYTES));
}
