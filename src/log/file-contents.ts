import { createHash } from "node:crypto";
import { copyFileSync, existsSync, linkSync, mkdirSync, promises, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDigest } from "./file-changes.js";

/** Maximum size of a file whose content is kept, bytes. */
export const MAX_KEPT_FILE_BYTES = 5 * 1024 * 1024;
/** Maximum size of all contents of a session, bytes. */
const MAX_KEPT_BYTES = 200 * 1024 * 1024;

/** The directory of the contents of files that the tools of a session changed, next to its file. */
export function fileContentsDir(sessionFile: string): string {
	return `${sessionFile}.files`;
}

/** Deletes the kept contents of a session. */
export function removeFileContents(sessionFile: string): void {
	rmSync(fileContentsDir(sessionFile), { recursive: true, force: true });
}

/**
 * Gives a branch of a session its contents, as hard links where the file system has them, so that either can be deleted.
 * A content that cannot be copied is missing there, which an undo reports.
 */
export function copyFileContents(source: string, branch: string): void {
	const from = fileContentsDir(source);
	if (!existsSync(from)) return;
	const to = fileContentsDir(branch);
	try {
		mkdirSync(to, { mode: 0o700, recursive: true });
		for (const name of readdirSync(from).filter(isDigest)) copyContent(join(from, name), join(to, name));
	} catch {
		// The branch itself is complete.
	}
}

function copyContent(from: string, to: string): void {
	try {
		linkSync(from, to);
	} catch {
		copyFileSync(from, to);
	}
}

/** The digest under which a content is kept. */
export function contentDigest(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Contents of files by their SHA-256 digest, each once: in a directory next to the session file, or in memory for a session
 * without a file and where the directory cannot be written. When they exceed their limit, the oldest are deleted.
 */
export class FileContents {
	/** Null: in memory. */
	readonly #dir: string | null;
	readonly #maxBytes: number;
	/** Contents in memory, oldest first. */
	readonly #memory = new Map<string, Uint8Array>();
	/** Sizes of the contents in the directory, oldest first; null: not read yet. */
	#sizes: Map<string, number> | null = null;
	#last: Promise<unknown> = Promise.resolve();

	/** @param sessionFile null for a session in memory @param maxBytes limit of all contents */
	constructor(sessionFile: string | null, maxBytes = MAX_KEPT_BYTES) {
		this.#dir = sessionFile === null ? null : fileContentsDir(sessionFile);
		this.#maxBytes = maxBytes;
	}

	/** Keeps a content. Never rejects. @returns its digest */
	async put(bytes: Uint8Array): Promise<string> {
		const digest = contentDigest(bytes);
		const stored = this.#last.then(() => this.#store(digest, bytes));
		this.#last = stored;
		await stored;
		return digest;
	}

	/** @returns null if the content is no longer kept */
	async get(digest: string): Promise<Uint8Array | null> {
		const inMemory = this.#memory.get(digest);
		if (inMemory || this.#dir === null || !isDigest(digest)) return inMemory ?? null;
		const bytes = await promises.readFile(join(this.#dir, digest)).catch(() => null);
		return bytes !== null && contentDigest(bytes) === digest ? bytes : null;
	}

	async #store(digest: string, bytes: Uint8Array): Promise<void> {
		if (this.#dir !== null && (await this.#write(this.#dir, digest, bytes))) return;
		this.#memory.set(digest, Uint8Array.from(bytes));
		let total = [...this.#memory.values()].reduce((sum, { length }) => sum + length, 0);
		for (const [oldest, { length }] of this.#memory) {
			if (total <= this.#maxBytes || oldest === digest) break;
			this.#memory.delete(oldest);
			total -= length;
		}
	}

	async #write(dir: string, digest: string, bytes: Uint8Array): Promise<boolean> {
		try {
			this.#sizes ??= await readSizes(dir);
			const sizes = this.#sizes;
			if (sizes.has(digest)) return true;
			await promises.mkdir(dir, { mode: 0o700, recursive: true });
			const part = join(dir, `${digest}.part`);
			await promises.writeFile(part, bytes, { mode: 0o600 });
			await promises.rename(part, join(dir, digest));
			sizes.set(digest, bytes.length);
			let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
			for (const [oldest, size] of sizes) {
				if (total <= this.#maxBytes || oldest === digest) break;
				await promises.unlink(join(dir, oldest));
				sizes.delete(oldest);
				total -= size;
			}
			return true;
		} catch {
			return false; // a read-only home or a full disk
		}
	}
}

/** Sizes of the contents of a directory, oldest first. */
async function readSizes(dir: string): Promise<Map<string, number>> {
	const names = await promises.readdir(dir).catch(() => []);
	const files = await Promise.all(
		names.filter(isDigest).map(async (name) => {
			const { size, mtimeMs } = await promises.stat(join(dir, name));
			return { name, size, mtimeMs };
		}),
	);
	return new Map(files.sort((a, b) => a.mtimeMs - b.mtimeMs).map(({ name, size }) => [name, size]));
}
