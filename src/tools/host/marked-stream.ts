const NOTHING = Buffer.alloc(0);
/** Maximum length of a status. */
const MAX_STATUS = 8;

/**
 * Takes the end of a program out of its output: NUL, a mark that occurs nowhere else, `:`, a status, a newline. What follows is
 * output of processes that it left behind. `.` at the end of the status, or as a second status, says that none is left.
 */
export class MarkedStream {
	readonly #mark: Buffer;
	/** The start of a mark at the end of the last chunk. */
	#held: Buffer = NOTHING;
	#status: string | null = null;
	#isLast = false;

	constructor(mark: string) {
		this.#mark = Buffer.from(`\0${mark}:`);
	}

	/** Null before the mark. */
	get status(): string | null {
		return this.#status;
	}

	/** True if no process is left that could write more. */
	get isLast(): boolean {
		return this.#isLast;
	}

	/** @returns the output in a chunk, with what was held back before */
	add(chunk: Buffer): Buffer {
		if (this.#isLast) return chunk;
		const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
		this.#held = NOTHING;
		const at = bytes.indexOf(this.#mark);
		if (at === -1) return this.#hold(bytes, this.#startOfMark(bytes));
		const from = at + this.#mark.length;
		const end = bytes.indexOf(0x0a, from);
		if (end === -1 && bytes.length - from <= MAX_STATUS) return this.#hold(bytes, at);
		const status = bytes.toString("latin1", from, end === -1 ? undefined : end);
		// A program that was ended has no status.
		if (status !== ".") this.#status ??= status.replace(/\.$/, "");
		this.#isLast = status.endsWith(".");
		const rest = end === -1 ? NOTHING : this.add(bytes.subarray(end + 1));
		return rest.length === 0 ? bytes.subarray(0, at) : Buffer.concat([bytes.subarray(0, at), rest]);
	}

	#hold(bytes: Buffer, at: number): Buffer {
		// A copy: the chunk may be large.
		this.#held = Buffer.from(bytes.subarray(at));
		return bytes.subarray(0, at);
	}

	/** Where an incomplete mark begins at the end; the length of the bytes if there is none. */
	#startOfMark(bytes: Buffer): number {
		const from = Math.max(0, bytes.length - this.#mark.length + 1);
		for (let at = bytes.indexOf(0, from); at !== -1; at = bytes.indexOf(0, at + 1)) {
			if (bytes.subarray(at).equals(this.#mark.subarray(0, bytes.length - at))) return at;
		}
		return bytes.length;
	}
}
