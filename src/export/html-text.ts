import { stripAll } from "../util/sanitize.js";

/** Types of images that browsers show and that can hold no script. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const ENTITIES: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

/** Text for element content and quoted attributes. Control characters and bidi overrides are shown, not kept. */
export function escapeHtml(text: string): string {
	return cleanText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** As `escapeHtml`, for text of markdown, where `&lt;` means a character. */
export function escapeKeepingEntities(text: string): string {
	return cleanText(text).replace(/[<>"']|&(?!#?\w{1,31};)/g, (character) => ENTITIES[character] ?? character);
}

/** The address of a link, or null when it is not http, https or mailto. */
export function safeUrl(href: string): string | null {
	try {
		const url = new URL(href);
		return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
	} catch {
		return null; // relative: it leads nowhere from an exported file
	}
}

/** An image as part of the page; a note in its place when it is none that can be shown safely. */
export function imageHtml({ data, mimeType }: { data: string; mimeType: string }): string {
	if (!IMAGE_TYPES.has(mimeType) || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) {
		return `<p class="note">an image of type ${escapeHtml(mimeType)} that is not shown</p>`;
	}
	return `<img alt="" src="data:${mimeType};base64,${data.replace(/\s+/g, "")}">`;
}

function cleanText(text: string): string {
	return stripAll(text.toWellFormed(), { maxLineLength: Number.MAX_SAFE_INTEGER });
}
