import type { EntryTheme } from "./types.js";

/** The text styles of `EntryTheme`, with their descriptions, in the order of the documentation. */
export const THEME_STYLES = {
	accent: "active elements",
	dim: "secondary text that may be overlooked",
	muted: "secondary text that should be read",
	bold: "emphasized text",
	italic: "text in italics",
	success: "success messages",
	warning: "warnings",
	error: "errors",
	added: "added lines of a diff",
	removed: "removed lines of a diff",
	addedWord: "new words in an added line",
	removedWord: "deleted words in a removed line",
	gutterIn: "entries that are in the context: the gutter next to them, which this color fills, and their sign in lists",
	gutterOut: "the sign of entries that are not in the context, in lists",
	gutterSummary: "the gutter next to a summary",
	userText: "messages of the user",
	thinking: "thinking of the model",
	bashBorder: "the border of the editor for a `!` command",
} as const satisfies Record<ThemeStyle, string>;

/** The name of a text style of `EntryTheme`. */
export type ThemeStyle = Exclude<keyof EntryTheme, "markdown" | "selectList" | "editor">;

const same = (text: string): string => text;
const SELECT_LIST: EntryTheme["selectList"] = {
	selectedPrefix: same,
	selectedText: same,
	description: same,
	scrollInfo: same,
	noMatch: same,
};

/** The theme of modes without a screen: text without styles. */
export const PLAIN_THEME: EntryTheme = Object.freeze({
	accent: same,
	dim: same,
	muted: same,
	bold: same,
	italic: same,
	success: same,
	warning: same,
	error: same,
	added: same,
	removed: same,
	addedWord: same,
	removedWord: same,
	gutterIn: same,
	gutterOut: same,
	gutterSummary: same,
	userText: same,
	thinking: same,
	bashBorder: same,
	markdown: {
		heading: same,
		link: same,
		linkUrl: same,
		code: same,
		codeBlock: same,
		codeBlockBorder: same,
		quote: same,
		quoteBorder: same,
		hr: same,
		listBullet: same,
		bold: same,
		italic: same,
		strikethrough: same,
		underline: same,
	},
	selectList: SELECT_LIST,
	editor: { borderColor: same, selectList: SELECT_LIST },
});
