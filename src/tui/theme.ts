import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@mariozechner/pi-tui";
import chalk, { Chalk, type ChalkInstance } from "chalk";
import { createHighlighter } from "./highlight.js";

/** Wraps text in one style. Styles nest: an inner style gives back what the outer one set. */
export type Style = (text: string) => string;

/** The thinking levels that the editor's border can show. */
export type ThinkingShade = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** The names `createTheme` knows. `plain` has no colour at all, as `NO_COLOR` asks. */
export type ThemeName = "dark" | "light" | "plain";

/** Every style of the screen, by what it means. */
export interface Theme {
	readonly name: ThemeName;
	/** What can be acted on. */
	accent: Style;
	/** Secondary: may be missed without loss. */
	dim: Style;
	/** Secondary, but meant to be read. */
	muted: Style;
	bold: Style;
	italic: Style;
	success: Style;
	warning: Style;
	error: Style;
	/** Lines of a diff, and the words in them that changed. */
	added: Style;
	removed: Style;
	addedWord: Style;
	removedWord: Style;
	/** The gutter: `▎` in the context, `┆` not any more, `◆` a summary. */
	gutterIn: Style;
	gutterOut: Style;
	gutterSummary: Style;
	userText: Style;
	thinking: Style;
	/** The editor's border, by thinking level. */
	thinkingBorder(level: ThinkingShade): Style;
	/** The editor's border while it holds a shell command. */
	bashBorder: Style;
	markdown: MarkdownTheme;
	selectList: SelectListTheme;
	editor: EditorTheme;
}

/** The few colours in which a dark and a light screen differ, as xterm 256 colour numbers. */
interface Palette {
	muted: number;
	addedWord: number;
	removedWord: number;
	gutter: number;
	minimal: number;
}

const PALETTES: Record<Exclude<ThemeName, "plain">, Palette> = {
	dark: { muted: 246, addedWord: 22, removedWord: 52, gutter: 67, minimal: 66 },
	light: { muted: 241, addedWord: 194, removedWord: 224, gutter: 67, minimal: 109 },
};

/**
 * Builds a theme. Most colours are the terminal's own sixteen, so that they fit the user's scheme; the others come
 * down to those sixteen on terminals that have no more.
 */
export function createTheme(name: ThemeName): Theme {
	const c = name === "plain" ? new Chalk({ level: 0 }) : chalk;
	const palette = PALETTES[name === "plain" ? "dark" : name];
	const muted = c.ansi256(palette.muted);
	const borders: Record<ThinkingShade, Style> = {
		off: c.dim,
		minimal: c.ansi256(palette.minimal),
		low: c.blue,
		medium: c.cyan,
		high: c.magenta,
		xhigh: c.red,
	};
	const selectList: SelectListTheme = {
		selectedPrefix: c.cyan,
		selectedText: c.cyan,
		description: c.dim,
		scrollInfo: c.dim,
		noMatch: c.dim,
	};
	return {
		name,
		accent: c.cyan,
		dim: c.dim,
		muted,
		bold: c.bold,
		italic: c.italic,
		success: c.green,
		warning: c.yellow,
		error: c.red,
		added: c.green,
		removed: c.red,
		addedWord: name === "plain" ? c.bold : c.bgAnsi256(palette.addedWord),
		removedWord: name === "plain" ? c.bold : c.bgAnsi256(palette.removedWord),
		gutterIn: c.ansi256(palette.gutter),
		gutterOut: c.dim,
		gutterSummary: c.magenta,
		userText: c.bold,
		thinking: (text) => c.dim(c.italic(text)),
		thinkingBorder: (level) => borders[level],
		bashBorder: c.yellow,
		markdown: markdownTheme(c, muted),
		selectList,
		editor: { borderColor: borders.off, selectList },
	};
}

function markdownTheme(c: ChalkInstance, muted: Style): MarkdownTheme {
	return {
		heading: c.yellow,
		link: c.blue,
		linkUrl: c.dim,
		code: c.cyan,
		codeBlock: (text) => text,
		codeBlockBorder: c.dim,
		quote: muted,
		quoteBorder: c.dim,
		hr: c.dim,
		// pi-tui tells nested list lines by a cyan bullet: any other colour indents them twice.
		listBullet: c.cyan,
		bold: c.bold,
		italic: c.italic,
		strikethrough: c.strikethrough,
		underline: c.underline,
		codeBlockIndent: "  ",
		highlightCode: createHighlighter({
			keyword: c.magenta,
			string: c.green,
			number: c.yellow,
			comment: c.dim,
			title: c.blue,
			type: c.cyan,
			added: c.green,
			removed: c.red,
		}),
	};
}
