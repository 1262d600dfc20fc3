/** A Markdown file taken apart. */
export interface FrontMatter {
	/** Fields of the block between `---` lines at the top; empty without one. */
	fields: Readonly<Record<string, unknown>>;
	/** What follows it, without blank lines at both ends. */
	body: string;
	/** Why the block could not be read, with its line; the fields are empty then. */
	problem?: string;
}

const BLOCK = /^---[ \t]*\n(?:([\s\S]*?)\n)??---[ \t]*(?:\n|$)/;

/** Parses the front matter of a Markdown text. YAML is loaded only when there is some. */
export async function parseFrontMatter(text: string): Promise<FrontMatter> {
	const plain = text.replace(/^\ufeff/, "").replace(/\r\n/g, "\n");
	const block = plain.startsWith("---") ? BLOCK.exec(plain) : null;
	if (!block) return { fields: {}, body: plain.trim() };
	const body = plain.slice(block[0].length).trim();
	// A CommonJS package: once it is bundled its parts can only be reached through the default export.
	const { default: yaml } = await import("yaml");
	const document = yaml.parseDocument(block[1] ?? "");
	const error = document.errors[0];
	if (error) {
		const line = (error.linePos?.[0].line ?? 1) + 1;
		return { fields: {}, body, problem: `line ${line}: ${(error.message.split("\n")[0] ?? "").replace(/:$/, "")}` };
	}
	return { fields: readFields(document), body };
}

/** A field that is a text (or a number, which YAML makes of some texts), on one line. */
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
		return {}; // aliases that expand without end
	}
}
