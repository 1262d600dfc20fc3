import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@mariozechner/pi-tui";
import { Chalk, type ChalkInstance } from "chalk";
import { type BuiltInTheme, builtInStyles } from "../themes/built-in.js";
import { type Color, type ColorLevel, parseColor, reduceColor } from "../themes/color.js";
import {
	type ColorValue,
	STYLE_ATTRIBUTES,
	type StyleSpec,
	type ThemeRole,
	type ThemeStyles,
} from "../themes/roles.js";
import { createHighlighter } from "./highlight.js";

/** Wraps text in one style. Styles nest: an inner style gives back what the outer one set. */
export type Style = (text: string) => string;

/** The thinking levels that the editor's border can show. */
export type ThinkingShade = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** The themes that `createTheme` knows by name. `plain` has no colour at all, as `NO_COLOR` asks. */
export type ThemeName = BuiltInTheme;

/** What a theme is made of, when it is none of pi's own. */
export interface ThemeSource {
	name: string;
	styles: ThemeStyles;
}

/** Every style of the screen, by what it means. @see THEME_ROLES for what each is */
export interface Theme {
	/** `plain` where there are no colours, whatever the theme. */
	readonly name: string;
	readonly accent: Style;
	readonly dim: Style;
	readonly muted: Style;
	readonly bold: Style;
	readonly italic: Style;
	readonly success: Style;
	readonly warning: Style;
	readonly error: Style;
	readonly added: Style;
	readonly removed: Style;
	readonly addedWord: Style;
	readonly removedWord: Style;
	readonly gutterIn: Style;
	readonly gutterOut: Style;
	readonly gutterSummary: Style;
	readonly userText: Style;
	readonly thinking: Style;
	thinkingBorder(level: ThinkingShade): Style;
	readonly bashBorder: Style;
	readonly markdown: MarkdownTheme;
	readonly selectList: SelectListTheme;
	readonly editor: EditorTheme;
}

/** Takes every theme as it comes: a component keeps this one, whose styles change. */
export type LiveTheme = { -readonly [Key in keyof Theme]: Theme[Key] };

/**
 * Builds a theme for a terminal with so many colours. Colours of the theme's own come down to the nearest that there are.
 * Without any, styles are left out altogether.
 */
export function createTheme(theme: ThemeName | ThemeSource, level: ColorLevel = 3): LiveTheme {
	const { name, styles } = typeof theme === "string" ? { name: theme, styles: builtInStyles(theme, "dark") } : theme;
	const isPlain = level === 0 || name === "plain";
	const chalk = new Chalk({ level: isPlain ? 0 : 3 });
	const style = (role: ThemeRole): Style => styleOf(chalk, styles[role], level);
	const borders: Record<ThinkingShade, Style> = {
		off: style("borderOff"),
		minimal: style("borderMinimal"),
		low: style("borderLow"),
		medium: style("borderMedium"),
		high: style("borderHigh"),
		xhigh: style("borderXhigh"),
	};
	const accent = style("accent");
	const dim = style("dim");
	const selectList: SelectListTheme = {
		selectedPrefix: accent,
		selectedText: accent,
		description: dim,
		scrollInfo: dim,
		noMatch: dim,
	};
	return {
		name: isPlain ? "plain" : name,
		accent,
		dim,
		muted: style("muted"),
		bold: chalk.bold,
		italic: chalk.italic,
		success: style("success"),
		warning: style("warning"),
		error: style("error"),
		added: style("added"),
		removed: style("removed"),
		addedWord: style("addedWord"),
		removedWord: style("removedWord"),
		gutterIn: style("gutterIn"),
		gutterOut: style("gutterOut"),
		gutterSummary: style("gutterSummary"),
		userText: style("userText"),
		thinking: style("thinking"),
		thinkingBorder: (shade) => borders[shade],
		bashBorder: style("borderBash"),
		markdown: markdownTheme(chalk, style),
		selectList,
		editor: { borderColor: borders.off, selectList },
	};
}

function markdownTheme(chalk: ChalkInstance, style: (role: ThemeRole) => Style): MarkdownTheme {
	return {
		heading: style("heading"),
		link: style("link"),
		linkUrl: style("linkUrl"),
		code: style("code"),
		codeBlock: (text) => text,
		codeBlockBorder: style("codeBorder"),
		quote: style("quote"),
		quoteBorder: style("quoteBorder"),
		hr: style("rule"),
		listBullet: style("listBullet"),
		bold: chalk.bold,
		italic: chalk.italic,
		strikethrough: chalk.strikethrough,
		underline: chalk.underline,
		codeBlockIndent: "  ",
		highlightCode: createHighlighter({
			keyword: style("codeKeyword"),
			string: style("codeString"),
			number: style("codeNumber"),
			comment: style("codeComment"),
			title: style("codeTitle"),
			type: style("codeType"),
			added: style("added"),
			removed: style("removed"),
		}),
	};
}

function styleOf(chalk: ChalkInstance, spec: StyleSpec, level: ColorLevel): Style {
	let style = chalk;
	if (spec.background !== undefined) style = withBackground(style, spec.background, level);
	if (spec.color !== undefined) style = withColour(style, spec.color, level);
	for (const attribute of STYLE_ATTRIBUTES) if (spec[attribute]) style = style[attribute];
	// Called without a style, chalk would still turn what is no text into one.
	return style === chalk ? (text) => text : style;
}

function withColour(style: ChalkInstance, value: ColorValue, level: ColorLevel): ChalkInstance {
	const colour = reduced(value, level);
	switch (colour.kind) {
		case "default":
			return style;
		case "named":
			return style[FOREGROUNDS[colour.index] ?? "white"];
		case "indexed":
			return style.ansi256(colour.index);
		case "rgb":
			return style.rgb(...colour.rgb);
	}
}

function withBackground(style: ChalkInstance, value: ColorValue, level: ColorLevel): ChalkInstance {
	const colour = reduced(value, level);
	// A shade of its own comes down to one that the text on it may have too: that would hide it.
	if (level === 1 && parseColor(value)?.kind !== "named") return colour.kind === "default" ? style : style.inverse;
	switch (colour.kind) {
		case "default":
			return style;
		case "named":
			return style[BACKGROUNDS[colour.index] ?? "bgBlack"];
		case "indexed":
			return style.bgAnsi256(colour.index);
		case "rgb":
			return style.bgRgb(...colour.rgb);
	}
}

function reduced(value: ColorValue, level: ColorLevel): Color {
	return reduceColor(parseColor(value) ?? { kind: "default" }, level);
}

/** The sixteen as chalk calls them, by their number. */
const FOREGROUNDS = [
	...(["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const),
	...(["blackBright", "redBright", "greenBright", "yellowBright"] as const),
	...(["blueBright", "magentaBright", "cyanBright", "whiteBright"] as const),
];
const BACKGROUNDS = [
	...(["bgBlack", "bgRed", "bgGreen", "bgYellow", "bgBlue", "bgMagenta", "bgCyan", "bgWhite"] as const),
	...(["bgBlackBright", "bgRedBright", "bgGreenBright", "bgYellowBright"] as const),
	...(["bgBlueBright", "bgMagentaBright", "bgCyanBright", "bgWhiteBright"] as const),
];
