import { type Background, builtInStyles } from "./built-in.js";
import { type ColorLevel, colorRgb, luminance, parseColor, type Rgb, reduceColor } from "./color.js";
import { type ColorValue, ROLE_NAMES, type StyleSpec, type ThemeRole, type ThemeStyles } from "./roles.js";

/** Least contrast of text, as WCAG 2.2 defines it (1 to 21): enough to see that there is text, and to read it. */
const MIN_CONTRAST = 2;
/** For the sixteen colors of the terminal, whose values are unknown: blue on black is 1.6 on a text console. */
const MIN_NAMED_CONTRAST = 1.5;
/** Usual colors of a terminal. */
const TERMINALS: Readonly<Record<Background, { text: Rgb; background: Rgb }>> = {
	dark: { text: [204, 204, 204], background: [0, 0, 0] },
	light: { text: [51, 51, 51], background: [255, 255, 255] },
};
/** Roles that mark words within a text of another role. */
const WITHIN: Partial<Record<ThemeRole, ThemeRole>> = {
	addedWord: "added",
	removedWord: "removed",
	userText: "userBand",
};

/**
 * Replaces each style whose text could not be read, and that of text which contains it, by the style of the built-in theme.
 * @param level colors that the terminal has: different colors may look the same there
 */
export function readableStyles(styles: ThemeStyles, background: Background, level: ColorLevel): ThemeStyles {
	const readable: Record<ThemeRole, StyleSpec> = { ...styles };
	const safe = builtInStyles(background, background);
	for (const role of ROLE_NAMES) if (!isReadable(styles[role], {}, background, level)) readable[role] = safe[role];
	for (const [role, around] of Object.entries(WITHIN) as [ThemeRole, ThemeRole][]) {
		if (isReadable(readable[role], readable[around], background, level)) continue;
		readable[role] = safe[role];
		readable[around] = safe[around];
	}
	return readable;
}

/** @param around style of the text around it, which holds where the style says nothing */
function isReadable(style: StyleSpec, around: StyleSpec, background: Background, level: ColorLevel): boolean {
	const terminal = TERMINALS[background];
	const ink = colorOf(style.color ?? around.color, terminal.text, level);
	const paper = colorOf(style.background ?? around.background, terminal.background, level);
	return contrast(ink.rgb, paper.rgb) >= (ink.isNamed || paper.isNamed ? MIN_NAMED_CONTRAST : MIN_CONTRAST);
}

function colorOf(value: ColorValue | undefined, unset: Rgb, level: ColorLevel): { rgb: Rgb; isNamed: boolean } {
	const parsed = value === undefined ? null : parseColor(value);
	const color = parsed && reduceColor(parsed, level);
	if (!color || color.kind === "default") return { rgb: unset, isNamed: false };
	return { rgb: colorRgb(color), isNamed: color.kind === "named" };
}

/** Contrast of two colors, 1 to 21: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(first: Rgb, second: Rgb): number {
	const [dark = 0, light = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
	return (light + 0.05) / (dark + 0.05);
}
