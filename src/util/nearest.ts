/**
 * The candidates most similar to `word`, best first: same prefix, then containing it, then few typing errors. Empty if
 * none is similar.
 */
export function nearest(word: string, candidates: Iterable<string>, max = 3): string[] {
	const wanted = word.toLowerCase();
	if (wanted === "") return [];
	const allowed = Math.max(1, Math.floor(wanted.length / 3));
	const scored: { candidate: string; score: number }[] = [];
	for (const candidate of new Set(candidates)) {
		const score = distance(wanted, candidate.toLowerCase(), allowed);
		if (score !== null) scored.push({ candidate, score });
	}
	return scored
		.sort((a, b) => a.score - b.score || lengthDifference(a.candidate, word) - lengthDifference(b.candidate, word))
		.slice(0, max)
		.map(({ candidate }) => candidate);
}

/** The text "did you mean a, b or c?", or undefined if no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
	const names = nearest(word, candidates);
	if (names.length === 0) return undefined;
	const last = names.at(-1) ?? "";
	return `did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(", ")} or ${last}`}?`;
}

function distance(wanted: string, candidate: string, allowed: number): number | null {
	if (candidate === wanted) return 0;
	if (wanted.length > 1 && candidate.startsWith(wanted)) return 0.4;
	if (wanted.length > 2 && candidate.includes(wanted)) return 0.6;
	if (Math.abs(candidate.length - wanted.length) > allowed) return null;
	const edits = editDistance(wanted, candidate);
	return edits <= allowed ? edits : null;
}

/** Number of insertions, deletions, replacements and swaps of neighbors that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
	let beforeLast: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, column) => column);
	for (let row = 1; row <= a.length; row++) {
		const current = [row];
		for (let column = 1; column <= b.length; column++) {
			const same = a[row - 1] === b[column - 1];
			let best = Math.min(
				(last[column] ?? 0) + 1,
				(current[column - 1] ?? 0) + 1,
				(last[column - 1] ?? 0) + (same ? 0 : 1),
			);
			if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
				best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
			}
			current.push(best);
		}
		beforeLast = last;
		last = current;
	}
	return last[b.length] ?? 0;
}

/** Breaks ties: names of similar length first. */
function lengthDifference(candidate: string, word: string): number {
	return Math.abs(candidate.length - word.length);
}

/** The item whose name is the query, else the selected one or the first whose name begins with it, else the selected one. */
export function bestNamed<T extends { name: string }>(items: readonly T[], query: string, selected?: T): T | undefined {
	const named = query === "" ? [] : items.filter(({ name }) => name.startsWith(query));
	const isSelected = (item: T) => item === selected;
	return named.find(({ name }) => name === query) ?? named.find(isSelected) ?? named[0] ?? items.find(isSelected);
}
