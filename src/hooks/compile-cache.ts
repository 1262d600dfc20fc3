import { createHash } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ensurePrivateDir } from "../util/fs.js";

/** Change it when the same source compiles to something else. */
const CACHE_VERSION = 4;

/** A source and what is made of it. */
export interface CacheKey {
	/** Path of the source. */
	filename: string;
	source: string;
	/** End of the name of the cached file. */
	kind: ".js" | ".js.map";
}

/** Texts made of source files, one file for each. A text is current only for the exact source that it was made of. */
export class CompileCache {
	readonly #dir: string | null;

	/** @param dir made private (0700), and not used if that fails */
	constructor(dir: string) {
		this.#dir = privateDir(dir);
	}

	/** The text; null if it is missing or of another source. */
	read(key: CacheKey): string | null {
		const path = this.#path(key);
		const text = path && readIfPresent(path);
		const mark = markOf(key);
		return text?.endsWith(mark) ? text.slice(0, -mark.length) : null;
	}

	write(key: CacheKey, text: string): void {
		const path = this.#path(key);
		if (path) writeIfPossible(path, text + markOf(key));
	}

	#path({ filename, kind }: CacheKey): string | null {
		return this.#dir && join(this.#dir, `${basename(filename)}.${hash(filename)}${kind}`);
	}
}

/** The end of a cached file, which marks it as complete and current. */
function markOf({ source }: CacheKey): string {
	return `\n// ${hash(`${CACHE_VERSION} ${source}`)}\n`;
}

function hash(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A directory that only the user can write to, because pi runs any file in it that has the right name; else null. */
function privateDir(dir: string): string | null {
	try {
		ensurePrivateDir(dir);
		chmodSync(dir, 0o700);
		return dir;
	} catch {
		return null; // owned by another user, or read-only: files are compiled each time
	}
}

function readIfPresent(path: string): string | null {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return null;
	}
}

function writeIfPossible(path: string, text: string): void {
	try {
		writeFileSync(path, text, { mode: 0o600 });
	} catch {
		// For example a full disk: the file is compiled again next time.
	}
}
