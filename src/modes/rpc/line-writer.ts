import { jsonLine } from "../json.js";
import type { ModeIO } from "../mode.js";

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
