import { decodeEntities } from "../util/entities.js";
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

/** HTML of text in Markdown, whose entities mean characters. */
export function markdownTextHtml(text: string): string {
	return escapeHtml(decodeEntities(text));
}

/** Embeds an image in the page; returns a note if the image is not safe to show. */
export function imageHtml({ data, mimeType }: { data: string; mimeType: string }): string {
	const base64 = data.replace(/\s+/g, "");
	if (!IMAGE_TYPES.has(mimeType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
		return `<p class="note">Image of type ${escapeHtml(mimeType)} omitted</p>`;
	}
	return `<img alt="Image" src="data:${mimeType};base64,${base64}">`;
}

/** Text with control characters and bidi overrides made visible. */
export function cleanText(text: string): string {
	return stripAll(text.toWellFormed());
}

/** Plain text with its line breaks. */
export function plainHtml(text: string): string {
	return `<pre>${escapeHtml(text)}</pre>`;
}

/** A remark of the page about an entry. */
export function noteHtml(text: string): string {
	return `<p class="note">${escapeHtml(text)}</p>`;
}

/** A folded part. @param title HTML @param entry index of the entry that it shows, if that entry has no section */
export function foldHtml(className: string, title: string, body: string, entry?: number): string {
	const number = entry === undefined ? "" : ` data-entry="${entry}"`;
	return `<details class="${className}"${number}><summary>${title}</summary>${body}</details>`;
}
