import { isUtf8 } from "node:buffer";
import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { findJsonError } from "../../config/json-error.js";
import type { JsonObject } from "../../config/json-file.js";
import { errorText } from "../../errors.js";
import { isNotFound, readRegularFileSync, statOrNull } from "../../util/fs.js";
import { isRecord } from "../../util/is-record.js";
import { type SetupItem, type SetupKind, type SetupScope, withoutCounterpart } from "./setup-item.js";

const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_JSON_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 8;
const IGNORED: ReadonlySet<string> = new Set([".git", "node_modules", ".DS_Store"]);
const MAX_FILES = 2000;

/** A file below a directory. */
export interface SourceFile {
	path: string;
	/** Path below the directory, with `/`. */
	rel: string;
	isExecutable: boolean;
}

/**
 * Reads the configuration of another program. What cannot be read is named as an item and left out. Links of the user may lead
 * anywhere, those of a project only to files in it.
 */
export class SourceFiles {
	/** What was left out. */
	readonly skipped: SetupItem[] = [];

	/** @param root the project; null for files of the user */
	constructor(
		readonly scope: SetupScope,
		private readonly root: string | null,
	) {}

	/** The files below a directory, at any depth, sorted; empty if it does not exist. */
	list(dir: string, kind: SetupKind): SourceFile[] {
		const found: SourceFile[] = [];
		const visited = new Set<string>();
		const visit = (at: string, depth: number): void => {
			let names: string[];
			try {
				const real = realpathSync(at);
				if (visited.has(real) || !this.#isAllowed(at, kind)) return;
				visited.add(real);
				names = readdirSync(at).sort();
			} catch (error) {
				if (!isNotFound(error)) this.skip(at, kind, errorText(error));
				return;
			}
			for (const name of names) {
				const path = join(at, name);
				if (IGNORED.has(name) || (name.startsWith(".") && kind !== "skill")) continue;
				if (found.length >= MAX_FILES || depth > MAX_DEPTH) {
					this.skip(path, kind, "too many files");
					return;
				}
				const stats = statOrNull(path);
				if (!stats) this.skip(path, kind, "a broken link");
				else if (stats.isDirectory()) visit(path, depth + 1);
				else if (!stats.isFile()) this.skip(path, kind, "no regular file");
				else if (this.#isAllowed(path, kind)) {
					const rel = relative(dir, path).split(sep).join("/");
					found.push({ path, rel, isExecutable: (stats.mode & 0o100) !== 0 });
				}
			}
		};
		visit(dir, 0);
		return found;
	}

	/** @returns null if the file does not exist or cannot be read */
	bytes(path: string, kind: SetupKind, maxBytes = MAX_TEXT_BYTES): Buffer | null {
		try {
			if (!statOrNull(path) || !this.#isAllowed(path, kind)) return null;
			return readRegularFileSync(path, { maxBytes });
		} catch (error) {
			this.skip(path, kind, errorText(error));
			return null;
		}
	}

	/** @returns null if the file does not exist, cannot be read or is no text; without byte order mark and carriage returns */
	text(path: string, kind: SetupKind): string | null {
		const bytes = this.bytes(path, kind);
		if (bytes === null) return null;
		if (!isUtf8(bytes) || bytes.includes(0)) {
			this.skip(path, kind, "it is not text in UTF-8");
			return null;
		}
		return bytes
			.toString("utf8")
			.replace(/^\ufeff/, "")
			.replaceAll("\r\n", "\n");
	}

	/**
	 * The object in a configuration file; `{}` without one.
	 * @param parse parses its text; throws an error with `line` and `column` for an invalid one
	 */
	object(path: string, parse: (text: string) => unknown = parseJson): JsonObject {
		const bytes = this.bytes(path, "other", MAX_JSON_BYTES);
		if (bytes === null) return {};
		try {
			const value = parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
			if (isRecord(value)) return value;
			this.skip(path, "other", "it contains no object");
		} catch (error) {
			// The message may quote a secret of the file.
			const at = isRecord(error) && "line" in error ? ` in line ${error.line}, column ${error.column}` : "";
			this.skip(path, "other", `it is malformed${at}`);
		}
		return {};
	}

	skip(path: string, kind: SetupKind, reason: string): void {
		this.skipped.push(withoutCounterpart({ kind, scope: this.scope, name: basename(path), source: path }, reason));
	}

	#isAllowed(path: string, kind: SetupKind): boolean {
		if (this.root === null) return true;
		const root = realpathSync(this.root);
		if (`${realpathSync(path)}${sep}`.startsWith(root + sep)) return true;
		this.skip(path, kind, "a link that leads out of the project");
		return false;
	}
}

/** @throws Error with `line` and `column` */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw Object.assign(new Error(errorText(error)), findJsonError(text));
	}
}

/** The name of a file without its directory and `.md`. */
export function markdownName(rel: string): string {
	return basename(rel).replace(/\.md$/i, "");
}

/** `a` of `a/b.md`, `a-c` of `a/c/b.md`. */
export function folderName(rel: string): string {
	return dirname(rel) === "." ? "" : dirname(rel).split("/").join("-");
}
