import { randomBytes } from "node:crypto";
import { PiError } from "../errors.js";
import { isMessageEntry, isSessionHeader, type SessionEntry } from "../log/entry.js";
import { atomicWriteFile } from "../util/fs.js";
import { collectResults, type DrawTool, entryHtml } from "./html-entries.js";
import { STYLE } from "./html-style.js";
import { escapeHtml } from "./html-text.js";

/** Contents of an exported page. */
export interface ExportHtmlOptions {
	/** All entries of a session; index 0 is the header. */
	entries: readonly SessionEntry[];
	/** Entries to mark as not in the context. */
	context?: { readonly hidden: readonly { entryIndex: number; by: { kind: string; hook?: string } }[] };
	title: string;
	/** How a hook draws a call of its tool; null for other tools. */
	drawTool?: DrawTool;
}

/**
 * Writes a session as one HTML file, readable only by this user because it may contain secrets.
 * @throws PiError `export_failed`
 */
export async function exportToFile(path: string, options: ExportHtmlOptions): Promise<void> {
	try {
		await atomicWriteFile(path, exportHtml(options), { mode: 0o600 });
	} catch (cause) {
		throw new PiError("export_failed", `Cannot write ${path}`, { cause, hint: "choose another file" });
	}
}

/**
 * Renders a session as one self-contained HTML page: no scripts, no requests, images included. All content of the session
 * is escaped; as a second defense, a content security policy allows only the page's own style.
 */
export function exportHtml({ entries, context, title, drawTool = () => null }: ExportHtmlOptions): string {
	const nonce = randomBytes(16).toString("base64");
	const policy = `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'`;
	const results = collectResults(entries);
	const hidden = new Map(context?.hidden.map(({ entryIndex, by }) => [entryIndex, by]));
	const body = entries.map((entry, index) => {
		const html = entryHtml(entry, results, drawTool);
		if (html === "") return "";
		const by = hidden.get(index);
		const hiddenNote = by ? `<p class="note">not in the context: hidden by ${escapeHtml(by.hook ?? by.kind)}</p>` : "";
		return `<section id="entry-${index}"${by ? ' class="hidden"' : ""}><a class="index" href="#entry-${index}">${index}</a>${html}${hiddenNote}</section>`;
	});
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="note">${escapeHtml(describeSession(entries))}</p>
${body.filter(Boolean).join("\n")}
</main>
</body>
</html>
`;
}

function describeSession(entries: readonly SessionEntry[]): string {
	const [header] = entries;
	const models = new Set<string>();
	let messages = 0;
	for (const entry of entries) {
		if (!isMessageEntry(entry)) continue;
		messages++;
		if (entry.message.role === "assistant") models.add(`${entry.message.provider}/${entry.message.model}`);
	}
	const began = isSessionHeader(header) ? [`started ${header.timestamp}`, `in ${header.cwd}`, `id ${header.id}`] : [];
	return [...began, `${messages} messages`, ...models].join(" · ");
}
