import { changedPairs, type DiffLine, parseDiff } from "../util/read-diff.js";
import { pieces, wordDiff } from "../util/word-diff.js";
import { escapeHtml } from "./html-text.js";

/** Maximum length of a line whose changed words are marked. */
const MAX_MARKED = 1000;
const SIGNS = { added: "+", removed: "−", context: " ", gap: " " } as const;

/** Renders the diff of an edit as in the terminal: numbers, signs, and changed words once `loadWordDiff` has finished. */
export function diffHtml(diff: string): string {
	const lines = parseDiff(diff);
	const words = wordDiff();
	const partners = words ? changedPairs(lines) : new Map<DiffLine, DiffLine>();
	const digits = lines.reduce((most, { number }) => Math.max(most, number.length), 0);
	const rows = lines.map((line) => {
		if (line.kind === "gap") return `<span class="gap">${" ".repeat(digits)}⋮\n</span>`;
		const start = `<i>${line.number.padStart(digits)}</i> ${SIGNS[line.kind]} `;
		const partner = partners.get(line);
		const isShort = Math.max(line.text.length, partner?.text.length ?? 0) <= MAX_MARKED;
		const marked =
			partner && words && isShort && line.kind !== "context" ? pieces(line.text, partner.text, line.kind, words) : null;
		const text = marked
			? marked.map((piece) => (piece.changed ? `<b>${escapeHtml(piece.text)}</b>` : escapeHtml(piece.text))).join("")
			: escapeHtml(line.text);
		return `<span class="${line.kind}">${start}${text}\n</span>`;
	});
	return `<pre class="diff">${rows.join("")}</pre>`;
}
