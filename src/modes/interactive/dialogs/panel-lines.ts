import { visibleWidth } from "@mariozechner/pi-tui";
import { clipLine, column, spread } from "../../../tui/line.js";
import type { Theme } from "../../../tui/theme.js";
import { formatTokens } from "../../format.js";
import { cleanLine } from "../clean-text.js";
import type { ContextRow } from "./context-row.js";

/** @returns maximum number of rows of a panel's list */
export function listRows(screenRows: number): number {
	return Math.max(4, Math.floor(screenRows / 2) - 2);
}

/** Draws a title with as many facts at the right as fit, in order. @param short title to use when not all facts fit */
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

const MARKS = {
	in: ["▎", "gutterIn"],
	out: ["┆", "gutterOut"],
	summary: ["◆", "gutterSummary"],
	added: ["+", "added"],
	removed: ["−", "removed"],
	replaced: ["~", "warning"],
} as const satisfies Partial<Record<ContextRow["mark"], readonly [sign: string, style: keyof Theme]>>;

/** Draws a message on one line: mark, entry index, label, text, note, tokens, cache state. */
export function rowLine(row: ContextRow, isSelected: boolean, indexWidth: number, theme: Theme, width: number): string {
	const isNarrow = width < 60;
	const pointer = isSelected ? theme.accent("→") : " ";
	if (row.mark === "gap") return clipLine(`${pointer}  ${theme.dim(`… ${row.text}`)}`, width);
	const [sign, style] = MARKS[row.mark];
	const mark = theme[style](sign);
	const size = (row.tokens === null ? "" : formatTokens(row.tokens)).padStart(6);
	const right = isNarrow ? size : `${size}  ${row.state.padStart(6)}`;
	const labelWidth = isNarrow ? 9 : 11;
	const left = `${pointer}${mark} ${row.index.padStart(indexWidth)} ${column(cleanLine(row.label), labelWidth)} `;
	const room = Math.max(1, width - visibleWidth(left) - right.length - 1);
	const note = cleanLine(row.note);
	const noteRoom = room - visibleWidth(note) - 2;
	// The text is more important than the note: on a narrow screen only the mark shows a hook's effect.
	const withNote = note !== "" && noteRoom >= Math.min(16, visibleWidth(row.text));
	const text = column(cleanLine(row.text), withNote ? noteRoom : room);
	const middle = withNote ? `${text}  ${theme.dim(note)}` : text;
	const shown = row.mark === "out" || row.mark === "removed" ? theme.dim(middle) : middle;
	return clipLine(`${left}${isSelected ? theme.bold(shown) : shown} ${theme.dim(right)}`, width);
}
