import { setCapabilities } from "@mariozechner/pi-tui";

/** What links may lead to; all else, such as `javascript:` or another program's scheme, is shown as text. */
const SCHEME = /^(?:https?:\/\/|mailto:|file:\/\/)/i;
/** Longer addresses are no links: terminals drop them, and nobody can read where they lead. UTF-16 units. */
const MAX_LENGTH = 2_000;
const PRINTABLE = /^[\x21-\x7e]+$/;
/** A text that a reader takes for an address. */
const LOOKS_LIKE_ADDRESS = /^\s*(?:[a-z][a-z\d+.-]*:\/\/|www\.)\S/i;
const LINK_SEQUENCE = /\x1b\]8;[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\)/g;

let shown = false;
showLinks(false);

/**
 * Says whether markdown is drawn with links that can be clicked. Off until then: pi-tui would guess from the environment.
 * @param images the protocol for which pi-tui asks the terminal how large a cell is
 */
export function showLinks(links: boolean, images: "kitty" | "iterm2" | null = null): void {
	shown = links;
	setCapabilities({ hyperlinks: links, images, trueColor: false });
}

/** An address as it may stand in a link: ASCII without controls; null for what must not be one. */
export function linkAddress(address: string): string | null {
	if (address.length > MAX_LENGTH || !SCHEME.test(address) || !URL.canParse(address)) return null;
	const { href } = new URL(address);
	return href.length <= MAX_LENGTH && PRINTABLE.test(href) ? href : null;
}

/** A piece of markdown within a line, as the parser gives it. */
export interface InlineToken {
	readonly type: string;
	readonly text?: unknown;
	readonly href?: unknown;
	readonly tokens?: unknown;
}

/**
 * A link as it may be drawn. Where links can be clicked the address does not show, so that one which must not be
 * opened, and one whose text names another address, have it written behind them.
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

/** A line without the links of our own, their text left. */
export function withoutLinks(line: string): string {
	return line.includes("\x1b]8;") ? line.replace(LINK_SEQUENCE, "") : line;
}

function isSame(text: string, address: string): boolean {
	return [text, `http://${text}`, `https://${text}`].some((candidate) => linkAddress(candidate) === address);
}
