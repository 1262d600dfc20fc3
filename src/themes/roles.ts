/** The parts of the screen that a theme can style, with their descriptions, in the order of the documentation. */
export const THEME_ROLES = {
	accent: "active elements: the selected row, matched letters, the spinner",
	dim: "secondary text that may be overlooked",
	muted: "secondary text that should be read",
	success: "success messages",
	warning: "warnings",
	error: "errors",
	userText: "your messages",
	userBand: "the band behind your messages; usually a background",
	thinking: "the thinking of the model",
	added: "added lines of a diff",
	removed: "removed lines of a diff",
	addedWord: "new words in an added line; usually a background",
	removedWord: "deleted words in a removed line; usually a background",
	gutterIn: "entries that are in the context: the gutter next to them, which this color fills, and their sign in lists",
	gutterOut: "the sign of entries that are not in the context, in lists",
	gutterSummary: "the gutter next to a summary",
	borderOff: "the border of the editor at thinking level off",
	borderMinimal: "the border of the editor at thinking level minimal",
	borderLow: "the border of the editor at thinking level low",
	borderMedium: "the border of the editor at thinking level medium",
	borderHigh: "the border of the editor at thinking level high",
	borderXhigh: "the border of the editor at thinking level xhigh",
	borderMax: "the border of the editor at thinking level max",
	borderBash: "the border of the editor for a `!` command",
	heading: "headings in Markdown",
	link: "the text of a link",
	linkUrl: "the address of a link",
	code: "inline code",
	codeBorder: "the language above a code block",
	quote: "quotations",
	quoteBorder: "the bar next to a quotation",
	rule: "horizontal rules",
	listBullet: "bullets and numbers of lists",
	codeKeyword: "keywords in a code block",
	codeString: "strings in a code block",
	codeNumber: "numbers in a code block",
	codeComment: "comments in a code block",
	codeTitle: "names of functions and sections in a code block",
	codeType: "types and attributes in a code block",
} as const;

/** A part of the screen that a theme can style. */
export type ThemeRole = keyof typeof THEME_ROLES;

/** Attributes that a style may turn on. */
export const STYLE_ATTRIBUTES = ["bold", "dim", "italic", "underline", "inverse"] as const;

/** A text attribute. */
export type StyleAttribute = (typeof STYLE_ATTRIBUTES)[number];

/**
 * A color in a theme: `#rrggbb`, an index of the 256-color palette, the name of one of the terminal's sixteen colors, or
 * `default` for the terminal's default color.
 */
export type ColorValue = string | number;

/** The style of one role. */
export type StyleSpec = { color?: ColorValue; background?: ColorValue } & { [A in StyleAttribute]?: boolean };

/** The styles of all roles. */
export type ThemeStyles = Readonly<Record<ThemeRole, StyleSpec>>;

/** The names of all roles, in order. */
export const ROLE_NAMES = Object.keys(THEME_ROLES).filter(isRole);

/** True for the name of a role. */
export function isRole(name: string): name is ThemeRole {
	return Object.hasOwn(THEME_ROLES, name);
}
