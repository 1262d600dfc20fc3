/** The parts of a model's id. */
export interface IdWords {
	/** The words in lower case, such as `claude` and `opus`; `120b` and `4o` are words too. */
	words: readonly string[];
	/** The first version number in it: `[5, 5]` for `5-5`, `5.5` and `5p5`; empty for none. */
	version: readonly number[];
	/** The id names the date of a snapshot. */
	isDated: boolean;
}

const SEPARATORS = /[^a-z0-9]+/;
/** A number, after at most a word as in `v4` and `qwen3`; `3p8` is 3.8. */
const NUMBER = /^([a-z]*?)(\d+)(?:p(\d+))?$/;
/** A year, a month and a day, a date without separators, or the number of a snapshot such as 001. */
const DATE = /^(?:\d{4,}|0\d{2})$/;
/** `10` and `04` before a year are months. */
const MONTH = /^(?:0?[1-9]|1[0-2])$/;
const YEAR = /^20\d{2}$/;

/** Splits an id into words and version numbers. It knows no names of models. */
export function readIdWords(id: string): IdWords {
	const { words, runs } = readPieces(id);
	const read = runs.map(readRun);
	return {
		words,
		version: read.find(({ version }) => version.length > 0)?.version ?? [],
		isDated: read.some(({ isDated }) => isDated),
	};
}

/** The words of an id, and the numbers that follow each other. */
function readPieces(id: string): { words: string[]; runs: string[][] } {
	const words: string[] = [];
	const runs: string[][] = [];
	let run: string[] | null = null;
	for (const piece of id.toLowerCase().split(SEPARATORS).filter(Boolean)) {
		const [, word = "", number, fraction] = NUMBER.exec(piece) ?? [];
		if (number === undefined) {
			words.push(piece);
			run = null;
			continue;
		}
		if (word !== "" && word !== "v") words.push(word);
		if (word !== "" || run === null) {
			run = [];
			runs.push(run);
		}
		run.push(number, ...(fraction === undefined ? [] : [fraction]));
	}
	return { words, runs };
}

/**
 * Whether the numbers in a text that a user typed are those of a model's id or name, from the start of a version on: `opus 4` and
 * `opus-4.6` fit `claude-opus-4-6`, but `opus 6` does not. Sizes and dates can be incomplete.
 */
export function fitsVersions(typed: string, texts: readonly string[]): boolean {
	const wanted = typed.split(/\s+/).flatMap((word) => readPieces(word).runs);
	if (wanted.length === 0) return true;
	const known = texts.map(readPieces);
	return wanted.every((run) => known.some(({ words, runs }) => fitsRun(run, words, runs)));
}

function fitsRun(wanted: readonly string[], words: readonly string[], runs: readonly (readonly string[])[]): boolean {
	const [first = "", ...others] = wanted;
	if (runs.some((run) => wanted.every((number, at) => number === run[at]))) return true;
	if (others.length > 0) return false;
	const isOpen = (part: string) => part.startsWith(first);
	return words.some(isOpen) || runs.some((run) => run.some((number) => number.length > 2 && isOpen(number)));
}

/** Numbers that follow each other: a version, a date, or both in this order. */
function readRun(numbers: readonly string[]): Pick<IdWords, "version" | "isDated"> {
	const date = numbers.findIndex((number) => DATE.test(number));
	if (date === -1) return { version: numbers.map(Number), isDated: false };
	const before = numbers.slice(0, date);
	const isMonthFirst = YEAR.test(numbers[date] ?? "") && MONTH.test(before.at(-1) ?? "") && date === numbers.length - 1;
	return { version: (isMonthFirst ? before.slice(0, -1) : before).map(Number), isDated: true };
}

/** Negative if `a` is older than `b`. A version without a number that the other has is older: 5 is before 5.5. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
	const length = Math.max(a.length, b.length);
	for (let index = 0; index < length; index++) {
		const difference = (a[index] ?? -1) - (b[index] ?? -1);
		if (difference !== 0) return difference;
	}
	return 0;
}

/** True for a name that moves to the newest model, such as `gemini-flash-latest`. */
export function isAlias({ words }: Pick<IdWords, "words">): boolean {
	return words.includes("latest");
}

/** An id in the form in which `5.5` and `5-5` are equal. */
export function plainId(id: string): string {
	return id.toLowerCase().replaceAll(".", "-");
}

/** The id without what is before its last slash, such as the name of a maker. */
export function lastSegment(id: string): string {
	return id.slice(id.lastIndexOf("/") + 1);
}

/** Models that write no text. Servers list them with the others and do not mark them. */
const NO_TEXT =
	/embed|rerank|moderation|whisper|transcri|speech|(?:^|[^a-z])(?:tts|audio|image|images|video|live|realtime|ocr)(?:$|[^a-z])/i;
/** Models for a task other than a conversation with tools. */
const ONE_TASK = /deep-research|search|computer-use|safeguard|(?:^|[^a-z])guard(?:$|[^a-z])/i;

/** Whether the id of a model says that it creates something other than text. */
export function writesNoText(id: string): boolean {
	return NO_TEXT.test(id);
}

/** Whether the id of a model says that it is for one task only, such as research or speech. */
export function hasOneTask(id: string): boolean {
	return NO_TEXT.test(id) || ONE_TASK.test(id);
}
