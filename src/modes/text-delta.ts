/** The change of a text: the kept part of the earlier text, all of it without `keep`, and then `delta`. */
export interface TextDelta {
	delta: string;
	/** Start and end of the kept part in UTF-16 units. */
	keep?: readonly [start: number, end: number];
}

/** Maximum number of characters at the start of a text by which its place in the earlier text is found. */
const MAX_PROBE = 64;
/** Maximum number of places that are tried. */
const MAX_PLACES = 20;

/**
 * The change from one text to the next: text that was appended, replaced at the end, or, in a window that moves over a long
 * output, dropped at the start. @returns null if the texts are equal
 */
export function textDelta(before: string, after: string): TextDelta | null {
	if (before === after) return null;
	const same = sharedLength(before, 0, after);
	if (same === before.length) return { delta: after.slice(same) };
	let kept = { start: 0, length: same };
	for (const start of placesOf(after, before)) {
		const length = sharedLength(before, start, after);
		if (length > kept.length) kept = { start, length };
	}
	return { delta: after.slice(kept.length), keep: [kept.start, kept.start + kept.length] };
}

/** Positions in the earlier text at which the first line of a text is found; not its start. */
function placesOf(after: string, before: string): number[] {
	const [line = ""] = after.match(/^[^\n]*\n?/) ?? [];
	const probe = line.slice(0, MAX_PROBE);
	const places: number[] = [];
	for (let at = 0; probe !== "" && places.length < MAX_PLACES; ) {
		at = before.indexOf(probe, at + 1);
		if (at < 0) break;
		places.push(at);
	}
	return places;
}

/** How many characters of `after` are those of `before` from `start` on; never half of a surrogate pair. */
function sharedLength(before: string, start: number, after: string): number {
	const limit = Math.min(before.length - start, after.length);
	let length = 0;
	while (length < limit && before.charCodeAt(start + length) === after.charCodeAt(length)) length++;
	const isSplit = (after.charCodeAt(length - 1) & 0xfc00) === 0xd800;
	return length > 0 && isSplit ? length - 1 : length;
}
