import { visibleWidth } from "@mariozechner/pi-tui";
import { clipMiddle } from "../util/clip-middle.js";
import { trimEndOf } from "../util/trim.js";
import { fuzzyMatch, markMatch } from "./fuzzy.js";
import { clipLine, oneLine } from "./line.js";
import type { Theme } from "./theme.js";

/** A row of a `SelectDialog`. Its texts may be untrusted. */
export interface SelectItem<T> {
	label: string;
	value: T;
	/** Shown at the right if there is room. */
	description?: string;
	/** Shown at the right: a text for each column of the dialog. */
	fields?: readonly string[];
	/** A sign before the label, such as that of the gutter. One column wide. */
	sign?: string;
	/** Shown above the first of several items with the same heading. */
	heading?: string;
	/** For an item that cannot be used in its current state. */
	isDimmed?: boolean;
}

/** A column of fields. */
export interface SelectColumn {
	align: "left" | "right";
	/** On a narrow screen the columns with the highest rank are omitted first. */
	rank: number;
	/** Uses all the room that labels and other columns leave. At most one column grows. */
	grows?: boolean;
}

/** Widths of labels and fields; 0 for a field that does not fit. */
export interface RowWidths {
	/** null: the rest of the row. */
	label: number | null;
	fields: readonly number[];
}

/** Layout of the rows in one frame. */
export interface RowLayout {
	theme: Theme;
	width: number;
	columns: readonly SelectColumn[];
	widths: RowWidths;
	hasSigns: boolean;
	/** Labels that are too long lose their middle instead of their end. */
	cutsMiddle: boolean;
	/** Indices of the UTF-16 units of a label to highlight. */
	positions(label: string): readonly number[];
}

/** Width limits of a field; the minimum applies to a truncated one. */
const MAX_FIELD = 28;
const MIN_FIELD = 6;
/** A longer description is a sentence and left-aligned. */
const MAX_FIGURES = 20;
/** Share of the width reserved for labels, and the minimum width. */
const LABEL_SHARE = 0.45;
const MIN_LABEL = 24;
/** Minimum width of a growing column; with less room it is omitted. */
const MIN_GROWN = 12;
const POINTER = 3;
const SIGN = 2;
const GAP = 2;

/** Computes the widths of the columns that fit next to the labels. */
export function rowWidths(
	items: readonly SelectItem<unknown>[],
	columns: readonly SelectColumn[],
	width: number,
): RowWidths {
	const widest = (text: (item: SelectItem<unknown>) => string) =>
		items.reduce((widest, item) => Math.max(widest, widthOf(text(item))), 0);
	const fields = columns.map(({ grows }, at) =>
		grows
			? 0
			: Math.min(
					MAX_FIELD,
					widest((item) => item.fields?.[at] ?? ""),
				),
	);
	const wanted = [...fields];
	const room = width - POINTER - Math.max(MIN_LABEL, Math.floor(width * LABEL_SHARE));
	const byRank = columns.map((_, at) => at).sort((a, b) => (columns[b]?.rank ?? 0) - (columns[a]?.rank ?? 0));
	const taken = () => fields.reduce((sum, field) => sum + (field > 0 ? field + GAP : 0), 0);
	for (const at of byRank) {
		// The most important column is truncated rather than omitted.
		const isLast = at === byRank.at(-1) && room - GAP >= MIN_FIELD;
		if (taken() > room) fields[at] = isLast ? room - GAP : 0;
	}
	const growing = columns.findIndex(({ grows }) => grows);
	const rank = columns[growing]?.rank ?? 0;
	const isNarrow = fields.some((field, at) => field < (wanted[at] ?? 0) && (columns[at]?.rank ?? 0) < rank);
	if (growing < 0 || isNarrow) return { label: null, fields };
	const label = Math.min(
		widest((item) => item.label),
		Math.floor(width / 2),
	);
	const rest = width - POINTER - SIGN - 1 - label - taken() - GAP;
	if (rest < MIN_GROWN) return { label: null, fields };
	fields[growing] = rest;
	return { label, fields };
}

/** Computes the label width that aligns descriptions which are sentences; labels use at most half of the screen. */
export function describedWidths(items: readonly SelectItem<unknown>[], width: number): RowWidths {
	let label = 0;
	let description = 0;
	for (const item of items) {
		label = Math.max(label, widthOf(item.label));
		description = Math.max(description, widthOf(item.description ?? ""));
	}
	return { label: description > MAX_FIGURES ? Math.min(label, Math.floor(width / 2) - GAP) : null, fields: [] };
}

/** @returns the width of a text in columns; with a shortcut for ASCII, because a list may have thousands of items */
function widthOf(text: string): number {
	return /^[\x20-\x7e]*$/.test(text) ? text.length : visibleWidth(oneLine(text));
}

/** Draws a row as one line of at most `width` columns. */
export function drawRow(item: SelectItem<unknown>, isSelected: boolean, layout: RowLayout): string {
	const { theme, width } = layout;
	const pointer = isSelected ? theme.accent(" → ") : "   ";
	const sign = layout.hasSigns ? `${item.sign ?? " "} ` : "";
	const right = item.fields ? fieldsOf(item.fields, layout) : "";
	const room = Math.max(1, width - POINTER - visibleWidth(sign) - 1);
	const label = oneLine(item.label);
	const described = layout.widths.label ?? visibleWidth(label);
	const description = right === "" ? describe(item.description, described, room, width) : "";
	const end = (right || description).trimEnd();
	const rightWidth = visibleWidth(end);
	const fieldsWidth = visibleWidth(right || description);
	const labelRoom = layout.widths.label ?? (fieldsWidth > 0 ? room - fieldsWidth - GAP : room);
	const shown = layout.cutsMiddle ? clipMiddle(label, labelRoom, visibleWidth) : clipLine(label, labelRoom);
	const text = markMatch(shown, layout.positions(shown), theme.accent);
	const fill = rightWidth > 0 ? " ".repeat(Math.max(0, labelRoom - visibleWidth(shown)) + GAP) : "";
	const styled = item.isDimmed ? theme.dim(text) : isSelected ? theme.bold(text) : text;
	return trimEndOf(`${pointer}${sign}${styled}${fill}${end ? theme.dim(end) : ""}`, " ");
}

/**
 * The rows of a list around the selected one.
 * @returns at most `rows`, in order: the index of an item, or the heading of those that follow
 */
export function listWindow(items: readonly SelectItem<unknown>[], selected: number, rows: number): (number | string)[] {
	const from = (at: number, length: number) => Math.max(0, Math.min(at - Math.floor(rows / 2), length - rows));
	const indices = (first: number, end: number) => Array.from({ length: end - first }, (_, at) => first + at);
	// A list of thousands of items has no headings.
	if (items[0]?.heading === undefined) {
		const first = from(selected, items.length);
		return indices(first, Math.min(items.length, first + rows));
	}
	const all = items.flatMap(({ heading }, at): (number | string)[] =>
		heading === undefined || heading === items[at - 1]?.heading ? [at] : [heading, at],
	);
	const first = from(all.indexOf(selected), all.length);
	return all.slice(first, first + rows);
}

/** @returns the positions in a text that match any word of the query, even if other words do not match */
export function wordPositions(query: string, text: string): number[] {
	return query.split(/\s+/).flatMap((word) => (word ? (fuzzyMatch(word, text)?.positions ?? []) : []));
}

function fieldsOf(fields: readonly string[], { widths, columns }: RowLayout): string {
	return widths.fields
		.flatMap((width, at) => {
			if (width === 0) return [];
			const text = clipLine(oneLine(fields[at] ?? ""), width);
			const fill = " ".repeat(width - visibleWidth(text));
			return columns[at]?.align === "right" ? fill + text : text + fill;
		})
		.join(" ".repeat(GAP));
}

/** @returns the description for the room next to the label, or for half of the row; empty when there is too little room */
function describe(description: string | undefined, labelWidth: number, room: number, width: number): string {
	if (!description) return "";
	const rest = Math.max(room - labelWidth - GAP, Math.floor(room / 2) - GAP);
	return rest >= 8 && width >= 30 ? clipLine(oneLine(description), rest) : "";
}
