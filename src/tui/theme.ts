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
import { type CodeStyles, createHighlighter, createTokenizer, type Tokenizer } from "../util/highlight.js";

/** Wraps text in one style. Styles nest: the outer style continues after the inner one. */
export type Style = (text: string) => string;

/** The thinking levels that the editor's border can show. */
export type ThinkingShade = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** A theme that is not built in. */
export interface ThemeSource {
	name: string;
	styles: ThemeStyles;
}

/** Every style of the screen, by meaning. @see THEME_ROLES for their descriptions */
export interface Theme {
	/** `plain` when colors are off, whatever the theme. */
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
	/** Fills blanks with the color of `gutterIn`; without colors it returns them as they are. */
	readonly gutterBar: Style;
	readonly gutterOut: Style;
	readonly gutterSummary: Style;
	readonly userText: Style;
	readonly userBand: Style;
	readonly thinking: Style;
	thinkingBorder(level: ThinkingShade): Style;
	readonly bashBorder: Style;
	readonly code: CodeTheme;
	readonly markdown: MarkdownTheme;
	readonly selectList: SelectListTheme;
	readonly editor: EditorTheme;
}

/** How code looks. */
export interface CodeTheme {
	styles: CodeStyles;
	tokensOf: Tokenizer;
}

/** A theme whose styles change when the user chooses another one: components keep this object. */
export type LiveTheme = { -readonly [Key in keyof Theme]: Theme[Key] };

/**
 * Builds a theme for a terminal's color level. Colors that the terminal lacks are replaced with the nearest ones; without
 * colors, all styles are omitted, as `NO_COLOR` requires.
 */
export function createTheme(theme: BuiltInTheme | ThemeSource, level: ColorLevel = 3): LiveTheme {
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
		max: style("borderMax"),
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
	const code = codeTheme(style);
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
		gutterBar: barOf(chalk, styles.gutterIn, level),
		gutterOut: style("gutterOut"),
		gutterSummary: style("gutterSummary"),
		userText: style("userText"),
		userBand: style("userBand"),
		thinking: style("thinking"),
		thinkingBorder: (shade) => borders[shade],
		bashBorder: style("borderBash"),
		code,
		markdown: markdownTheme(chalk, style, code),
		selectList,
		editor: { borderColor: borders.off, selectList },
	};
}

function codeTheme(style: (role: ThemeRole) => Style): CodeTheme {
	return {
		styles: {
			keyword: style("codeKeyword"),
			string: style("codeString"),
			number: style("codeNumber"),
			comment: style("codeComment"),
			title: style("codeTitle"),
			type: style("codeType"),
			added: style("added"),
			removed: style("removed"),
		},
		tokensOf: createTokenizer(),
	};
}

function markdownTheme(
	chalk: ChalkInstance,
	style: (role: ThemeRole) => Style,
	{ styles, tokensOf }: CodeTheme,
): MarkdownTheme {
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
		highlightCode: createHighlighter(styles, tokensOf),
	};
}

function styleOf(chalk: ChalkInstance, spec: StyleSpec, level: ColorLevel): Style {
	let style = chalk;
	if (spec.background !== undefined) style = withColor(style, spec.background, level, true);
	if (spec.color !== undefined) style = withColor(style, spec.color, level, false);
	for (const attribute of STYLE_ATTRIBUTES) if (spec[attribute]) style = style[attribute];
	// Without styles, chalk itself would convert its argument to a string.
	return style === chalk ? (text) => text : style;
}

const DEFAULT: Color = { kind: "default" };

/** Blanks in the color that a style has for text. */
function barOf(chalk: ChalkInstance, { color }: StyleSpec, level: ColorLevel): Style {
	const bar = color === undefined ? chalk : inColor(chalk, reduceColor(parseColor(color) ?? DEFAULT, level), true);
	return bar === chalk ? (blanks) => blanks : bar;
}

function withColor(style: ChalkInstance, value: ColorValue, level: ColorLevel, isBackground: boolean): ChalkInstance {
	const parsed = parseColor(value) ?? DEFAULT;
	// With 16 colors a custom background could become the color of its text and hide it.
	if (isBackground && level === 1 && parsed.kind !== "named" && parsed.kind !== "default") return style.inverse;
	return inColor(style, reduceColor(parsed, level), isBackground);
}

function inColor(style: ChalkInstance, color: Color, isBackground: boolean): ChalkInstance {
	switch (color.kind) {
		case "default":
			return style;
		case "named":
			return style[(isBackground ? BACKGROUNDS : FOREGROUNDS)[color.index] ?? "reset"];
		case "indexed":
			return isBackground ? style.bgAnsi256(color.index) : style.ansi256(color.index);
		case "rgb":
			return isBackground ? style.bgRgb(...color.rgb) : style.rgb(...color.rgb);
	}
}

/** chalk's names of the 16 colors, by number. */
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
