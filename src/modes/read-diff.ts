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

/** Diff lines without numbers, for an edit that has not run yet. */
export function proposedDiff(oldText: string, newText: string): DiffLine[] {
	const lines = (text: string, kind: "added" | "removed"): DiffLine[] =>
		text === ""
			? []
			: text
					.replace(/\n$/, "")
					.split("\n")
					.map((line) => ({ kind, number: "", text: line }));
	return [...lines(oldText, "removed"), ...lines(newText, "added")];
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
