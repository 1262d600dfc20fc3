import type { OverlayPlacement } from "../../../hooks/types.js";

/** The rectangle of an overlay on the screen, 0-based. */
export interface OverlayBounds {
	row: number;
	col: number;
	width: number;
	height: number;
}

type Size = OverlayPlacement["width"];
type Anchor = NonNullable<OverlayPlacement["anchor"]>;

const DEFAULT_COLUMNS = 80;

/** The width of an overlay, and the rows that it may have. */
export function overlaySize(
	{ width, minWidth = 1, maxHeight, margin }: OverlayPlacement,
	columns: number,
	rows: number,
): { width: number; maxHeight: number } {
	const room = roomOf(margin, columns, rows);
	const wanted = Math.max(minWidth, sizeOf(width, columns) ?? Math.min(DEFAULT_COLUMNS, room.width));
	const height = sizeOf(maxHeight, rows) ?? room.height;
	return { width: clamp(wanted, 1, room.width), maxHeight: clamp(height, 1, room.height) };
}

/** Where an overlay of this size is: within the margins, whatever its options say. */
export function overlayBounds(
	{ anchor = "center", offsetX = 0, offsetY = 0, row, col, margin }: OverlayPlacement,
	size: { width: number; height: number },
	columns: number,
	rows: number,
): OverlayBounds {
	const room = roomOf(margin, columns, rows);
	const freeRows = room.height - size.height;
	const freeColumns = room.width - size.width;
	const top = positionOf(row, freeRows, room.top) ?? room.top + Math.floor(freeRows * verticalShare(anchor));
	const left = positionOf(col, freeColumns, room.left) ?? room.left + Math.floor(freeColumns * horizontalShare(anchor));
	return {
		...size,
		row: clamp(top + offsetY, room.top, room.top + freeRows),
		col: clamp(left + offsetX, room.left, room.left + freeColumns),
	};
}

function verticalShare(anchor: Anchor): number {
	return anchor.startsWith("top") ? 0 : anchor.startsWith("bottom") ? 1 : 0.5;
}

function horizontalShare(anchor: Anchor): number {
	return /left/.test(anchor) ? 0 : /right/.test(anchor) ? 1 : 0.5;
}

function roomOf(margin: OverlayPlacement["margin"], columns: number, rows: number) {
	const sides = typeof margin === "number" ? { top: margin, right: margin, bottom: margin, left: margin } : margin;
	const side = (value = 0) => Math.max(0, Math.floor(Number(value)) || 0);
	const [top, right, bottom, left] = [side(sides?.top), side(sides?.right), side(sides?.bottom), side(sides?.left)];
	return { top, left, width: Math.max(1, columns - left - right), height: Math.max(1, rows - top - bottom) };
}

/** A number, or a share of `whole` such as `50%`. */
function sizeOf(size: Size, whole: number): number | null {
	if (typeof size === "number" && Number.isFinite(size)) return Math.floor(size);
	const percent = percentOf(size);
	return percent === null ? null : Math.floor((whole * percent) / 100);
}

/** A position, or a share of the free rows or columns. */
function positionOf(position: Size, free: number, start: number): number | null {
	if (typeof position === "number" && Number.isFinite(position)) return Math.floor(position);
	const percent = percentOf(position);
	return percent === null ? null : start + Math.floor((Math.max(0, free) * percent) / 100);
}

function percentOf(size: unknown): number | null {
	const [, number] = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(String(size)) ?? [];
	return number === undefined ? null : Number(number);
}

function clamp(value: number, least: number, most: number): number {
	return Math.max(least, Math.min(value, Math.max(least, most)));
}
