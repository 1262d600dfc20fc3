import { visibleWidth } from "@mariozechner/pi-tui";
import type { Theme } from "../../../../tui/theme.js";
import { changedPairs, type DiffLine } from "../../../../util/read-diff.js";
import { stripAll } from "../../../../util/sanitize.js";
import { pieces, type WordDiff } from "../../../../util/word-diff.js";
import { clipLine, wrapLines } from "../../lines.js";

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

/** Draws diff lines, wrapped with an indent. Highlights changed words within a line unless `words` is null. */
export function drawDiff(lines: readonly DiffLine[], room: DiffRoom, theme: Theme, words: WordDiff | null): string[] {
	const shown = lines.slice(0, room.lines);
	const digits = shown.reduce((most, { number }) => Math.max(most, number.length), 0);
	const partners = words ? changedPairs(lines) : new Map<DiffLine, DiffLine>();
	return shown.flatMap((line) => {
		if (line.kind === "gap") return [theme.dim(`${" ".repeat(digits)}⋮`.trimStart().padStart(Math.max(1, digits)))];
		const number = digits > 0 ? `${line.number.padStart(digits)} ` : "";
		const text = printable(line.text);
		if (line.kind === "context") return wrapBelow(theme.dim(`${number}  `), theme.dim(text), room);
		const style = line.kind === "added" ? theme.added : theme.removed;
		const strong = line.kind === "added" ? theme.addedWord : theme.removedWord;
		const partner = partners.get(line);
		const marked = partner && words ? pieces(text, printable(partner.text), line.kind, words) : null;
		const body = marked
			? marked.map((piece) => style(piece.changed ? strong(piece.text) : piece.text)).join("")
			: style(text);
		return wrapBelow(theme.dim(number) + style(line.kind === "added" ? "+ " : "− "), body, room);
	});
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
