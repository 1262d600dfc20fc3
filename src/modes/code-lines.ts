import type { ProjectFile } from "../config/trust.js";
import { revealInvisible } from "../util/reveal.js";

/** How a line of code is shown: `heading` names the file it belongs to. */
export type CodeLineKind = "heading" | "code" | "added" | "removed" | "note";

/** A line as it stands on the screen; nothing in it is invisible or left out. */
export interface CodeLine {
	kind: CodeLineKind;
	/** Number of the line, sign of a change; empty where a long line goes on. */
	mark: string;
	text: string;
}

/** What changed in a file since it was trusted. */
export interface CodeChange {
	added: number;
	removed: number;
	lines: CodeLine[];
}

/** Longer lines go on in the next: wrapping costs the square of a line's length. UTF-16 units. */
const MAX_PIECE = 400;
/** Longest search for the shortest difference, ms; after it all of the file counts as changed. */
const MAX_DIFF_MS = 1000;
const CONTEXT_LINES = 3;

/** A whole file, its lines numbered from 1. */
export function codeLines(text: string): CodeLine[] {
	const lines = text.replace(/\n$/, "").split("\n");
	const width = String(lines.length).length;
	return lines.flatMap((line, index) => pieces("code", String(index + 1).padStart(width), line));
}

/**
 * The lines of a changed file that differ from the trusted text, with those around them; undefined when the file is new
 * or the trusted text is gone.
 */
export async function compareWithTrusted({ bytes, trustedText }: ProjectFile): Promise<CodeChange | undefined> {
	if (trustedText === undefined) return undefined;
	const now = bytes.toString("utf8");
	const { structuredPatch } = await import("diff");
	const patch = structuredPatch("", "", trustedText, now, "", "", { context: CONTEXT_LINES, timeout: MAX_DIFF_MS });
	if (!patch) {
		const lines = codeLines(now);
		return { added: now.split("\n").length, removed: trustedText.split("\n").length, lines };
	}
	let added = 0;
	let removed = 0;
	const lines = patch.hunks.flatMap((hunk) => {
		let number = hunk.newStart;
		const shown = hunk.lines.flatMap((line) => {
			const text = line.slice(1);
			if (line.startsWith("+")) {
				added++;
				return pieces("added", `+${number++}`, text);
			}
			if (line.startsWith("-")) {
				removed++;
				return pieces("removed", "-", text);
			}
			return line.startsWith("\\") ? pieces("note", "", text) : pieces("code", ` ${number++}`, text);
		});
		return [{ kind: "note" as const, mark: "", text: "…" }, ...shown];
	});
	return { added, removed, lines };
}

function pieces(kind: CodeLineKind, mark: string, line: string): CodeLine[] {
	const shown = revealInvisible(line, { maxLineLength: Number.MAX_SAFE_INTEGER }).replace(/\t/g, "   ");
	const parts = shown.match(PIECE) ?? [""];
	return parts.map((text, index) => ({ kind, mark: index === 0 ? mark : "", text }));
}

const PIECE = new RegExp(`[^]{1,${MAX_PIECE}}`, "gu");
