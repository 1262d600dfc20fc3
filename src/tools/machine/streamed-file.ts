import type { HostFile } from "./machine.js";

/** Bytes that may wait to be read: each pause of the stream costs a wake-up of the program that sends it. */
const MAX_WAITING = 1024 * 1024;

/** A file whose bytes come from a stream, which begins with its size and a newline. */
export class StreamedFile implements HostFile {
	size = 0;
	/** Resolves when the size is known; rejects if the file cannot be opened. */
	readonly opened: Promise<void>;
	#head: Buffer | null = Buffer.alloc(0);
	#chunks: Buffer[] = [];
	/** Bytes in `#chunks`. */
	#waiting = 0;
	#end: { error: unknown } | null = null;
	#changed = () => {};
	#drained = () => {};
	#open = () => {};
	#refuse: (error: unknown) => void = () => {};

	/** @param stop ends the stream */
	constructor(private readonly stop: () => void) {
		this.opened = new Promise((resolve, reject) => {
			this.#open = resolve;
			this.#refuse = reject;
		});
		this.opened.catch(() => {});
	}

	/** @returns a promise that resolves when the file wants more */
	push(chunk: Buffer): Promise<void> | undefined {
		let bytes = chunk;
		if (this.#head) {
			bytes = Buffer.concat([this.#head, chunk]);
			const newline = bytes.indexOf(0x0a);
			if (newline === -1) {
				this.#head = bytes;
				return undefined;
			}
			this.size = Number(bytes.toString("latin1", 0, newline)) || 0;
			this.#head = null;
			bytes = bytes.subarray(newline + 1);
			this.#open();
		}
		if (bytes.length === 0) return undefined;
		this.#chunks.push(bytes);
		this.#waiting += bytes.length;
		this.#changed();
		if (this.#waiting < MAX_WAITING) return undefined;
		return new Promise((resolve) => {
			this.#drained = resolve;
		});
	}

	/** @param error why the file is not complete; undefined at its end */
	finish(error: unknown): void {
		this.#end = { error };
		this.#refuse(error);
		this.#changed();
	}

	async read(into: Uint8Array): Promise<number> {
		while (this.#chunks.length === 0 && this.#end === null) {
			await new Promise<void>((resolve) => {
				this.#changed = resolve;
			});
		}
		const [first] = this.#chunks;
		if (!first) {
			if (this.#end?.error !== undefined) throw this.#end.error;
			return 0;
		}
		const count = Math.min(into.length, first.length);
		into.set(first.subarray(0, count));
		this.#waiting -= count;
		if (count < first.length) this.#chunks[0] = first.subarray(count);
		else this.#chunks.shift();
		if (this.#waiting === 0) this.#drained();
		return count;
	}

	async close(): Promise<void> {
		this.#chunks = [];
		this.#waiting = 0;
		this.#drained();
		if (this.#end === null) this.stop();
	}
}
