import type { Hunk, HunkLine } from "../util/hunks.js";
import type { ReviewComment, ReviewedChanges, ReviewedFile } from "./review.js";

const SIGNS: Readonly<Record<HunkLine["kind"], string>> = { added: "+", removed: "-", context: " " };

/** What happened to a file: `created`, `+3 −1`, and whether something else changed it. */
export function describeChange({ before, now, nowText, beforeText, hunks, isShared }: ReviewedFile): string[] {
	const state = now === null ? ["deleted"] : before === null ? ["created"] : [];
	const lines = hunks.flatMap((hunk) => hunk.lines);
	const count = (kind: HunkLine["kind"]) => lines.filter((line) => line.kind === kind).length;
	const isText = beforeText !== null && nowText !== null;
	return [
		...state,
		isText ? `+${count("added")} −${count("removed")}` : "not text",
		...(isShared ? ["something else changed it, too"] : []),
	];
}

/** The lines of a hunk in the file: `line 3`, `lines 3–9`, or `line 3, where lines were removed`. */
export function describeHunk({ newStart, newEnd }: Hunk): string {
	if (newEnd <= newStart) return `line ${newStart + 1}, where lines were removed`;
	return newEnd - newStart === 1 ? `line ${newEnd}` : `lines ${newStart + 1}–${newEnd}`;
}

/** All changes as lines of text. @param shownPath a path as the user knows it */
export function describeChanges(
	{ files, unknownCommands }: ReviewedChanges,
	shownPath: (path: string) => string,
): string[] {
	const unknown = unknownCommands === null ? [] : [`Changes of shell commands are unknown: ${unknownCommands}`];
	if (files.length === 0) return ["Nothing is left to review.", ...unknown];
	const lines = files.flatMap((file) => [
		`${shownPath(file.path)}  ${describeChange(file).join(" · ")}`,
		...(file.problem === null ? [] : [`  cannot be reverted: ${file.problem}`]),
		...file.hunks.flatMap((hunk) => [`  ${describeHunk(hunk)}:`, ...diffLines(hunk, "  ")]),
	]);
	return [...lines, ...unknown];
}

/** The prompt that comments make: each with its file, its lines and what changed there. */
export function promptOfComments(comments: readonly ReviewComment[], shownPath: (path: string) => string): string {
	return comments
		.map(({ file, hunk, text }) => {
			if (hunk === null) return `${shownPath(file.path)}: ${text}`;
			return [`${shownPath(file.path)}, ${describeHunk(hunk)}:`, "```diff", ...diffLines(hunk), "```", text].join("\n");
		})
		.join("\n\n");
}

function diffLines({ lines }: Hunk, indent = ""): string[] {
	return lines.map(({ kind, text }) => `${indent}${SIGNS[kind]}${text}`);
}
