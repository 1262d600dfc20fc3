import { readRegularFile } from "../util/fs.js";

/** The changes of one version. */
export interface ChangelogSection {
	/** From the heading: `0.2.0`, or `Unreleased`. */
	version: string;
	/** Markdown below the heading, without surrounding blank lines. */
	lines: readonly string[];
}

const HEADING = /^## \[?([^\]\s]+)/;

/** The sections of a changelog, in the order of the file (newest first). */
export function parseChangelog(text: string): ChangelogSection[] {
	const sections: { version: string; lines: string[] }[] = [];
	for (const line of text.split(/\r?\n/)) {
		const version = HEADING.exec(line)?.[1];
		if (version !== undefined) sections.push({ version, lines: [] });
		else sections.at(-1)?.lines.push(line);
	}
	return sections.map(({ version, lines }) => ({ version, lines: trimBlank(lines) }));
}

/** Reads the sections of a changelog that have text; empty if the file cannot be read. */
export async function loadChangelog(path: string): Promise<ChangelogSection[]> {
	const file = await readRegularFile(path).catch(() => null);
	return file === null ? [] : parseChangelog(file.toString("utf8")).filter(({ lines }) => lines.length > 0);
}

/** The sections that are newer than a version. A section without a number, such as `Unreleased`, is newer than all. */
export function newerThan(sections: readonly ChangelogSection[], version: string): ChangelogSection[] {
	return sections.filter((section) => section.lines.length > 0 && compareVersions(section.version, version) > 0);
}

/** @returns a negative number if `a` is older than `b`, 0 if they are equal, a positive number if `a` is newer */
export function compareVersions(a: string, b: string): number {
	const [left, right] = [numbersOf(a), numbersOf(b)];
	if (left === null || right === null) return Number(left === null) - Number(right === null);
	for (let at = 0; at < 3; at++) {
		const difference = (left[at] ?? 0) - (right[at] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}

function numbersOf(version: string): number[] | null {
	const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
	return match?.slice(1).map((part) => Number(part ?? 0)) ?? null;
}

/** Joins the lines of each paragraph and list item, so that they wrap at the width of the screen. Code is unchanged. */
export function joinWrapped(lines: readonly string[]): string[] {
	const joined: string[] = [];
	let isCode = false;
	for (const line of lines) {
		const isFence = /^\s*```/.test(line);
		const before = joined.at(-1) ?? "";
		const continues = !isCode && !isFence && before.trim() !== "" && !/^#|^\s*```/.test(before);
		if (continues && /^\s*(?![-*+>|#]|\d+\.)\S/.test(line)) joined.splice(-1, 1, `${before} ${line.trim()}`);
		else joined.push(line);
		if (isFence) isCode = !isCode;
	}
	return joined;
}

function trimBlank(lines: readonly string[]): string[] {
	const isText = (line: string) => line.trim() !== "";
	return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}
