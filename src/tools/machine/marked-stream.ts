const NOTHING = Buffer.alloc(0);
/** Maximum length of a status. */
const MAX_STATUS = 8;
/** Kept of what precedes the output, characters. */
const MAX_BEFORE = 4000;

/**
 * Takes a program's own output out of a stream. What precedes NUL, a mark that occurs nowhere else and a newline comes from
 * others, such as the start files of the login shell. NUL, the mark, `:`, a status and a newline is the end of the program. What
 * follows is output of processes that it left behind. `.` at the end of the status, or as a second status, says that none is left.
 */
export class MarkedStream {
	readonly #begin: Buffer;
	readonly #end: Buffer;
	#hasBegun = false;
	/** The start of a mark at the end of the last chunk. */
	#held: Buffer = NOTHING;
	#before = "";
	#status: string | null = null;
	#isLast = false;

	constructor(mark: string) {
		this.#begin = Buffer.from(`\0${mark}\n`);
		this.#end = Buffer.from(`\0${mark}:`);
	}

	/** True after the mark that begins the program's output. */
	get hasBegun(): boolean {
		return this.#hasBegun;
	}

	/** The end of what came before it. */
	get before(): string {
		return this.#before;
	}

	/** Null before the mark that ends the program. */
	get status(): string | null {
		return this.#status;
	}

	/** True if no process is left that could write more. */
	get isLast(): boolean {
		return this.#isLast;
	}

	/** @returns the output in a chunk, with what was held back before */
	add(chunk: Buffer): Buffer {
		// Whatever the login shell has to say when it ends.
		if (this.#isLast) return NOTHING;
		const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
		this.#held = NOTHING;
		return this.#hasBegun ? this.#untilEnd(bytes) : this.#untilBegin(bytes);
	}

	#untilBegin(bytes: Buffer): Buffer {
		const at = bytes.indexOf(this.#begin);
		const others = at === -1 ? this.#hold(bytes, startOf(this.#begin, bytes)) : bytes.subarray(0, at);
		this.#before = (this.#before + others.subarray(-MAX_BEFORE).toString()).slice(-MAX_BEFORE);
		if (at === -1) return NOTHING;
		this.#hasBegun = true;
		return this.#untilEnd(bytes.subarray(at + this.#begin.length));
	}

	#untilEnd(bytes: Buffer): Buffer {
		const at = bytes.indexOf(this.#end);
		if (at === -1) return this.#hold(bytes, startOf(this.#end, bytes));
		const from = at + this.#end.length;
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
}

/** Where an incomplete mark begins at the end; the length of the bytes if there is none. */
function startOf(mark: Buffer, bytes: Buffer): number {
	const from = Math.max(0, bytes.length - mark.length + 1);
	for (let at = bytes.indexOf(0, from); at !== -1; at = bytes.indexOf(0, at + 1)) {
		if (bytes.subarray(at).equals(mark.subarray(0, bytes.length - at))) return at;
	}
	return bytes.length;
}
