/** Unchanged lines that are shown on either side of a change. */
const CONTEXT_LINES = 3;
/** Changes with at most this many unchanged lines between them are one hunk. */
const MAX_GAP = 2;
/** Default timeout of the search for the shortest diff, ms. */
const MAX_DIFF_MS = 1000;

/** A line of a hunk without its end, and its number, from 1: of the new text, or of the old one if it was removed. */
export interface HunkLine {
	kind: "added" | "removed" | "context";
	number: number;
	text: string;
}

/** Consecutive lines of two texts that differ: `[oldStart, oldEnd)` of the old one became `[newStart, newEnd)`. From 0. */
export interface Hunk {
	oldStart: number;
	oldEnd: number;
	newStart: number;
	newEnd: number;
	/** What is shown, with unchanged lines around it. */
	lines: readonly HunkLine[];
}

/** Splits a text into lines that keep their ends, so that joining them gives the same text. */
export function splitLines(text: string): string[] {
	return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * The differences of two texts by line, in order; the ends of lines count.
 * @param timeoutMs limit of the search for the shortest diff, which blocks the process; after it, all lines between the common
 * ends are one hunk
 */
export async function findHunks(before: string, after: string, timeoutMs = MAX_DIFF_MS): Promise<Hunk[]> {
	const [old, now] = [splitLines(before), splitLines(after)];
	const shorter = Math.min(old.length, now.length);
	let head = 0;
	while (head < shorter && old[head] === now[head]) head++;
	let tail = 0;
	while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
	const changes = await changesOf(old.slice(head, old.length - tail), now.slice(head, now.length - tail), timeoutMs);
	const hunks: (Omit<Hunk, "lines"> & { lines: HunkLine[] })[] = [];
	let [oldAt, newAt] = [head, head];
	for (const { count, kind } of changes) {
		const [oldEnd, newEnd] = [oldAt + (kind === "added" ? 0 : count), newAt + (kind === "removed" ? 0 : count)];
		if (kind !== "context") {
			let hunk = hunks.at(-1);
			if (hunk && newAt - hunk.newEnd <= MAX_GAP) hunk.lines.push(...shown("context", now, hunk.newEnd, newAt));
			else {
				hunk = { oldStart: oldAt, oldEnd, newStart: newAt, newEnd, lines: [] };
				hunks.push(hunk);
			}
			Object.assign(hunk, { oldEnd, newEnd });
			hunk.lines.push(...(kind === "added" ? shown(kind, now, newAt, newEnd) : shown(kind, old, oldAt, oldEnd)));
		}
		[oldAt, newAt] = [oldEnd, newEnd];
	}
	// An unchanged line is shown once.
	let free = 0;
	for (const [at, hunk] of hunks.entries()) {
		const end = Math.min(hunk.newEnd + CONTEXT_LINES, hunks[at + 1]?.newStart ?? now.length);
		const start = Math.max(free, hunk.newStart - CONTEXT_LINES);
		hunk.lines.unshift(...shown("context", now, start, hunk.newStart));
		hunk.lines.push(...shown("context", now, hunk.newEnd, end));
		free = end;
	}
	return hunks;
}

/** The new text without these of its hunks: their lines are as they were in the old one. */
export function revertHunks(before: string, after: string, hunks: readonly Hunk[]): string {
	const [old, now] = [splitLines(before), splitLines(after)];
	return replaced(now, hunks, ({ newStart, newEnd, oldStart, oldEnd }) => [
		newStart,
		newEnd,
		old.slice(oldStart, oldEnd),
	]);
}

/** The old text with these hunks: their lines are as in the new one. */
export function applyHunks(before: string, after: string, hunks: readonly Hunk[]): string {
	const [old, now] = [splitLines(before), splitLines(after)];
	return replaced(old, hunks, ({ newStart, newEnd, oldStart, oldEnd }) => [
		oldStart,
		oldEnd,
		now.slice(newStart, newEnd),
	]);
}

/** @param of the lines to replace `[from, to)` and the new ones, for each hunk */
function replaced(
	lines: readonly string[],
	hunks: readonly Hunk[],
	of: (hunk: Hunk) => [from: number, to: number, by: readonly string[]],
): string {
	const parts: string[] = [];
	let at = 0;
	for (const [from, to, by] of hunks.map(of).sort(([a], [b]) => a - b)) {
		for (const line of [...lines.slice(at, from), ...by]) parts.push(line);
		at = to;
	}
	return [...parts, ...lines.slice(at)].join("");
}

async function changesOf(
	old: string[],
	now: string[],
	timeout: number,
): Promise<{ count: number; kind: HunkLine["kind"] }[]> {
	// Loaded with the first comparison.
	const { diffArrays } = await import("diff");
	const changes = diffArrays(old, now, { timeout }) ?? [
		{ value: old, added: false, removed: true },
		{ value: now, added: true, removed: false },
	];
	return changes.map(({ value, added, removed }) => ({
		count: value.length,
		kind: added ? "added" : removed ? "removed" : "context",
	}));
}

function* shown(kind: HunkLine["kind"], lines: readonly string[], from: number, to: number): Iterable<HunkLine> {
	for (let at = from; at < to; at++) yield { kind, number: at + 1, text: (lines[at] ?? "").replace(/\r?\n$/, "") };
}
