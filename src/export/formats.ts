import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { PiError } from "../errors.js";
import { promptOfEntry } from "../log/prompt-text.js";
import { atomicWriteFile } from "../util/fs.js";
import { loadHighlighter } from "../util/highlight.js";
import { loadWordDiff } from "../util/word-diff.js";
import { atifText } from "./atif-text.js";
import { claudeText } from "./claude-lines.js";
import { type ExportHtmlOptions, htmlText, isPage, MAX_PAGE_HEAD } from "./html.js";
import { markdownText } from "./markdown-text.js";
import { readEntry } from "./survey.js";

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

/** What is exported. */
export interface ExportOptions extends Omit<ExportHtmlOptions, "title"> {
	/** The name of the session; null: its first prompt is the title. */
	name: string | null;
}

/** Characters of a prompt in a title. */
const MAX_TITLE = 80;

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
 * Writes a session as one file, readable only by this user because it may contain secrets. Replaces only pages that pi has exported.
 * @throws PiError `export_failed`
 */
export async function exportToFile(path: string, format: ExportFormat, options: ExportOptions): Promise<void> {
	if (existsSync(path) && !(format === "html" && isExportedPage(path))) {
		const problem = format === "html" ? "exists and is not a page that pi has exported" : "exists";
		throw new PiError("export_failed", `${path} ${problem}`, { hint: "choose another file" });
	}
	try {
		await atomicWriteFile(path, exportPieces(format, options), { mode: 0o600 });
	} catch (cause) {
		throw new PiError("export_failed", `Cannot write ${path}`, { cause, hint: "choose another file" });
	}
}

/** A session in a format, in pieces. Takes a break after each piece and after many parts. Keeps no entry. */
export async function* exportPieces(format: ExportFormat, options: ExportOptions): AsyncGenerator<string> {
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

function textOf(format: ExportFormat, options: ExportOptions): Generator<string> {
	const { entries, name } = options;
	const title = name ?? firstPrompt(options) ?? "Session";
	switch (format) {
		case "html":
			return htmlText({ ...options, title });
		case "markdown":
			return markdownText(entries, title);
		case "claude":
			return claudeText(entries, name);
		case "atif":
			return atifText(entries, title);
	}
}

function firstPrompt({ entries }: ExportOptions): string | undefined {
	for (let index = 0; index < entries.length; index++) {
		const text = promptOfEntry(readEntry(entries, index))?.trim().replace(/\s+/g, " ");
		if (text) return text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE).toWellFormed()}…` : text;
	}
	return undefined;
}

function isExportedPage(path: string): boolean {
	if (!SUFFIXES.html.pattern.test(path)) return false;
	try {
		const descriptor = openSync(path, "r");
		try {
			const head = Buffer.alloc(MAX_PAGE_HEAD);
			return isPage(head.toString("utf8", 0, readSync(descriptor, head)));
		} finally {
			closeSync(descriptor);
		}
	} catch {
		return false;
	}
}
