/** Deeper values are shown as JSON: only the first levels are worth a line per field. */
const MAX_DEPTH = 3;

/**
 * The arguments of a tool call as text, complete, for a question about it: one line each, such as `limit: 20`, the fields of lists
 * and objects by their path (`edits[0].newText`). The lines of a longer text follow its name and are indented, so that no text can
 * pretend to be another argument. Not safe for a terminal.
 */
export function describeInput(input: Readonly<Record<string, unknown>>): string {
	return Object.entries(input)
		.flatMap(([name, value]) => linesOf(name, value, 1))
		.join("\n");
}

function linesOf(name: string, value: unknown, depth: number): string[] {
	if (value === undefined) return [];
	if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
		const fields = Array.isArray(value)
			? value.map((item, at): [string, unknown] => [`${name}[${at}]`, item])
			: Object.entries(value).map(([key, item]): [string, unknown] => [`${name}.${key}`, item]);
		if (fields.length > 0) return fields.flatMap(([path, item]) => linesOf(path, item, depth + 1));
	}
	const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
	if (!text.includes("\n")) return [`${name}: ${text}`];
	return [`${name}:`, ...text.split("\n").map((line) => `  ${line}`)];
}
