import { colorRgb, luminance, parseColor, type Rgb } from "../../src/themes/color.js";
import type { Cell } from "./screen-cells.js";

/** The colors of a terminal's text and background. */
export interface Page {
	text: Rgb;
	background: Rgb;
}

/** Contrast of two colors, 1 to 21: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
export function contrast(first: Rgb, second: Rgb): number {
	const [bright = 0, dark = 0] = [luminance(first), luminance(second)].sort((a, b) => b - a);
	return (bright + 0.05) / (dark + 0.05);
}

/**
 * Contrast of a cell's text on this page. Dim text is halfway to its background, as most terminals draw it.
 * @returns `isNamed`: whether one of the sixteen colors, which the user can configure, takes part
 */
export function cellContrast(cell: Cell, page: Page): { ratio: number; isNamed: boolean } {
	const own = [rgbOf(cell.color, page.text), rgbOf(cell.background, page.background)] as const;
	const [ink, paper] = cell.isInverse ? [own[1], own[0]] : own;
	const drawn: Rgb = cell.isDim ? blend(ink, paper) : ink;
	return { ratio: contrast(drawn, paper), isNamed: [cell.color, cell.background].some(isNamed) };
}

function isNamed(color: Cell["color"]): boolean {
	return typeof color === "number" && color < 16;
}

function rgbOf(color: Cell["color"], unset: Rgb): Rgb {
	if (color === null) return unset;
	if (typeof color !== "number") return color;
	const parsed = parseColor(color);
	return parsed && parsed.kind !== "default" ? colorRgb(parsed) : unset;
}

function blend([r1, g1, b1]: Rgb, [r2, g2, b2]: Rgb): Rgb {
	return [(r1 + r2) / 2, (g1 + g2) / 2, (b1 + b2) / 2];
}
