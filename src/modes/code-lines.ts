import type { ProjectFile, ProjectSet } from "../trust/store.js";
import { revealInvisible } from "../util/reveal.js";

/** Kind of a displayed line; `heading` is the name of a file. */
export type CodeLineKind = "heading" | "code" | "added" | "removed" | "note";

/** A displayed line of code, complete and with invisible characters revealed. */
export interface CodeLine {
	kind: CodeLineKind;
	/** Line number and sign of a change; empty for the continuation of a long line. */
	mark: string;
	text: string;
}

/** Changes of a file since it was trusted. */
export interface CodeChange {
	added: number;
	removed: number;
	lines: CodeLine[];
}

/** Longer lines are split, because the cost of wrapping is quadratic in the length. UTF-16 units. */
const MAX_PIECE = 400;
/** ms to search for the shortest diff; after that, the complete file counts as changed. */
const MAX_DIFF_MS = 1000;
const CONTEXT_LINES = 3;

/** All lines of a file, numbered from 1. */
export function codeLines(text: string): CodeLine[] {
	const lines = text.replace(/\n$/, "").split("\n");
	const width = String(lines.length).length;
	return lines.flatMap((line, index) => pieces("code", String(index + 1).padStart(width), line));
}

/**
 * The changed lines of a file with the lines around them; undefined when the file is new or its trusted text is not
 * stored.
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
	const shown = revealInvisible(line).replace(/\t/g, "   ");
	const parts = shown.match(PIECE) ?? [""];
	return parts.map((text, index) => ({ kind, mark: index === 0 ? mark : "", text }));
}

const PIECE = new RegExp(`[^]{1,${MAX_PIECE}}`, "gu");

/** False for a link, whose target the question shows. */
export function isPlainFile({ rel, realPath }: Pick<ProjectFile, "rel" | "realPath">, set: ProjectSet): boolean {
	const path = realPath.replaceAll("\\", "/");
	return set.package ? path.endsWith(`/${rel}`) : path === `${set.root.replaceAll("\\", "/")}/${rel}`;
}
