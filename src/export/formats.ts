import { existsSync } from "node:fs";
import { PiError } from "../errors.js";
import { atomicWriteFile } from "../util/fs.js";
import { loadHighlighter } from "../util/highlight.js";
import { loadWordDiff } from "../util/word-diff.js";
import { atifText } from "./atif-text.js";
import { claudeText } from "./claude-lines.js";
import { type ExportHtmlOptions, htmlText } from "./html.js";
import { markdownText } from "./markdown-text.js";

/** What a session can be exported as. */
export const EXPORT_FORMATS = ["html", "markdown", "claude", "atif"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** How the files of a format are called. */
const SUFFIXES: Readonly<Record<ExportFormat, { suffix: string; pattern: RegExp }>> = {
	html: { suffix: ".html", pattern: /\.html?$/i },
	markdown: { suffix: ".md", pattern: /\.(md|markdown)$/i },
	claude: { suffix: ".jsonl", pattern: /\.jsonl$/i },
	atif: { suffix: ".json", pattern: /\.json$/i },
};

/** Characters that are written at once. Between two writes, other work of the process continues. */
const PIECE = 256 * 1024;
const PARTS_AT_A_TIME = 100;

/** The name of a file in a format. @param name without suffix */
export function exportName(name: string, format: ExportFormat): string {
	return `${name}${SUFFIXES[format].suffix}`;
}

/** The format that the name of a file says; undefined for another name. */
export function formatOfName(path: string): ExportFormat | undefined {
	return EXPORT_FORMATS.find((format) => SUFFIXES[format].pattern.test(path));
}

/**
 * Writes a session as one file, readable only by this user because it may contain secrets. Replaces only HTML files: in the other
 * formats, a file with the same name may be anything.
 * @throws PiError `export_failed`
 */
export async function exportToFile(path: string, format: ExportFormat, options: ExportHtmlOptions): Promise<void> {
	if (existsSync(path) && !(format === "html" && SUFFIXES.html.pattern.test(path))) {
		const problem = format === "html" ? "exists and is not an HTML file" : "exists";
		throw new PiError("export_failed", `${path} ${problem}`, { hint: "choose another file" });
	}
	try {
		await atomicWriteFile(path, exportPieces(format, options), { mode: 0o600 });
	} catch (cause) {
		throw new PiError("export_failed", `Cannot write ${path}`, { cause, hint: "choose another file" });
	}
}

/** A session in a format, in pieces. Takes a break after each piece and after many parts. Keeps no entry. */
export async function* exportPieces(format: ExportFormat, options: ExportHtmlOptions): AsyncGenerator<string> {
	if (format === "html") await Promise.all([loadHighlighter(), loadWordDiff()]);
	let piece = "";
	let rest = PARTS_AT_A_TIME;
	for (const part of textOf(format, options)) {
		piece += part;
		if (piece.length < PIECE && --rest > 0) continue;
		rest = PARTS_AT_A_TIME;
		await new Promise(setImmediate);
		if (piece !== "") yield piece;
		piece = "";
	}
	if (piece !== "") yield piece;
}

function textOf(format: ExportFormat, options: ExportHtmlOptions): Generator<string> {
	const { entries, title } = options;
	switch (format) {
		case "html":
			return htmlText(options);
		case "markdown":
			return markdownText(entries, title);
		case "claude":
			return claudeText(entries, title);
		case "atif":
			return atifText(entries, title);
	}
}
