import { wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { type ApprovalSubject, subjectText } from "../util/approval.js";
import { findDanger, type Span } from "../util/dangerous-commands.js";
import { revealInvisible } from "../util/reveal.js";
import { splitPieces } from "./dialog-style.js";
import type { Style, Theme } from "./theme.js";

/**
 * What an approval is about, complete: every row of it, each at most `width` columns. Colors mark dangerous parts of a command,
 * and removed and added lines.
 */
export function subjectRows(subject: ApprovalSubject, theme: Theme, width: number): string[] {
	const { kind, head = "", text } = subject;
	const all = shown(subjectText(subject));
	if (all === "") return [];
	// Text after the command, such as other arguments, is nothing that runs.
	const headEnd = shown(head).length;
	const textEnd = headEnd + shown(text).length;
	const dangers = kind === "command" ? findDanger(all.slice(headEnd, textEnd)) : [];
	const spans = dangers.map(({ start, end }) => ({ start: start + headEnd, end: end + headEnd }));
	const isInText = (at: number) => at >= headEnd && at < textEnd;
	const rows: string[] = [];
	let lineStart = 0;
	for (const line of all.split("\n")) {
		const style = kind === "diff" && isInText(lineStart) ? lineStyle(line, theme) : null;
		let from = 0;
		for (const row of splitPieces(line).flatMap((piece) => wrapTextWithAnsi(piece, Math.max(1, width)))) {
			// Wrapping only drops blanks, so each row is the next part of the line.
			const at = Math.max(from, line.indexOf(row.trim(), from));
			const start = lineStart + at - (row.length - row.trimStart().length);
			rows.push(style ? style(row) : markSpans(row, start, spans, theme.error));
			from = at + row.trim().length;
		}
		lineStart += line.length + 1;
	}
	return rows;
}

function shown(text: string): string {
	return revealInvisible(text).replace(/\t/g, "   ");
}

function lineStyle(line: string, { added, removed }: Theme): Style | null {
	if (line.startsWith("+")) return added;
	return line.startsWith("-") ? removed : null;
}

/** @param start where the row begins in the text of the spans */
function markSpans(row: string, start: number, spans: readonly Span[], mark: Style): string {
	let result = "";
	let done = 0;
	for (const span of spans) {
		const from = Math.max(done, span.start - start);
		const to = Math.min(row.length, span.end - start);
		if (to <= from) continue;
		result += row.slice(done, from) + mark(row.slice(from, to));
		done = to;
	}
	return result + row.slice(done);
}
