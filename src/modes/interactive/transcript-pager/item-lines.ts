import { visibleWidth } from "@mariozechner/pi-tui";
import { clipLine, spread } from "../../../tui/line.js";
import { ERASE_REST } from "../../../tui/safe-line.js";
import type { Theme } from "../../../tui/theme.js";
import { trimOf } from "../../../util/trim.js";
import { cleanLine, plainLine, wrapLines } from "../clean-text.js";
import { gutterCell } from "../views/entry-block.js";
import type { PagerItem } from "./pager-items.js";

/** How an item is drawn. */
export interface ItemLook {
	theme: Theme;
	/** Columns. */
	width: number;
	gutter: boolean;
	isOpen: boolean;
}

/** Narrower screens show notes below the item. Columns. */
const MIN_NOTE_WIDTH = 50;

/** Whether an item has more than its preview. What a person or a model said is always shown completely. */
export function isFoldable({ kind, closed, folds = false }: PagerItem, width: number): boolean {
	if (kind === "user") return folds;
	if (kind === "tool" || kind === "summary" || kind === "thinking") return true;
	return (kind === "bash" || kind === "system" || kind === "custom") && closed.render(width).length > 1;
}

/** Draws an item: gutter, fold mark, then its lines. @returns at least one line, each at most `width` columns */
export function itemLines(item: PagerItem, { theme, width, gutter, isOpen }: ItemLook): string[] {
	const room = Math.max(1, width - (gutter ? 3 : 2));
	const note = item.note === "" ? "" : cleanLine(item.note, 60);
	const folds = isFoldable(item, room);
	const isClosed = folds && !isOpen;
	const rows =
		isClosed && item.kind !== "user"
			? [firstRow(item, theme, room, note)]
			: allRows(item, isClosed ? item.closed : item.open(), { theme, room, note });
	return rows.map((row, at) => {
		const side = gutter ? gutterCell(item.mark, at, theme) : "";
		const fold = folds && at === 0 ? theme.dim(isOpen ? "▾" : "▸") : " ";
		const text = item.mark === "out" ? theme.dim(plainLine(row)) : row;
		return clipLine(`${side}${fold} ${text}`, width);
	});
}

/** The row of a collapsed item, with its note at the right. */
function firstRow(item: PagerItem, theme: Theme, room: number, note: string): string {
	const isBeside = note !== "" && room >= MIN_NOTE_WIDTH;
	const width = isBeside ? room - visibleWidth(note) - 3 : room;
	const row = item.kind === "thinking" ? thought(item.text, theme, width) : (item.closed.render(width)[0] ?? "");
	return isBeside ? spread(row, theme.dim(note), room) : row;
}

function thought(text: string, theme: Theme, width: number): string {
	const first = trimOf(cleanLine(text.trim().slice(0, 400).split("\n", 1)[0] ?? ""), "#* \t", "* \t");
	return theme.thinking(clipLine(`∴ ${first}`, width));
}

function allRows(
	item: PagerItem,
	view: PagerItem["closed"],
	{ theme, room, note }: { theme: Theme; room: number; note: string },
): string[] {
	const rows = [...view.render(room)];
	if (rows.length === 0) rows.push("");
	if (item.kind === "tool" && rows.length === 1) rows.push(theme.dim("│ (no output)"));
	if (note === "") return rows;
	const [first = ""] = rows;
	// A note never shortens what it describes.
	if (visibleWidth(first) + visibleWidth(note) + 2 <= room)
		return [spread(first.replaceAll(ERASE_REST, ""), theme.dim(note), room), ...rows.slice(1)];
	return [...rows, ...wrapLines([note], room).map((line) => theme.dim(line))];
}
