import { readRegularFile } from "../util/fs.js";

/** A parsed Markdown file. */
export interface FrontMatter {
	/** Fields of the block between `---` lines at the top; empty without one. */
	fields: Readonly<Record<string, unknown>>;
	/** The text after the block, trimmed. */
	body: string;
	/** The line, 1-based, and why the block is invalid, as `3: reason`; `fields` is then empty. */
	problem?: string;
}

const BLOCK = /^---[ \t]*\n(?:([\s\S]*?)\n)??---[ \t]*(?:\n|$)/;
const MAX_BYTES = 1024 * 1024;

/** Reads a text file, without byte order mark and carriage returns. @throws PiError `file_unreadable`, also above 1 MB */
export async function readText(path: string): Promise<string> {
	const bytes = await readRegularFile(path, { maxBytes: MAX_BYTES });
	return bytes
		.toString("utf8")
		.replace(/^\ufeff/, "")
		.replaceAll("\r\n", "\n");
}

/**
 * Reads and parses a Markdown file. The YAML parser is loaded only if needed.
 * @throws PiError `file_unreadable`, as `readText`
 */
export async function readMarkdown(path: string): Promise<FrontMatter> {
	const text = await readText(path);
	const block = text.startsWith("---") ? BLOCK.exec(text) : null;
	if (!block) return { fields: {}, body: text.trim() };
	const body = text.slice(block[0].length).trim();
	// A CommonJS package: in the bundle, its members are only available on the default export.
	const { default: yaml } = await import("yaml");
	const document = yaml.parseDocument(block[1] ?? "");
	const error = document.errors[0];
	if (error) {
		const line = (error.linePos?.[0].line ?? 1) + 1;
		return {
			fields: {},
			body,
			problem: `${line}: ${(error.message.split("\n")[0] ?? "").replace(/(?: at line \d+, column \d+)?:?$/, "")}`,
		};
	}
	return { fields: readFields(document), body };
}

/** A string field on one line. Numbers are accepted because YAML reads some unquoted strings as numbers. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
	const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
	if (typeof value === "number") return String(value);
	if (typeof value !== "string") return undefined;
	return value.replace(/\s+/g, " ").trim() || undefined;
}

function readFields(document: { toJS(options: { maxAliasCount: number }): unknown }): Record<string, unknown> {
	try {
		const value = document.toJS({ maxAliasCount: 20 });
		return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
	} catch {
		return {}; // aliases that expand without limit
	}
}
