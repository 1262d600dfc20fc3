import { jsonLine } from "../json.js";
import type { ModeIO } from "../mode.js";

/** Maximum length of a line in bytes; enough for a prompt with images. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** A line, or the length in bytes of a line that exceeded the limit. */
export type InputLine = { text: string } | { tooLong: number };

/**
 * Splits a stream of bytes into lines. Only LF ends a line (U+2028 is text); a CR before it is dropped. Invalid UTF-8
 * becomes U+FFFD. Text after the last LF counts as a line if it is not empty.
 */
export async function* readLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<InputLine> {
	let chunks: Buffer[] = [];
	let length = 0;
	const take = (): InputLine => {
		const line: InputLine =
			length > MAX_LINE_BYTES
				? { tooLong: length }
				: { text: Buffer.concat(chunks).toString("utf8").replace(/\r$/, "") };
		chunks = [];
		length = 0;
		return line;
	};
	const keep = (bytes: Buffer) => {
		length += bytes.length;
		if (length > MAX_LINE_BYTES) chunks = [];
		else chunks.push(bytes);
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

/** Writes values as lines of JSON, in order, at the speed of the reader. */
export class LineWriter {
	#written: Promise<void> = Promise.resolve();
	#waiting = 0;

	constructor(private readonly io: Pick<ModeIO, "out">) {}

	/** True while written lines wait for the reader. */
	get isBehind(): boolean {
		return this.#waiting > 0;
	}

	/** Queues a line with a snapshot of the value. @throws if JSON cannot represent it */
	write(value: unknown): void {
		const line = jsonLine(value);
		this.#waiting++;
		this.#written = this.#written.then(() => this.io.out(line)).finally(() => this.#waiting--);
	}

	/** Resolves when the reader has accepted all lines written so far. */
	drained(): Promise<void> {
		return this.#written;
	}
}
