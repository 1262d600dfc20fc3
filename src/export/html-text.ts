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

/** Entities of visible characters that occur in prose. */
const KEPT =
	"amp|lt|gt|quot|apos|nbsp|copy|reg|trade|deg|plusmn|middot|times|divide|laquo|raquo|euro|[nm]dash|hellip|bull|[lr]arr";
const UNKEPT = new RegExp(`[<>"']|&(?!(?:${KEPT});)`, "g");
const NUMBER = /&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi;

/** Like `escapeHtml`, but keeps entities such as `&lt;`, for text from Markdown. Those of invisible characters are shown. */
export function escapeKeepingEntities(text: string): string {
	const decoded = text.replace(NUMBER, (written, hex?: string, decimal?: string) => {
		const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
		return code <= 0x10ffff ? String.fromCodePoint(code) : written;
	});
	return cleanText(decoded).replace(UNKEPT, (character) => ENTITIES[character] ?? character);
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
