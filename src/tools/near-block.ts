/** Lines of a file that resemble wanted ones. Positions count from 0. */
export interface NearBlock {
	/** The line of the file that stands for the first wanted one. */
	start: number;
	/** The first wanted line that differs from its line in the file, apart from indentation; -1 if none does. */
	differing: number;
}

/** Maximum number of pairs of lines that are compared: the block of a large file is searched only by equal lines. */
const MAX_PAIRS = 400_000;
/** Mean likeness of its lines from which a block counts as near. */
const MIN_LIKENESS = 0.5;

/** Finds the block of as many lines that resembles the wanted lines most; undefined if none is near. */
export function findNearBlock(lines: readonly string[], wanted: readonly string[]): NearBlock | undefined {
	const file = lines.map((line) => line.trim());
	const block = wanted.map((line) => line.trim());
	const comparesWords = file.length * block.length <= MAX_PAIRS;
	const words = comparesWords ? file.map(wordsOf) : [];
	const wantedWords = comparesWords ? block.map(wordsOf) : [];
	const likeness = (at: number, index: number) => {
		if (file[at] === block[index]) return 1;
		return comparesWords ? commonShare(words[at], wantedWords[index]) : 0;
	};
	let best: { start: number; likeness: number } | undefined;
	for (let start = 0; start < file.length; start++) {
		let sum = 0;
		for (let index = 0; index < block.length && start + index < file.length; index++)
			sum += likeness(start + index, index);
		const mean = sum / block.length;
		if (mean >= MIN_LIKENESS && mean > (best?.likeness ?? 0)) best = { start, likeness: mean };
	}
	if (!best) return undefined;
	const { start } = best;
	return { start, differing: block.findIndex((line, index) => line !== file[start + index]) };
}

/** Words, and signs one by one. */
function wordsOf(line: string): Set<string> {
	return new Set(line.slice(0, 1000).match(/\w+|[^\s\w]/g));
}

/** Share of the words of both that they have in common; 0 without words. */
function commonShare(a: ReadonlySet<string> = new Set(), b: ReadonlySet<string> = new Set()): number {
	if (a.size === 0 || b.size === 0) return 0;
	let common = 0;
	for (const word of a) if (b.has(word)) common++;
	return (2 * common) / (a.size + b.size);
}
