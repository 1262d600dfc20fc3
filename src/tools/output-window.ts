import { OUTPUT_LIMITS, type OutputLimits, plainOutput, type Truncated, truncateTail } from "./output.js";
import { styledOutput } from "./styled-output.js";

/** Raw bytes kept in memory: far more than the limit of a result, because escape sequences are removed. */
const WINDOW_BYTES = 512 * 1024;

/** How `OutputWindow.cut` cuts. */
export interface CutOptions {
	/** Default: `OUTPUT_LIMITS`. */
	limits?: OutputLimits;
	/** Maximum number of raw bytes to use. Default: all that are kept. */
	window?: number;
	/** True while more output may come: drops an incomplete character at the end. */
	isGrowing?: boolean;
	/** Returns colors and styles too. */
	withStyles?: boolean;
}

/** Maximum length of a text with its styles, as a multiple of the limit of the text. */
const STYLED_SHARE = 4;

/** The end of a command's output in memory, and the size of all of it. */
export class OutputWindow {
	readonly #tail = new TailBuffer(WINDOW_BYTES);
	#newlines = 0;
	#endsInLine = false;

	add(chunk: Buffer): void {
		this.#tail.add(chunk);
		for (let at = 0; at < chunk.length; at++) if (chunk[at] === 0x0a) this.#newlines++;
		if (chunk.length > 0) this.#endsInLine = chunk[chunk.length - 1] !== 0x0a;
	}

	/** Bytes added so far. */
	get bytes(): number {
		return this.#tail.total;
	}

	/** Lines added so far. */
	get lines(): number {
		return this.#newlines + (this.#endsInLine ? 1 : 0);
	}

	/** A live view of the last bytes, at most `maxBytes`, valid until the next `add`. */
	last(maxBytes: number = WINDOW_BYTES): Buffer {
		return this.#tail.last(maxBytes);
	}

	/** The end of the output as plain text, cut to the limits. */
	cut(options: CutOptions = {}): Truncated {
		const { limits = OUTPUT_LIMITS, window = WINDOW_BYTES, isGrowing = false, withStyles = false } = options;
		const bytes = this.last(window);
		const isComplete = bytes.length === this.bytes;
		let start = 0;
		// The window may start inside a character.
		while (!isComplete && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
		const text = new TextDecoder("utf-8").decode(bytes.subarray(start), { stream: isGrowing });
		const plain = plainOutput(text);
		const tail = truncateTail(plain, limits);
		const maxLength = STYLED_SHARE * limits.maxBytes;
		const styled = withStyles ? styledOutput(text, plain.length - tail.text.length, maxLength) : undefined;
		const cut = styled === undefined ? tail : { ...tail, styled };
		if (isComplete) return cut;
		const { truncatedBy } = cut.truncation;
		const totals = { totalLines: this.lines, totalBytes: this.bytes };
		return {
			...cut,
			truncation: { ...cut.truncation, ...totals, truncated: true, truncatedBy: truncatedBy ?? "bytes" },
		};
	}
}

/** The last bytes of a stream. */
export class TailBuffer {
	/** Bytes added so far. */
	total = 0;
	#buffer = Buffer.alloc(0);
	#length = 0;

	constructor(private readonly window: number) {}

	add(chunk: Buffer): void {
		this.total += chunk.length;
		const piece = chunk.length > this.window ? chunk.subarray(chunk.length - this.window) : chunk;
		if (this.#length + piece.length > this.#buffer.length) this.#makeRoom(piece.length);
		this.#length += piece.copy(this.#buffer, this.#length);
	}

	/** A live view of the last bytes, valid until the next `add`. */
	last(bytes: number): Buffer {
		return this.#buffer.subarray(Math.max(0, this.#length - bytes), this.#length);
	}

	/** The buffer is up to twice the window, so that bytes move once per window instead of with each chunk. */
	#makeRoom(needed: number): void {
		const kept = this.last(this.window);
		const wanted = Math.min(2 * this.window, Math.max(4096, 2 * (kept.length + needed)));
		const target = wanted > this.#buffer.length ? Buffer.allocUnsafe(wanted) : this.#buffer;
		kept.copy(target);
		this.#buffer = target;
		this.#length = kept.length;
	}
}
