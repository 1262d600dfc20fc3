import type { ColourValue } from "./roles.js";

/** How many colours a terminal has: none, the sixteen named ones, 256, or all. */
export type ColourLevel = 0 | 1 | 2 | 3;

/** A colour, understood. */
export type Colour =
	| { kind: "default" }
	/** One of the terminal's sixteen, which look as the user has set them. */
	| { kind: "named"; index: number }
	/** 16–255 of the fixed palette. */
	| { kind: "indexed"; index: number }
	| { kind: "rgb"; rgb: Rgb };

/** Red, green and blue, 0–255 each. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** The terminal's sixteen, by their number. */
export const COLOUR_NAMES: readonly string[] = [
	...["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"],
	...["brightBlack", "brightRed", "brightGreen", "brightYellow"],
	...["brightBlue", "brightMagenta", "brightCyan", "brightWhite"],
];

/** The word for the terminal's own colour. */
export const DEFAULT_COLOUR = "default";

/** How a colour of the theme's own is written. */
export const HEX_COLOUR = /^#[0-9a-fA-F]{6}$/;

/** @returns null for what is no colour */
export function parseColour(value: unknown): Colour | null {
	if (typeof value === "number") {
		if (!Number.isInteger(value) || value < 0 || value > 255) return null;
		return value < 16 ? { kind: "named", index: value } : { kind: "indexed", index: value };
	}
	if (typeof value !== "string") return null;
	if (value === DEFAULT_COLOUR) return { kind: "default" };
	const index = COLOUR_NAMES.indexOf(value);
	if (index >= 0) return { kind: "named", index };
	return HEX_COLOUR.test(value) ? { kind: "rgb", rgb: hexRgb(value) } : null;
}

/** The nearest colour that a terminal of this level has. `default` and the sixteen stay what they are. */
export function reduceColour(colour: Colour, level: ColourLevel): Colour {
	if (level === 0) return { kind: "default" };
	if (colour.kind === "rgb" && level === 2) return { kind: "indexed", index: nearestIndex(colour.rgb) };
	if ((colour.kind === "rgb" || colour.kind === "indexed") && level === 1) {
		return { kind: "named", index: nearest(colourRgb(colour), VGA) };
	}
	return colour;
}

/** Red, green and blue of a colour; of the sixteen as terminals commonly show them. */
export function colourRgb(colour: Exclude<Colour, { kind: "default" }>): Rgb {
	if (colour.kind === "rgb") return colour.rgb;
	return colour.kind === "named" ? (VGA[colour.index] ?? [0, 0, 0]) : indexRgb(colour.index);
}

/** Whether text on this background must be dark to be read. */
export function isLight(rgb: Rgb): boolean {
	return luminance(rgb) > 0.4;
}

/** How bright a colour looks: 0 black, 1 white. */
export function luminance(rgb: Rgb): number {
	const [red, green, blue] = rgb.map((part) => {
		const share = part / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** The sixteen as text consoles show them; those of a terminal window are not known. */
const VGA: readonly Rgb[] = [
	[0, 0, 0],
	[170, 0, 0],
	[0, 170, 0],
	[170, 85, 0],
	[0, 0, 170],
	[170, 0, 170],
	[0, 170, 170],
	[170, 170, 170],
	[85, 85, 85],
	[255, 85, 85],
	[85, 255, 85],
	[255, 255, 85],
	[85, 85, 255],
	[255, 85, 255],
	[85, 255, 255],
	[255, 255, 255],
];

/** Steps of red, green and blue in the palette's colour cube. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

function indexRgb(index: number): Rgb {
	if (index >= 232) return [grey(index), grey(index), grey(index)];
	const cell = index - 16;
	return [step(Math.floor(cell / 36)), step(Math.floor(cell / 6) % 6), step(cell % 6)];
}

function grey(index: number): number {
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

/** A colour of the terminal's palette or of a theme, as themes write it, in red, green and blue. */
export function rgbOf(value: ColourValue): Rgb | null {
	const colour = parseColour(value);
	return colour && colour.kind !== "default" ? colourRgb(colour) : null;
}
