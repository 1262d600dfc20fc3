import type { ThemeStyles } from "./roles.js";

/** The brightness of the terminal's background. */
export type Background = "dark" | "light";

/** The built-in themes with their descriptions, in the order of the picker. `plain` has no colors. */
export const BUILT_IN_THEMES = {
	dark: "the terminal's own colors, for a dark background",
	light: "for a light background",
	"high-contrast": "all text at least 7:1, on dark and light backgrounds",
	plain: "no colors",
} as const;

/** Name of a built-in theme. */
export type BuiltInTheme = keyof typeof BUILT_IN_THEMES;

/** A built-in theme that a theme file may extend. */
export type BaseTheme = Exclude<BuiltInTheme, "plain">;

/** The values of `base` in a theme file. */
export const BASE_THEMES: readonly BaseTheme[] = ["dark", "light", "high-contrast"];

/** True for the name of a built-in theme. */
export function isBuiltIn(name: string): name is BuiltInTheme {
	return Object.hasOwn(BUILT_IN_THEMES, name);
}

/** The styles of a built-in theme. Only those of `high-contrast` depend on the background. */
export function builtInStyles(name: BuiltInTheme, background: Background): ThemeStyles {
	if (name === "high-contrast") return background === "light" ? CONTRAST_ON_LIGHT : CONTRAST_ON_DARK;
	return name === "light" ? LIGHT : DARK;
}

/** Mostly the terminal's sixteen colors, so that it fits the user's color scheme. */
const DARK: ThemeStyles = {
	accent: { color: "cyan" },
	dim: { dim: true },
	muted: { color: 246 },
	success: { color: "green" },
	warning: { color: "yellow" },
	error: { color: "red" },
	userText: { bold: true },
	userBand: { background: 236 },
	thinking: { dim: true, italic: true },
	added: { color: "green" },
	removed: { color: "red" },
	addedWord: { background: 22 },
	removedWord: { background: 52 },
	gutterIn: { color: 24 },
	gutterOut: { dim: true },
	gutterSummary: { color: "magenta" },
	borderOff: { dim: true },
	borderMinimal: { color: 66 },
	borderLow: { color: "blue" },
	borderMedium: { color: "cyan" },
	borderHigh: { color: "magenta" },
	borderXhigh: { color: "red" },
	borderMax: { color: "red", bold: true },
	borderBash: { color: "yellow" },
	heading: { color: "yellow" },
	link: { color: "blue" },
	linkUrl: { dim: true },
	code: { color: "cyan" },
	codeBorder: { dim: true },
	quote: { color: 246 },
	quoteBorder: { dim: true },
	rule: { dim: true },
	listBullet: { color: "cyan" },
	codeKeyword: { color: "magenta" },
	codeString: { color: "green" },
	codeNumber: { color: "yellow" },
	codeComment: { dim: true },
	codeTitle: { color: "blue" },
	codeType: { color: "cyan" },
};

/** Fixed colors: the sixteen colors of many terminals are unreadable on white. */
const LIGHT: ThemeStyles = {
	accent: { color: "#00607f" },
	dim: { color: 243 },
	muted: { color: 240 },
	success: { color: "#0a6b0a" },
	warning: { color: "#8a5500" },
	error: { color: "#b00020" },
	userText: { bold: true },
	userBand: { background: 255 },
	thinking: { color: 243, italic: true },
	added: { color: "#0a6b0a" },
	removed: { color: "#b00020" },
	addedWord: { background: 194 },
	removedWord: { background: 224 },
	gutterIn: { color: "#3a6fa0" },
	gutterOut: { color: 243 },
	gutterSummary: { color: "#86208f" },
	borderOff: { color: 250 },
	borderMinimal: { color: 109 },
	borderLow: { color: "#1a4fb4" },
	borderMedium: { color: "#00607f" },
	borderHigh: { color: "#86208f" },
	borderXhigh: { color: "#b00020" },
	borderMax: { color: "#b00020", bold: true },
	borderBash: { color: "#8a5500" },
	heading: { color: "#8a5500" },
	link: { color: "#1a4fb4" },
	linkUrl: { color: 243 },
	code: { color: "#00607f" },
	codeBorder: { color: 243 },
	quote: { color: 240 },
	quoteBorder: { color: 250 },
	rule: { color: 250 },
	listBullet: { color: "#00607f" },
	codeKeyword: { color: "#86208f" },
	codeString: { color: "#0a6b0a" },
	codeNumber: { color: "#8a5500" },
	codeComment: { color: 243 },
	codeTitle: { color: "#1a4fb4" },
	codeType: { color: "#00607f" },
};

/** The colors of a high-contrast theme. */
interface ContrastColors {
	text: string;
	accent: string;
	good: string;
	attention: string;
	bad: string;
	blue: string;
	violet: string;
	/** A background on which text of any of these colors can be read. */
	band: string;
}

const CONTRAST_ON_DARK = contrastStyles({
	text: "#e8e8e8",
	accent: "#66e0ff",
	good: "#66ff66",
	attention: "#ffff66",
	bad: "#ff9090",
	blue: "#99c2ff",
	violet: "#ff99ff",
	band: "#303030",
});

const CONTRAST_ON_LIGHT = contrastStyles({
	text: "#1a1a1a",
	accent: "#004a66",
	good: "#005000",
	attention: "#5c3d00",
	bad: "#8b0000",
	blue: "#00318c",
	violet: "#660066",
	band: "#e4e4e4",
});

/** Roles that differ by color in other themes also differ by weight, slant or underline here. */
function contrastStyles({ text, accent, good, attention, bad, blue, violet, band }: ContrastColors): ThemeStyles {
	return {
		accent: { color: accent, bold: true },
		dim: { color: text },
		muted: { color: text },
		success: { color: good },
		warning: { color: attention, bold: true },
		error: { color: bad, bold: true },
		userText: { bold: true, underline: true },
		userBand: { background: band },
		thinking: { color: text, italic: true },
		added: { color: good },
		removed: { color: bad },
		addedWord: { inverse: true },
		removedWord: { inverse: true },
		gutterIn: { color: blue },
		gutterOut: { color: text },
		gutterSummary: { color: violet, bold: true },
		borderOff: { color: text },
		borderMinimal: { color: text },
		borderLow: { color: blue },
		borderMedium: { color: accent },
		borderHigh: { color: violet },
		borderXhigh: { color: bad },
		borderMax: { color: bad, bold: true },
		borderBash: { color: attention },
		heading: { color: attention, bold: true },
		link: { color: blue, underline: true },
		linkUrl: { color: text },
		code: { color: accent },
		codeBorder: { color: text },
		quote: { color: text },
		quoteBorder: { color: text },
		rule: { color: text },
		listBullet: { color: accent },
		codeKeyword: { color: violet },
		codeString: { color: good },
		codeNumber: { color: attention },
		codeComment: { color: text, italic: true },
		codeTitle: { color: blue },
		codeType: { color: accent },
	};
}
