/** Everything on the screen that a theme colours, and what it is. The order is that of the documentation. */
export const THEME_ROLES = {
	accent: "what can be acted on: the selected row, matched letters, the spinner",
	dim: "secondary, may be missed without loss",
	muted: "secondary, but meant to be read",
	success: "what went well",
	warning: "what asks for attention",
	error: "what failed",
	userText: "what you said",
	thinking: "what the model thought",
	added: "added lines of a diff",
	removed: "removed lines of a diff",
	addedWord: "the words of an added line that are new; its background most of all",
	removedWord: "the words of a removed line that are gone",
	gutterIn: "the gutter beside what the model sees",
	gutterOut: "the gutter beside what it does not see any more",
	gutterSummary: "the gutter beside a summary",
	borderOff: "the editor's border while the model does not think",
	borderMinimal: "the editor's border at thinking level minimal",
	borderLow: "the same, level low",
	borderMedium: "level medium",
	borderHigh: "level high",
	borderXhigh: "level xhigh",
	borderBash: "the editor's border around a `!` command",
	heading: "headings of markdown",
	link: "the text of a link",
	linkUrl: "the address behind it",
	code: "code within a line",
	codeBorder: "the language above a block of code",
	quote: "quotations",
	quoteBorder: "the bar beside them",
	rule: "horizontal rules",
	listBullet: "bullets and numbers of lists",
	codeKeyword: "keywords in a block of code",
	codeString: "texts in it",
	codeNumber: "numbers",
	codeComment: "comments",
	codeTitle: "names of functions and sections",
	codeType: "types and attributes",
} as const;

/** Something that a theme colours. */
export type ThemeRole = keyof typeof THEME_ROLES;

/** Attributes that a style may turn on. */
export const STYLE_ATTRIBUTES = ["bold", "dim", "italic", "underline", "inverse"] as const;

/** A way of drawing letters that is no colour. */
export type StyleAttribute = (typeof STYLE_ATTRIBUTES)[number];

/**
 * A colour as themes write it: `#rrggbb`, a number of the 256 colour palette, one of the terminal's sixteen by name, or
 * `default` for the terminal's own.
 */
export type ColourValue = string | number;

/** How one role is drawn. */
export type StyleSpec = { color?: ColourValue; background?: ColourValue } & { [A in StyleAttribute]?: boolean };

/** How every role is drawn. */
export type ThemeStyles = Readonly<Record<ThemeRole, StyleSpec>>;

/** The roles by name, in order. */
export const ROLE_NAMES = Object.keys(THEME_ROLES).filter(isRole);

/** Whether a theme can colour something of this name. */
export function isRole(name: string): name is ThemeRole {
	return Object.hasOwn(THEME_ROLES, name);
}
