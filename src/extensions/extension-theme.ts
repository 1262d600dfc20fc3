import type { EntryTheme } from "../hooks/types.js";

/** Names of colors, and the style of pi that has the same purpose. Other names are text without a style. */
const STYLES: Readonly<Record<string, Exclude<keyof EntryTheme, "markdown" | "selectList" | "editor">>> = {
	accent: "accent",
	border: "dim",
	borderAccent: "accent",
	borderMuted: "dim",
	success: "success",
	error: "error",
	warning: "warning",
	muted: "muted",
	dim: "dim",
	thinkingText: "thinking",
	userMessageText: "userText",
	customMessageLabel: "accent",
	toolTitle: "bold",
	toolOutput: "muted",
	toolDiffAdded: "added",
	toolDiffRemoved: "removed",
	toolDiffContext: "dim",
	mdHeading: "accent",
	mdLink: "accent",
	mdLinkUrl: "dim",
	mdCode: "accent",
	mdCodeBlockBorder: "dim",
	mdQuote: "muted",
	mdQuoteBorder: "dim",
	mdHr: "dim",
	mdListBullet: "accent",
	syntaxComment: "dim",
	syntaxKeyword: "accent",
	syntaxString: "success",
	syntaxNumber: "warning",
	searchMatchText: "accent",
	scrollbarThumb: "muted",
	scrollbarTrack: "dim",
	thinkingOff: "dim",
	thinkingMinimal: "dim",
	thinkingLow: "muted",
	thinkingMedium: "accent",
	thinkingHigh: "accent",
	thinkingXhigh: "accent",
	thinkingMax: "accent",
	bashMode: "bashBorder",
};

/** The theme as extensions use it. Backgrounds are not drawn: styles of pi have none that would fit. */
export interface ExtensionTheme {
	readonly name: string;
	fg(color: string, text: string): string;
	bg(color: string, text: string): string;
	bold(text: string): string;
	italic(text: string): string;
	underline(text: string): string;
	inverse(text: string): string;
	strikethrough(text: string): string;
	/** The sequence that begins a color. */
	getFgAnsi(color: string): string;
	getBgAnsi(color: string): string;
	getColorMode(): "truecolor";
	getThinkingBorderColor(level: string): (text: string) => string;
	getBashModeBorderColor(): (text: string) => string;
}

/** @param theme of pi; read at each use, because the user can change it */
export function createExtensionTheme(theme: () => EntryTheme, name = "pi"): ExtensionTheme {
	const fg = (color: string, text: string) => {
		const style = Object.hasOwn(STYLES, color) ? STYLES[color] : undefined;
		return style ? theme()[style](String(text)) : String(text);
	};
	return {
		name,
		fg,
		bg: (_, text) => String(text),
		bold: (text) => theme().bold(String(text)),
		italic: (text) => theme().italic(String(text)),
		underline: (text) => theme().markdown.underline(String(text)),
		// Without styles, as where the output has no colors, bold changes nothing either.
		inverse: (text) => (theme().bold("x") === "x" ? String(text) : `\x1b[7m${text}\x1b[27m`),
		strikethrough: (text) => theme().markdown.strikethrough(String(text)),
		getFgAnsi: (color) => fg(color, "\0").split("\0")[0] ?? "",
		getBgAnsi: () => "",
		getColorMode: () => "truecolor",
		getThinkingBorderColor: () => (text) => theme().editor.borderColor(text),
		getBashModeBorderColor: () => (text) => theme().bashBorder(text),
	};
}
