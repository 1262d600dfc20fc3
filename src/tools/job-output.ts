import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { ensurePrivateDir } from "../util/fs.js";
import { plainOutput, type Truncated } from "./output.js";
import { OutputWindow, TailBuffer } from "./output-window.js";

/** Maximum size of the file. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** The part of a full file that is kept. */
const KEPT_BYTES = MAX_FILE_BYTES / 2;
const DROPPED = "[Earlier output was dropped: this file keeps the last 10 MB.]\n";
/** Raw bytes from which the last lines of a command are taken. */
const RECENT_BYTES = 4 * 1024;
/** Maximum characters of one of the last lines. */
const MAX_LINE = 400;

/** The output of a background command: what was not read yet in memory, the last 10 MB in a private file. */
export class JobOutput {
	#unread = new OutputWindow();
	readonly #recent: TailBuffer;
	readonly #file: OutputFile;

	/**
	 * @param path of the file, which must not exist
	 * @param recentBytes raw bytes from which the last lines are taken
	 */
	constructor(
		dir: string,
		path: string,
		private readonly recentBytes = RECENT_BYTES,
	) {
		this.#recent = new TailBuffer(recentBytes);
		this.#file = new OutputFile(dir, path);
	}

	/** Path of the file; undefined if it could not be written. */
	get path(): string | undefined {
		return this.#file.path;
	}

	/** Adds a chunk. @returns a promise that resolves when it is written */
	add(chunk: Buffer): Promise<void> {
		this.#unread.add(chunk);
		this.#recent.add(chunk);
		return this.#file.write(chunk);
	}

	/**
	 * Returns what came since the last call, cut to the limits of tools.
	 * @param isGrowing true while more may come: an incomplete character is kept for the next call
	 */
	take(isGrowing: boolean): Truncated {
		const taken = this.#unread.cut({ isGrowing });
		const rest = isGrowing ? incompleteEnd(this.#unread.last()) : Buffer.alloc(0);
		this.#unread = new OutputWindow();
		this.#unread.add(rest);
		return taken;
	}

	/** The last lines that are not empty, as plain text, oldest first. */
	lastLines(count: number): string[] {
		const text = new TextDecoder("utf-8").decode(this.#recent.last(this.recentBytes), { stream: true });
		const lines = plainOutput(text).split("\n");
		const full = lines.map((line) => line.trimEnd()).filter((line) => line !== "");
		return full.slice(-count).map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
	}

	/** Resolves when the file is complete. */
	close(): Promise<void> {
		return this.#file.close();
	}
}

/** A private file that keeps the end of what is written. A failure makes it unavailable, without an error. */
class OutputFile {
	readonly #handle: Promise<FileHandle | undefined>;
	#work: Promise<void>;
	#bytes = 0;
	#isBroken = false;

	constructor(
		dir: string,
		private readonly target: string,
	) {
		this.#handle = this.#open(dir);
		this.#work = this.#handle.then(() => {});
	}

	get path(): string | undefined {
		return this.#isBroken ? undefined : this.target;
	}

	/** Writes in the order of the calls. */
	write(chunk: Buffer): Promise<void> {
		this.#work = this.#work.then(() => this.#append(chunk)).catch(() => this.#fail());
		return this.#work;
	}

	async close(): Promise<void> {
		await this.#work;
		// What was written last may be lost with the disk full; the command has ended anyway.
		await (await this.#handle)?.close().catch(() => {});
	}

	async #open(dir: string): Promise<FileHandle | undefined> {
		try {
			ensurePrivateDir(dir);
			return await promises.open(this.target, "ax+", 0o600);
		} catch {
			this.#fail();
			return undefined;
		}
	}

	async #append(chunk: Buffer): Promise<void> {
		const handle = await this.#handle;
		if (!handle || this.#isBroken) return;
		if (this.#bytes + chunk.length > MAX_FILE_BYTES) await this.#shrink(handle);
		await handle.appendFile(chunk);
		this.#bytes += chunk.length;
	}

	/** Drops the older half, up to the end of a line. */
	async #shrink(handle: FileHandle): Promise<void> {
		const { buffer, bytesRead } = await handle.read(
			Buffer.alloc(KEPT_BYTES),
			0,
			KEPT_BYTES,
			Math.max(0, this.#bytes - KEPT_BYTES),
		);
		const kept = buffer.subarray(buffer.subarray(0, bytesRead).indexOf(0x0a) + 1, bytesRead);
		const start = Buffer.from(DROPPED);
		await handle.truncate(0);
		await handle.appendFile(start);
		await handle.appendFile(kept);
		this.#bytes = start.length + kept.length;
	}

	#fail(): void {
		this.#isBroken = true;
	}
}

/** The bytes of a UTF-8 character at the end that is not complete yet, copied; empty if all are complete. */
function incompleteEnd(bytes: Buffer): Buffer {
	for (let back = 1; back <= Math.min(3, bytes.length); back++) {
		const byte = bytes[bytes.length - back] ?? 0;
		if ((byte & 0xc0) === 0x80) continue;
		const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
		return length > back ? Buffer.from(bytes.subarray(bytes.length - back)) : Buffer.alloc(0);
	}
	return Buffer.alloc(0);
}
