import type { ColorValue } from "./roles.js";

/** The colors a terminal supports: 0 none, 1 sixteen, 2 256, 3 all. */
export type ColorLevel = 0 | 1 | 2 | 3;

/** A parsed color. */
export type Color =
	| { kind: "default" }
	/** One of the terminal's sixteen colors, which the user can configure. */
	| { kind: "named"; index: number }
	/** 16–255 in the fixed palette. */
	| { kind: "indexed"; index: number }
	| { kind: "rgb"; rgb: Rgb };

/** Red, green and blue, 0–255 each. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Names of the terminal's sixteen colors, by index. */
export const COLOR_NAMES: readonly string[] = [
	...["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"],
	...["brightBlack", "brightRed", "brightGreen", "brightYellow"],
	...["brightBlue", "brightMagenta", "brightCyan", "brightWhite"],
];

/** The name of the terminal's default color. */
export const DEFAULT_COLOR = "default";

/** Format of an RGB color. */
export const HEX_COLOR = /^#[0-9a-fA-F]{6}$/;

/** Parses a color of a theme file. @returns null if it is invalid */
export function parseColor(value: unknown): Color | null {
	if (typeof value === "number") {
		if (!Number.isInteger(value) || value < 0 || value > 255) return null;
		return value < 16 ? { kind: "named", index: value } : { kind: "indexed", index: value };
	}
	if (typeof value !== "string") return null;
	if (value === DEFAULT_COLOR) return { kind: "default" };
	const index = COLOR_NAMES.indexOf(value);
	if (index >= 0) return { kind: "named", index };
	return HEX_COLOR.test(value) ? { kind: "rgb", rgb: hexRgb(value) } : null;
}

/**
 * The nearest color that a terminal of this level supports; `default` at level 0. `default` and the sixteen colors do not
 * change at the other levels.
 */
export function reduceColor(color: Color, level: ColorLevel): Color {
	if (level === 0) return { kind: "default" };
	if (color.kind === "rgb" && level === 2) return { kind: "indexed", index: nearestIndex(color.rgb) };
	if ((color.kind === "rgb" || color.kind === "indexed") && level === 1) {
		return { kind: "named", index: nearest(colorRgb(color), VGA) };
	}
	return color;
}

/** The RGB value of a color; for the sixteen colors, a common one. */
export function colorRgb(color: Exclude<Color, { kind: "default" }>): Rgb {
	if (color.kind === "rgb") return color.rgb;
	return color.kind === "named" ? (VGA[color.index] ?? [0, 0, 0]) : indexRgb(color.index);
}

/** True if text on this background must be dark to be readable. */
export function isLight(rgb: Rgb): boolean {
	return luminance(rgb) > 0.4;
}

/** Relative luminance: 0 black, 1 white. */
export function luminance(rgb: Rgb): number {
	const [red, green, blue] = rgb.map((channel) => {
		const share = channel / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** The sixteen colors of text consoles; those of a terminal window are unknown. */
const VGA: readonly Rgb[] = [
	...["#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa"],
	...["#555555", "#ff5555", "#55ff55", "#ffff55", "#5555ff", "#ff55ff", "#55ffff", "#ffffff"],
].map(hexRgb);

/** Levels of red, green and blue in the color cube of the palette. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

function indexRgb(index: number): Rgb {
	if (index >= 232) return [gray(index), gray(index), gray(index)];
	const cell = index - 16;
	return [step(Math.floor(cell / 36)), step(Math.floor(cell / 6) % 6), step(cell % 6)];
}

function gray(index: number): number {
	return 8 + 10 * (index - 232);
}

function step(at: number): number {
	return CUBE[at] ?? 0;
}

function nearestIndex(rgb: Rgb): number {
	const palette = Array.from({ length: 240 }, (_, at) => indexRgb(at + 16));
	return 16 + nearest(rgb, palette);
}

function nearest([red, green, blue]: Rgb, palette: readonly Rgb[]): number {
	let best = 0;
	let least = Number.POSITIVE_INFINITY;
	for (const [index, [r, g, b]] of palette.entries()) {
		const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
		if (distance < least) {
			best = index;
			least = distance;
		}
	}
	return best;
}

function hexRgb(text: string): Rgb {
	const value = Number.parseInt(text.slice(1), 16);
	return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}

/** The RGB value of a color in a theme; null for `default` and invalid colors. */
export function rgbOf(value: ColorValue): Rgb | null {
	const color = parseColor(value);
	return color && color.kind !== "default" ? colorRgb(color) : null;
}
