import { visibleWidth } from "@mariozechner/pi-tui";
import { clipLine } from "../../../../tui/line.js";
import type { Theme } from "../../../../tui/theme.js";
import type { CodeToken } from "../../../../util/highlight.js";
import { changedPairs, type DiffLine } from "../../../../util/read-diff.js";
import { stripAll } from "../../../../util/sanitize.js";
import { type Piece, pieces, type WordDiff } from "../../../../util/word-diff.js";
import { wrapLines } from "../../clean-text.js";

/** Minimum columns for wrapped text. Narrower text is cut. */
const MIN_TEXT_WIDTH = 12;

/** Limits of a drawn diff. */
export interface DiffRoom {
	width: number;
	/** Maximum lines. Later lines still count for finding changed words. */
	lines: number;
	/** Maximum rows per line; longer lines are cut. */
	rows: number;
}

/** How the text of a diff is drawn. */
export interface DiffColors {
	theme: Theme;
	/** Finds the changed words of lines, which are highlighted; null: none are. */
	words: WordDiff | null;
	/** The language of the code, as `languageOf` names it; empty: it is plain text. */
	language: string;
}

/** Draws diff lines, wrapped with an indent, with the changed words within a line and the tokens of code. */
export function drawDiff(lines: readonly DiffLine[], room: DiffRoom, { theme, words, language }: DiffColors): string[] {
	const shown = lines.slice(0, room.lines);
	const digits = shown.reduce((most, { number }) => Math.max(most, number.length), 0);
	const partners = words ? changedPairs(lines) : new Map<DiffLine, DiffLine>();
	const tokens = tokensOf(shown, theme, language);
	return shown.flatMap((line) => {
		if (line.kind === "gap") return [theme.dim(`${" ".repeat(digits)}⋮`.trimStart().padStart(Math.max(1, digits)))];
		const number = digits > 0 ? `${line.number.padStart(digits)} ` : "";
		const text = printable(line.text);
		const code = tokens.get(line) ?? [{ text, kind: undefined }];
		const paint = (style: (text: string) => string) => (token: CodeToken) =>
			(token.kind ? theme.code.styles[token.kind] : style)(token.text);
		if (line.kind === "context") return wrapBelow(theme.dim(`${number}  `), code.map(paint(theme.dim)).join(""), room);
		const style = line.kind === "added" ? theme.added : theme.removed;
		const strong = line.kind === "added" ? theme.addedWord : theme.removedWord;
		const partner = partners.get(line);
		const marked = partner && words ? pieces(text, printable(partner.text), line.kind, words) : null;
		const body = inPieces(code, marked)
			.map(({ token, changed }) => (changed ? style(strong(token.text)) : paint(style)(token)))
			.join("");
		return wrapBelow(theme.dim(number) + style(line.kind === "added" ? "+ " : "− "), body, room);
	});
}

/** The tokens of lines of code, as each side of the diff has them. */
function tokensOf(
	lines: readonly DiffLine[],
	theme: Theme,
	language: string,
): ReadonlyMap<DiffLine, readonly CodeToken[]> {
	const found = new Map<DiffLine, readonly CodeToken[]>();
	if (language === "") return found;
	for (const other of ["added", "removed"] as const) {
		const side = lines.filter(({ kind }) => kind !== other);
		const code = side.map(({ text }) => printable(text)).join("\n");
		for (const [at, tokens] of (theme.code.tokensOf(code, language) ?? []).entries()) {
			const line = side[at];
			if (line) found.set(line, tokens);
		}
	}
	return found;
}

/** Splits tokens where a changed piece begins or ends. */
function inPieces(
	tokens: readonly CodeToken[],
	marked: readonly Piece[] | null,
): { token: CodeToken; changed: boolean }[] {
	if (marked === null) return tokens.map((token) => ({ token, changed: false }));
	const parts: { token: CodeToken; changed: boolean }[] = [];
	const rest = tokens.map((token) => ({ ...token }));
	for (const { text, changed } of marked) {
		for (let left = text.length; left > 0; ) {
			const token = rest[0];
			if (!token) break;
			const part = token.text.slice(0, left);
			parts.push({ token: { text: part, kind: token.kind }, changed });
			left -= part.length;
			token.text = token.text.slice(part.length);
			if (token.text === "") rest.shift();
		}
	}
	return parts;
}

/** Wraps a text after a prefix, with later rows indented by the prefix's width. */
function wrapBelow(start: string, text: string, { width, rows }: DiffRoom): string[] {
	const indent = visibleWidth(start);
	if (width - indent < MIN_TEXT_WIDTH || visibleWidth(text) <= width - indent) return [clipLine(start + text, width)];
	const wrapped = wrapLines([text], width - indent);
	const kept = wrapped.slice(0, rows);
	if (kept.length < wrapped.length) kept.splice(-1, 1, clipLine(`${kept.at(-1)}…`, width - indent));
	return kept.map((row, at) => (at === 0 ? start : " ".repeat(indent)) + row);
}

/** Code as one line without control sequences, including colors. */
function printable(text: string): string {
	return stripAll(text.length > 1000 ? `${text.slice(0, 1000)}…` : text)
		.replace(/\t/g, "   ")
		.replace(/\n/g, " ");
}
