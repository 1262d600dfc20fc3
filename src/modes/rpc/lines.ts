import { jsonLine } from "../json.js";
import type { ModeIO } from "../mode.js";

/** Longest line that is taken, in bytes: room for a prompt with images. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** A line, or word of one that was too long to be kept. */
export type InputLine = { text: string } | { tooLong: number };

/**
 * Cuts a stream of bytes into lines. A line ends with LF and nothing else (U+2028 is text); a CR before it is dropped.
 * Bytes that are no UTF-8 become U+FFFD. What follows the last LF counts as a line when it is not empty.
 */
export async function* readLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<InputLine> {
	let parts: Buffer[] = [];
	let length = 0;
	const take = (): InputLine => {
		const line: InputLine =
			length > MAX_LINE_BYTES
				? { tooLong: length }
				: { text: Buffer.concat(parts).toString("utf8").replace(/\r$/, "") };
		parts = [];
		length = 0;
		return line;
	};
	const keep = (bytes: Buffer) => {
		length += bytes.length;
		if (length > MAX_LINE_BYTES) parts = [];
		else parts.push(bytes);
	};
	for await (const chunk of input) {
		const bytes = Buffer.from(chunk);
		let start = 0;
		for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
			keep(bytes.subarray(start, end));
			yield take();
			start = end + 1;
		}
		keep(bytes.subarray(start));
	}
	if (length > 0) yield take();
}

/** Writes values as lines, in order, at the pace of the reader. */
export class LineWriter {
	#written: Promise<void> = Promise.resolve();
	#waiting = 0;

	constructor(private readonly io: Pick<ModeIO, "out">) {}

	/** True while the reader has not taken what was written. */
	get isBehind(): boolean {
		return this.#waiting > 0;
	}

	/** Takes a value as it is now. */
	write(value: unknown): void {
		const line = jsonLine(value);
		this.#waiting++;
		this.#written = this.#written.then(() => this.io.out(line)).finally(() => this.#waiting--);
	}

	/** Resolves when the reader has room for all that was written so far. */
	drained(): Promise<void> {
		return this.#written;
	}
}
