import { hyperlink, setCapabilities } from "@mariozechner/pi-tui";

/** Allowed link targets; all others, such as `javascript:` or another program's scheme, are shown as text. */
const SCHEME = /^(?:https?:\/\/|mailto:|file:\/\/)/i;
/** Longer addresses are shown as text: terminals drop them, and nobody can check them. UTF-16 units. */
const MAX_LENGTH = 2_000;
const PRINTABLE = /^[\x21-\x7e]+$/;
/** Link text that a reader would mistake for the address. */
const LOOKS_LIKE_ADDRESS = /^\s*(?:[a-z][a-z\d+.-]*:\/\/|www\.)\S/i;
const LINK_SEQUENCE = /\x1b\]8;[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\)/g;

let shown = false;
showLinks(false);

/**
 * Turns clickable links in Markdown on or off. They are off by default, so that pi-tui does not guess from the environment.
 * @param images the image protocol; with one, pi-tui asks the terminal for the size of a cell
 */
export function showLinks(links: boolean, images: "kitty" | "iterm2" | null = null): void {
	shown = links;
	setCapabilities({ hyperlinks: links, images, trueColor: false });
}

/** @returns the address in ASCII without control characters; null when it must not be a link */
export function linkAddress(address: string): string | null {
	if (address.length > MAX_LENGTH || !SCHEME.test(address) || !URL.canParse(address)) return null;
	const { href } = new URL(address);
	return href.length <= MAX_LENGTH && PRINTABLE.test(href) ? href : null;
}

/** Makes text that shows an address clickable, if the address may be a link and the terminal supports links. */
export function addressLink(text: string, address: string): string {
	const target = shown ? linkAddress(address) : null;
	return target === null ? text : hyperlink(text, target);
}

/** An inline token of the Markdown parser. */
export interface InlineToken {
	readonly type: string;
	readonly text?: unknown;
	readonly raw?: unknown;
	readonly href?: unknown;
	readonly tokens?: unknown;
}

/**
 * Makes a link safe to draw. A clickable link hides its address, so the address is written after links that must not be
 * opened and after links whose text looks like another address.
 */
export function safeLink(token: InlineToken): readonly InlineToken[] {
	if (!shown || token.type !== "link" || typeof token.href !== "string") return [token];
	const text = typeof token.text === "string" ? token.text : "";
	const address = linkAddress(token.href);
	const written = { type: "text", text: ` (${token.href})` };
	if (address === null) {
		const plain = { type: "text", text, tokens: token.tokens };
		return text === token.href ? [plain] : [plain, written];
	}
	const link = { ...token, href: address };
	return LOOKS_LIKE_ADDRESS.test(text) && !isSame(text.trim(), address) ? [link, written] : [link];
}

/** Removes link sequences from a line but keeps their text. */
export function withoutLinks(line: string): string {
	return line.includes("\x1b]8;") ? line.replace(LINK_SEQUENCE, "") : line;
}

function isSame(text: string, address: string): boolean {
	return [text, `http://${text}`, `https://${text}`].some((candidate) => linkAddress(candidate) === address);
}
