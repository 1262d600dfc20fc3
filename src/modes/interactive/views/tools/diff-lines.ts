import { visibleWidth } from "@mariozechner/pi-tui";
import type { Theme } from "../../../../tui/theme.js";
import { stripAll } from "../../../../util/sanitize.js";
import { clipLine, wrapLines } from "../../lines.js";
import { pieces, type WordDiff } from "./word-diff.js";

/** A line of a diff: what happened to it, its number when known, its text without line end. */
export interface DiffLine {
	kind: "added" | "removed" | "context" | "gap";
	number: string;
	text: string;
}

/** Where a text would get less than this it is cut, not wrapped. Columns. */
const MIN_TEXT_WIDTH = 12;

/** Reads the diff of an edit's details: `+`, `-` or a blank, the line number, the text. Other lines are gaps. */
export function parseDiff(diff: string): DiffLine[] {
	return diff
		.replace(/\n$/, "")
		.split("\n")
		.map((line): DiffLine => {
			const match = /^([+\- ])\s*(\d+)(?: (.*))?$/s.exec(line);
			const [, sign, number = "", text = ""] = match ?? [];
			if (sign === "+") return { kind: "added", number, text };
			if (sign === "-") return { kind: "removed", number, text };
			return sign === " " ? { kind: "context", number, text } : { kind: "gap", number: "", text: "" };
		});
}

/** A replacement as diff lines without numbers, for a change that has not happened yet. */
export function proposedDiff(oldText: string, newText: string): DiffLine[] {
	const lines = (text: string, kind: "added" | "removed"): DiffLine[] =>
		text === ""
			? []
			: text
					.replace(/\n$/, "")
					.split("\n")
					.map((line) => ({ kind, number: "", text: line }));
	return [...lines(oldText, "removed"), ...lines(newText, "added")];
}

/** Only the lines that changed; where lines between them were left out, one gap. */
export function changesOnly(lines: readonly DiffLine[]): DiffLine[] {
	const kept: DiffLine[] = [];
	let skipped = false;
	for (const line of lines) {
		if (line.kind === "context" || line.kind === "gap") {
			skipped = true;
			continue;
		}
		if (skipped && kept.length > 0) kept.push({ kind: "gap", number: "", text: "" });
		skipped = false;
		kept.push(line);
	}
	return kept;
}

/** How much of a diff is drawn. */
export interface DiffRoom {
	width: number;
	/** Lines from the first on; those after them still tell which words changed. */
	lines: number;
	/** Rows that a line may take; a longer one is cut. */
	rows: number;
}

/** Draws diff lines, wrapped below their text. Words that changed within a line stand out once `words` is there. */
export function drawDiff(lines: readonly DiffLine[], room: DiffRoom, theme: Theme, words: WordDiff | null): string[] {
	const shown = lines.slice(0, room.lines);
	const digits = shown.reduce((most, { number }) => Math.max(most, number.length), 0);
	const partners = words ? pairs(lines) : new Map<DiffLine, DiffLine>();
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

/** A text behind what stands before it, its further rows below it. */
function wrapBelow(start: string, text: string, { width, rows }: DiffRoom): string[] {
	const indent = visibleWidth(start);
	if (width - indent < MIN_TEXT_WIDTH || visibleWidth(text) <= width - indent) return [clipLine(start + text, width)];
	const wrapped = wrapLines([text], width - indent);
	const kept = wrapped.slice(0, rows);
	if (kept.length < wrapped.length) kept.splice(-1, 1, clipLine(`${kept.at(-1)}…`, width - indent));
	return kept.map((row, at) => (at === 0 ? start : " ".repeat(indent)) + row);
}

/** Removed lines that are followed by as many added ones were changed, not replaced: each goes with its partner. */
function pairs(lines: readonly DiffLine[]): Map<DiffLine, DiffLine> {
	const partners = new Map<DiffLine, DiffLine>();
	let row = 0;
	while (row < lines.length) {
		const removed = run(lines, row, "removed");
		const added = run(lines, row + removed.length, "added");
		if (removed.length === added.length) {
			for (const [index, before] of removed.entries()) {
				const after = added[index];
				if (!after) continue;
				partners.set(before, after);
				partners.set(after, before);
			}
		}
		row += Math.max(1, removed.length + added.length);
	}
	return partners;
}

function run(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): DiffLine[] {
	let end = start;
	while (lines[end]?.kind === kind) end++;
	return lines.slice(start, end);
}

/** Code as one line without any control sequence, also without colours. */
function printable(text: string): string {
	return stripAll(text.length > 1000 ? `${text.slice(0, 1000)}…` : text)
		.replace(/\t/g, "   ")
		.replace(/\n/g, " ");
}
