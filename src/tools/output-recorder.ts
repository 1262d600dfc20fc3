import { randomBytes } from "node:crypto";
import { createWriteStream, promises, type WriteStream } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDir } from "../util/fs.js";
import { OUTPUT_LIMITS, type OutputLimits, type Truncated } from "./output.js";
import { OutputWindow } from "./output-window.js";

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
	readonly #window = new OutputWindow();
	#spill: Spill | undefined;

	/**
	 * @param dir directory of the file
	 * @param withStyles returns colors and styles too
	 */
	constructor(
		private readonly dir: string,
		private readonly withStyles = false,
	) {}

	/** Adds a chunk. @returns a promise that resolves when the recorder can accept the next one, undefined for at once */
	add(chunk: Buffer): Promise<void> | undefined {
		this.#window.add(chunk);
		if (this.#spill) return this.#spill.write(chunk);
		if (this.#window.bytes <= OUTPUT_LIMITS.maxBytes && this.#window.lines <= OUTPUT_LIMITS.maxLines) return;
		this.#spill = new Spill(this.dir);
		return this.#spill.write(Buffer.from(this.#window.last()));
	}

	/** The end of the output so far, short enough for frequent updates. */
	live(): Truncated {
		return this.#window.cut({ limits: LIVE_LIMITS, window: LIVE_BYTES, isGrowing: true, withStyles: this.withStyles });
	}

	/** The last bytes so far, as many as are in memory. */
	last(): Buffer {
		return Buffer.from(this.#window.last());
	}

	/** The result. Call it after the last `add`; it resolves when the file is complete. */
	async finish(): Promise<RecordedOutput> {
		const output = this.#window.cut({ withStyles: this.withStyles });
		const fullOutputPath = await this.#spill?.finish(output.truncation.truncated);
		return { ...output, ...(fullOutputPath !== undefined && { fullOutputPath }) };
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
		await promises.unlink(this.#path).catch(() => {}); // the file may not exist
		return undefined;
	}
}
