import type { Document } from "yaml";
import type { ProjectFiles } from "../config/project-files.js";
import { readRegularFileSync } from "../util/fs.js";

/** A parsed Markdown file. */
export interface FrontMatter {
	/** Fields of the block between `---` lines at the top; empty without one. */
	fields: Readonly<Record<string, unknown>>;
	/** The line of each field in the file, 1-based; a field in a map has the name `map.field`. */
	lines: ReadonlyMap<string, number>;
	/** The text after the block, trimmed. */
	body: string;
	/** The line, 1-based, and why the block is invalid, as `3: reason`; `fields` is then empty. */
	problem?: string;
}

/** What is wrong with files of one kind. */
export interface ResourceProblems {
	/** One line each, beginning with `path:line:` if the problem has a line. */
	warnings: string[];
	/** Paths of the files that cannot be used, or not completely. */
	broken: Set<string>;
}

const BLOCK = /^---[ \t]*\n(?:([\s\S]*?)\n)??---[ \t]*(?:\n|$)/;
/** The start of a block that has no end. A horizontal rule may begin a text too, but no field follows it. */
const UNCLOSED = /^---[ \t]*\n[\w-]+:(?:\s|$)/;
const MAX_BYTES = 1024 * 1024;

/** Reads a file, at most so many bytes. */
export type ReadBytes = (path: string, limits: { maxBytes: number }) => Promise<Uint8Array>;

/** Without Node's threads: starting them takes longer than reading all files of a project. */
const readAtOnce: ReadBytes = async (path, limits) => readRegularFileSync(path, limits);

/**
 * Reads files of a project that need no trust.
 * @param sandbox reads them where the model's tools work, if that may hide files of this machine
 */
export function projectReader(within: ProjectFiles, sandbox?: ReadBytes): ReadBytes {
	if (!sandbox) return async (path, limits) => within.read(path, limits);
	return async (path, limits) => {
		within.check(path);
		return sandbox(path, limits);
	};
}

/** Reads a text file, without byte order mark and carriage returns. @throws PiError `file_unreadable`, also above 1 MB */
export async function readText(path: string, readBytes: ReadBytes = readAtOnce): Promise<string> {
	const bytes = await readBytes(path, { maxBytes: MAX_BYTES });
	return withoutMarks(new TextDecoder().decode(bytes));
}

function withoutMarks(text: string): string {
	return text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
}

/**
 * Reads and parses a Markdown file.
 * @throws PiError `file_unreadable`, as `readText`
 */
export async function readMarkdown(path: string, readBytes?: ReadBytes): Promise<FrontMatter> {
	return parseMarkdown(await readText(path, readBytes));
}

/** Parses the text of a Markdown file. The YAML parser is loaded only if needed. Never rejects. */
export async function parseMarkdown(source: string): Promise<FrontMatter> {
	const text = withoutMarks(source);
	const block = text.startsWith("---") ? BLOCK.exec(text) : null;
	const none = { fields: {}, lines: new Map<string, number>() };
	if (!block) {
		const problem = UNCLOSED.test(text) ? { problem: "1: the front matter has no closing --- line" } : {};
		return { ...none, body: text.trim(), ...problem };
	}
	const body = text.slice(block[0].length).trim();
	// A CommonJS package: in the bundle, its members are only available on the default export.
	const { default: yaml } = await import("yaml");
	const counter = new yaml.LineCounter();
	const document = yaml.parseDocument(block[1] ?? "", { lineCounter: counter });
	const error = document.errors[0];
	if (error) {
		const line = (error.linePos?.[0].line ?? 1) + 1;
		const reason = (error.message.split("\n")[0] ?? "").replace(/(?: at line \d+, column \d+)?:?$/, "");
		return { ...none, body, problem: `${line}: ${reason}` };
	}
	const fields = readFields(document);
	if (typeof fields === "string") return { ...none, body, problem: `2: ${fields}` };
	const lines = new Map<string, number>();
	if (yaml.isMap(document.contents)) noteLines(document.contents, "");
	return { fields, lines, body };

	function noteLines(map: { items: readonly { key: unknown; value: unknown }[] }, prefix: string): void {
		for (const { key, value } of map.items) {
			if (!yaml.isScalar(key)) continue;
			const name = `${prefix}${String(key.value)}`;
			// The block begins in the second line of the file.
			lines.set(name, counter.linePos(key.range?.[0] ?? 0).line + 1);
			if (yaml.isMap(value) && prefix === "") noteLines(value, `${name}.`);
		}
	}
}

/** A string field on one line. Numbers are accepted because YAML reads some unquoted strings as numbers. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
	const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
	if (typeof value === "number") return String(value);
	if (typeof value !== "string") return undefined;
	return value.replace(/\s+/g, " ").trim() || undefined;
}

/** @returns the fields, or why there are none */
function readFields(document: Document): Record<string, unknown> | string {
	try {
		const value: unknown = document.toJS({ maxAliasCount: 20 });
		if (value === null || value === undefined) return {};
		if (typeof value === "object" && !Array.isArray(value)) return { ...value };
		return "the front matter must consist of fields such as name: value";
	} catch {
		return "aliases in the front matter expand without limit";
	}
}
