/** Compares two lines word by word; undefined when they have too little in common. */
export type WordDiff = (
	before: string,
	after: string,
) => { value: string; added: boolean; removed: boolean }[] | undefined;

/** A part of a line, and whether it changed. */
export interface Piece {
	text: string;
	changed: boolean;
}

/** Maximum number of changed words before two lines count as unrelated. */
const MAX_CHANGES = 60;

let loaded: WordDiff | null = null;
let loading: Promise<void> | null = null;

/** The comparison; null until `loadWordDiff` has resolved. */
export function wordDiff(): WordDiff | null {
	return loaded;
}

/** Loads the comparison. Startup does not wait for it: sessions need it only after the first edit. */
export function loadWordDiff(): Promise<void> {
	loading ??= import("diff").then(({ diffWordsWithSpace }) => {
		loaded = (before, after) => diffWordsWithSpace(before, after, { maxEditLength: MAX_CHANGES });
	});
	return loading;
}

/** Splits a line into parts it shares with its partner and changed parts; null when less than a third is shared. */
export function pieces(text: string, partner: string, side: "added" | "removed", words: WordDiff): Piece[] | null {
	const changes = side === "added" ? words(partner, text) : words(text, partner);
	if (!changes) return null;
	const own = changes.filter((change) => (side === "added" ? !change.removed : !change.added));
	const shared = own.reduce((sum, { value, added, removed }) => sum + (added || removed ? 0 : value.trim().length), 0);
	const length = Math.min(text.trim().length, partner.trim().length);
	if (shared * 3 < length) return null;
	return own.map(({ value, added, removed }) => ({ text: value, changed: added || removed }));
}
