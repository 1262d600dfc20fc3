import { stripAll } from "../util/sanitize.js";

/** Image types that browsers display and that cannot contain scripts. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const ENTITIES: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

/** Escapes text for element content and quoted attributes. Makes control characters and bidi overrides visible. */
export function escapeHtml(text: string): string {
	return cleanText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Like `escapeHtml`, but keeps entities such as `&lt;`, for text from Markdown. */
export function escapeKeepingEntities(text: string): string {
	return cleanText(text).replace(/[<>"']|&(?!#?\w{1,31};)/g, (character) => ENTITIES[character] ?? character);
}

/** Embeds an image in the page; returns a note if the image is not safe to show. */
export function imageHtml({ data, mimeType }: { data: string; mimeType: string }): string {
	if (!IMAGE_TYPES.has(mimeType) || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) {
		return `<p class="note">Image of type ${escapeHtml(mimeType)} omitted</p>`;
	}
	return `<img alt="" src="data:${mimeType};base64,${data.replace(/\s+/g, "")}">`;
}

function cleanText(text: string): string {
	return stripAll(text.toWellFormed());
}
