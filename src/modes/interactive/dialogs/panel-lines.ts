import { visibleWidth } from "@mariozechner/pi-tui";
import type { DialogStyle, KeyHint } from "../../../tui/dialog-style.js";
import { column } from "../../../tui/line.js";
import type { Theme } from "../../../tui/theme.js";
import { formatTokens } from "../../format.js";
import { cleanLine, clipLine, spread } from "../lines.js";
import type { ContextRow } from "./context-rows.js";

/** Rows that a panel's list may take. */
export function listRows(screenRows: number): number {
	return Math.max(4, Math.floor(screenRows / 2) - 2);
}

/** A title with facts at the right: as many of them as fit, first ones first. @param short for when not all do */
export function titleLine(title: string, facts: readonly string[], width: number, short = title): string {
	for (const text of [title, short]) {
		for (let count = facts.length; count > 0; count--) {
			const right = `${facts.slice(0, count).join(" · ")} `;
			if (visibleWidth(text) + visibleWidth(right) + 2 <= width) return spread(text, right, width);
			if (text !== short) break;
		}
	}
	return clipLine(short, width);
}

/** The answers to a question with their keys: all on one line, or a line each when they do not fit. */
export function choiceLines(answers: readonly KeyHint[], { theme, keymap }: DialogStyle, width: number): string[] {
	const choices = answers.flatMap(({ does, actions }) => {
		const key = keymap.keyOf(...actions);
		return key === "" ? [] : [`${key}  ${does}`];
	});
	const gap = Math.min(6, Math.floor((width - 3 - choices.join("").length) / (choices.length - 1)));
	const lines = gap >= 2 ? [choices.join(" ".repeat(gap))] : choices;
	return lines.map((line) => theme.accent(clipLine(`   ${line}`, width)));
}

const MARKS: Record<ContextRow["mark"], string> = {
	in: "▎",
	out: "┆",
	summary: "◆",
	added: "+",
	removed: "−",
	replaced: "~",
	gap: " ",
};

/** A message on one line: mark, entry, who, what, a note, tokens, whether the cache has it. */
export function rowLine(row: ContextRow, isSelected: boolean, indexWidth: number, theme: Theme, width: number): string {
	const isNarrow = width < 60;
	const pointer = isSelected ? theme.accent("→") : " ";
	if (row.mark === "gap") return clipLine(`${pointer}  ${theme.dim(`… ${row.text}`)}`, width);
	const mark = markStyle(row.mark, theme)(MARKS[row.mark]);
	const size = (row.tokens === null ? "" : formatTokens(row.tokens)).padStart(6);
	const right = isNarrow ? size : `${size}  ${row.state.padStart(6)}`;
	const labelWidth = isNarrow ? 9 : 11;
	const left = `${pointer}${mark} ${row.index.padStart(indexWidth)} ${column(cleanLine(row.label), labelWidth)} `;
	const room = Math.max(1, width - visibleWidth(left) - right.length - 1);
	const note = cleanLine(row.note);
	const noteRoom = room - visibleWidth(note) - 2;
	// What was said comes first: on a narrow screen the mark alone tells that a hook had a hand in it.
	const withNote = note !== "" && noteRoom >= Math.min(16, visibleWidth(row.text));
	const text = column(cleanLine(row.text), withNote ? noteRoom : room);
	const middle = withNote ? `${text}  ${theme.dim(note)}` : text;
	const shown = row.mark === "out" || row.mark === "removed" ? theme.dim(middle) : middle;
	return clipLine(`${left}${isSelected ? theme.bold(shown) : shown} ${theme.dim(right)}`, width);
}

function markStyle(mark: ContextRow["mark"], theme: Theme): (text: string) => string {
	switch (mark) {
		case "out":
			return theme.gutterOut;
		case "summary":
			return theme.gutterSummary;
		case "added":
			return theme.added;
		case "removed":
			return theme.removed;
		case "replaced":
			return theme.warning;
		default:
			return theme.gutterIn;
	}
}
