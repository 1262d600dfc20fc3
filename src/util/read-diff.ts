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
