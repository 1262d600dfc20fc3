/** A line of a diff: its kind, its number if known, its text without line end. */
export interface DiffLine {
	kind: "added" | "removed" | "context" | "gap";
	number: string;
	text: string;
}

/** Parses the diff in an edit's details. Lines are `+`, `-` or a blank, the line number and the text; others are gaps. */
export function parseDiff(diff: string): DiffLine[] {
	return diff
		.replace(/\n$/, "")
		.split("\n")
		.map((line): DiffLine => {
			const match = /^([+\- ])\s*(\d+)(?: (.*))?$/s.exec(line);
			const [, sign, number = "", text = ""] = match ?? [];
			if (sign === "+") return { kind: "added", number, text };
			if (sign === "-") return { kind: "removed", number, text };
			return sign === " " ? { kind: "context", number, text } : { kind: "gap", number: "", text: "" };
		});
}

/** Unchanged lines shown on either side of a change. */
const CONTEXT_LINES = 3;

/** Diff lines without numbers, for an edit that has not run yet, with up to three of the unchanged lines around it. */
export function proposedDiff(oldText: string, newText: string): DiffLine[] {
	const before = splitLines(oldText);
	const after = splitLines(newText);
	const shorter = Math.min(before.length, after.length);
	let head = 0;
	while (head < shorter && before[head] === after[head]) head++;
	let tail = 0;
	while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
	const lines = (kind: DiffLine["kind"], texts: readonly string[]) =>
		texts.map((text): DiffLine => ({ kind, number: "", text }));
	const end = after.length - tail;
	return [
		...lines("context", after.slice(Math.max(0, head - CONTEXT_LINES), head)),
		...lines("removed", before.slice(head, before.length - tail)),
		...lines("added", after.slice(head, end)),
		...lines("context", after.slice(end, end + CONTEXT_LINES)),
	];
}

function splitLines(text: string): string[] {
	return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Only the changed lines, with one gap for omitted lines between them. */
export function changesOnly(lines: readonly DiffLine[]): DiffLine[] {
	const kept: DiffLine[] = [];
	let skipped = false;
	for (const line of lines) {
		if (line.kind === "context" || line.kind === "gap") {
			skipped = true;
			continue;
		}
		if (skipped && kept.length > 0) kept.push({ kind: "gap", number: "", text: "" });
		skipped = false;
		kept.push(line);
	}
	return kept;
}

/** Pairs removed lines with added lines when equally many follow: such lines were changed, not replaced. */
export function changedPairs(lines: readonly DiffLine[]): Map<DiffLine, DiffLine> {
	const partners = new Map<DiffLine, DiffLine>();
	let row = 0;
	while (row < lines.length) {
		const removed = run(lines, row, "removed");
		const added = run(lines, row + removed.length, "added");
		if (removed.length === added.length) {
			for (const [index, before] of removed.entries()) {
				const after = added[index];
				if (!after) continue;
				partners.set(before, after);
				partners.set(after, before);
			}
		}
		row += Math.max(1, removed.length + added.length);
	}
	return partners;
}

function run(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): DiffLine[] {
	let end = start;
	while (lines[end]?.kind === kind) end++;
	return lines.slice(start, end);
}
