import { decodeEntities } from "../util/entities.js";
import { addressLink, type InlineToken, safeLink } from "./links.js";
import type { Style, Theme } from "./theme.js";

/** The style of the text around a token. */
export interface AmbientStyle {
	/** Applied to text without a style of its own. */
	readonly style: Style;
	/** The codes that turn the style on, written again after a style in the text has ended. */
	readonly codes: string;
}

/** @returns a style as the surroundings of text */
export function ambientStyle(style: Style): AmbientStyle {
	return { style, codes: style("\x00").split("\x00", 1)[0] ?? "" };
}

/** Draws the text of a block. @returns styled text; may contain line ends */
export function drawInline(tokens: readonly InlineToken[], theme: Theme, around: AmbientStyle): string {
	let drawn = "";
	for (const token of tokens) for (const safe of safeLink(token)) drawn += drawToken(safe, theme, around);
	// After the last style no text follows.
	while (around.codes && drawn.endsWith(around.codes)) drawn = drawn.slice(0, -around.codes.length);
	return drawn;
}

function drawToken(token: InlineToken, theme: Theme, around: AmbientStyle): string {
	const { bold, italic, strikethrough, code } = theme.markdown;
	const text = typeof token.text === "string" ? token.text : "";
	const inner = Array.isArray(token.tokens) ? token.tokens.filter(isToken) : [];
	const drawInner = () => drawInline(inner, theme, around);
	switch (token.type) {
		case "strong":
			return bold(drawInner()) + around.codes;
		case "em":
			return italic(drawInner()) + around.codes;
		case "del":
			return strikethrough(drawInner()) + around.codes;
		case "codespan":
			return code(text) + around.codes;
		case "link":
			return drawLink(token, drawInner(), theme) + around.codes;
		case "br":
			return "\n";
		case "checkbox":
			// The list draws it.
			return "";
		case "html":
			return styledLines(typeof token.raw === "string" ? token.raw : text, around.style);
		case "text":
		case "paragraph":
			return inner.length > 0 ? drawInner() : styledLines(decodeEntities(text), around.style);
		default:
			return styledLines(text, around.style);
	}
}

/** A link that the terminal does not make clickable is followed by its address, unless that is its text. */
function drawLink({ href, text }: InlineToken, label: string, theme: Theme): string {
	const { link, underline, linkUrl } = theme.markdown;
	const address = typeof href === "string" ? href : "";
	const styled = link(underline(label));
	const clickable = addressLink(styled, address);
	if (clickable !== styled || text === address || text === address.replace(/^mailto:/, "")) return clickable;
	return styled + linkUrl(` (${address})`);
}

function styledLines(text: string, style: Style): string {
	return text
		.split("\n")
		.map((line) => style(line))
		.join("\n");
}

function isToken(value: unknown): value is InlineToken {
	return typeof value === "object" && value !== null && "type" in value;
}
