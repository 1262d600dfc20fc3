import { randomBytes } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDir } from "../util/fs.js";
import { OUTPUT_LIMITS, type OutputLimits, plainOutput, type Truncated, truncateTail } from "./output.js";

/** Raw bytes kept in memory: far more than the limit of a result, because escape sequences are removed. */
const WINDOW_BYTES = 512 * 1024;
/** Raw bytes used for an update while the output grows. */
const LIVE_BYTES = 64 * 1024;
const LIVE_LIMITS: OutputLimits = { maxLines: 500, maxBytes: 20 * 1024 };
/** Bytes buffered for the file before the program has to wait. */
const SPILL_BUFFER_BYTES = 1024 * 1024;
/** Keeps a program that never stops printing from filling the disk. */
const MAX_SPILL_BYTES = 2 * 1024 * 1024 * 1024;

/** The end of a command's output. */
export interface RecordedOutput extends Truncated {
	/** Path of the complete output; only if it was cut and could be saved. */
	fullOutputPath?: string;
}

/** Keeps the end of a command's output in memory and, once it exceeds `OUTPUT_LIMITS`, all of it in a private file. */
export class OutputRecorder {
	readonly #tail = new TailBuffer(WINDOW_BYTES);
	#newlines = 0;
	#endsInLine = false;
	#spill: Spill | undefined;

	/** @param dir directory of the file */
	constructor(private readonly dir: string) {}

	/** Adds a chunk. @returns a promise that resolves when the recorder can accept the next one, undefined for at once */
	add(chunk: Buffer): Promise<void> | undefined {
		this.#tail.add(chunk);
		for (let at = 0; at < chunk.length; at++) if (chunk[at] === 0x0a) this.#newlines++;
		if (chunk.length > 0) this.#endsInLine = chunk[chunk.length - 1] !== 0x0a;
		if (this.#spill) return this.#spill.write(chunk);
		if (this.#tail.total <= OUTPUT_LIMITS.maxBytes && this.#lines <= OUTPUT_LIMITS.maxLines) return;
		this.#spill = new Spill(this.dir);
		return this.#spill.write(Buffer.from(this.#tail.last(WINDOW_BYTES)));
	}

	/** The end of the output so far, short enough for frequent updates. */
	live(): Truncated {
		return this.#cut(this.#tail.last(LIVE_BYTES), LIVE_LIMITS, true);
	}

	/** The result. Call it after the last `add`; it resolves when the file is complete. */
	async finish(): Promise<RecordedOutput> {
		const output = this.#cut(this.#tail.last(WINDOW_BYTES), OUTPUT_LIMITS, false);
		const fullOutputPath = await this.#spill?.finish(output.truncation.truncated);
		return { ...output, ...(fullOutputPath !== undefined && { fullOutputPath }) };
	}

	get #lines(): number {
		return this.#newlines + (this.#endsInLine ? 1 : 0);
	}

	#cut(bytes: Buffer, limits: OutputLimits, isGrowing: boolean): Truncated {
		const isComplete = bytes.length === this.#tail.total;
		let start = 0;
		// The window may start inside a character.
		while (!isComplete && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
		const text = new TextDecoder("utf-8").decode(bytes.subarray(start), { stream: isGrowing });
		const cut = truncateTail(plainOutput(text), limits);
		if (isComplete) return cut;
		const { truncatedBy } = cut.truncation;
		const totals = { totalLines: this.#lines, totalBytes: this.#tail.total };
		return {
			...cut,
			truncation: { ...cut.truncation, ...totals, truncated: true, truncatedBy: truncatedBy ?? "bytes" },
		};
	}
}

/** The last bytes of a stream. */
class TailBuffer {
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

/** A private file with the complete output. */
class Spill {
	readonly #path: string;
	#stream: WriteStream | undefined;
	#bytes = 0;

	constructor(dir: string) {
		this.#path = join(dir, `bash-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}.log`);
		try {
			ensurePrivateDir(dir);
			this.#stream = createWriteStream(this.#path, { flags: "wx", mode: 0o600, highWaterMark: SPILL_BUFFER_BYTES });
		} catch {
			return; // the command continues; its result names no file
		}
		this.#stream.once("error", () => {
			this.#stream = undefined; // such as a full disk: as above
		});
	}

	write(chunk: Buffer): Promise<void> | undefined {
		const stream = this.#stream;
		if (stream === undefined || this.#bytes + chunk.length > MAX_SPILL_BYTES) return;
		this.#bytes += chunk.length;
		if (stream.write(chunk)) return;
		return new Promise((resolve) => {
			const onReady = () => {
				stream.off("drain", onReady);
				stream.off("close", onReady);
				resolve();
			};
			stream.once("drain", onReady);
			stream.once("close", onReady);
		});
	}

	/** @returns the path; undefined if the file is not wanted or could not be written */
	async finish(wanted: boolean): Promise<string | undefined> {
		const stream = this.#stream;
		if (stream) {
			await new Promise<void>((resolve) => {
				stream.once("close", resolve);
				stream.end();
			});
			if (wanted && this.#stream) return this.#path;
		}
		await unlink(this.#path).catch(() => {}); // the file may not exist
		return undefined;
	}
}
