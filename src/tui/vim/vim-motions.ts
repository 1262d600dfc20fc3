import { findCharacter, findText, searchOfWord } from "./vim-search.js";
import { paragraphEnd, paragraphStart, sentenceEnd, sentenceStart } from "./vim-sentences.js";
import { moveTo, moveToLine, type VimState, wantedColumn } from "./vim-state.js";
import { firstNonBlank, isBlank, type Lines, lineAt, previousCell, type Spot, textEnd } from "./vim-text.js";
import { nextWordEnd, nextWordStart, previousWordEnd, previousWordStart } from "./vim-words.js";

/** How far an operator reaches: including the place where the motion ends, up to it, or complete lines. */
export type MotionKind = "inclusive" | "exclusive" | "lines";

/** A part of the text that a key after `i` or `a` names. `to` is part of it only if it is inclusive. */
export interface FoundObject {
	readonly from: Spot;
	readonly to: Spot;
	readonly kind: MotionKind;
}

/** What a motion is used for. */
export interface MotionUse {
	/** undefined: none was typed. */
	count: number | undefined;
	/** The operator that waits for it; empty: none. */
	operator: string;
	isVisual: boolean;
}

/** A motion. */
export interface Motion {
	readonly kind: MotionKind;
	/** Whether what an operator removes with it is always kept in register 1. */
	readonly isLarge?: boolean;
	/** Moves the cursor. @returns false if it cannot; or the kind, where it depends on the text */
	move(state: VimState, use: MotionUse): boolean | MotionKind;
}

/** Makes a motion of one that moves to a place. */
function motion(kind: MotionKind, find: (state: VimState, use: MotionUse) => Spot | null, isLarge = false): Motion {
	const move = (state: VimState, use: MotionUse) => {
		const spot = find(state, use);
		if (spot) moveTo(state, spot);
		return spot !== null;
	};
	return { kind, move, isLarge };
}

/** A motion that takes a step `count` times. At the start of the text it stops. */
function steps(kind: MotionKind, step: (state: VimState, from: Spot) => Spot | null): Motion {
	const move = (state: VimState, { count = 1 }: MotionUse) => {
		for (let done = 0; done < count; done += 1) {
			const next = step(state, state.cursor);
			if (!next) return done > 0;
			moveTo(state, next);
		}
		return true;
	};
	return { kind, move };
}

/** A motion by sentences or paragraphs: only the last step may be one to the end of the text. */
function textSteps(step: (lines: Lines, from: Spot) => Spot | null, end: (lines: Lines) => Spot): Motion {
	return {
		kind: "exclusive",
		isLarge: true,
		move(state, { count = 1, operator, isVisual }) {
			let at = state.cursor;
			for (let done = 0; done < count; done += 1) {
				const next = step(state.lines, at);
				if (!next && done < count - 1) return false;
				at = next ?? end(state.lines);
			}
			const { length } = lineAt(state.lines, at.line);
			const isBehind = at.col > 0 && at.col >= length;
			moveTo(state, isBehind && operator === "" && !isVisual ? { line: at.line, col: length - 1 } : at);
			return true;
		},
	};
}

const textStart = (): Spot => ({ line: 0, col: 0 });

const left: Motion = motion("exclusive", ({ cursor: { line, col } }, { count = 1, operator }) =>
	col === 0 && operator === "" ? null : { line, col: Math.max(0, col - count) },
);

const right: Motion = motion("exclusive", ({ lines, cursor: { line, col } }, { count = 1, operator, isVisual }) => {
	const { length } = lineAt(lines, line);
	const last = operator !== "" || isVisual ? length : length - 1;
	return col >= last && operator === "" ? null : { line, col: Math.min(last, col + count) };
});

/** Backspace and blank also move to the previous and the next line. */
const backwards: Motion = motion("exclusive", ({ lines, cursor }, { count = 1, operator }) => {
	let at = cursor;
	for (let done = 0; done < count; done += 1) {
		if (at.col > 0) at = { line: at.line, col: at.col - 1 };
		else if (at.line === 0) return done > 0 || operator !== "" ? at : null;
		else {
			const { length } = lineAt(lines, at.line - 1);
			at = { line: at.line - 1, col: Math.max(0, operator === "d" || operator === "c" ? length : length - 1) };
		}
	}
	return at;
});

const forwards: Motion = motion("exclusive", ({ lines, cursor }, { count = 1, operator, isVisual }) => {
	let at = cursor;
	for (let done = 0; done < count; done += 1) {
		const { length } = lineAt(lines, at.line);
		if (at.col + 1 < length) at = { line: at.line, col: at.col + 1 };
		else if (operator !== "" && done === count - 1 && at.col < length) at = { line: at.line, col: length };
		else if (at.line + 1 < lines.length) at = { line: at.line + 1, col: 0 };
		else if (isVisual || operator === "" || at.col >= length) return done > 0 ? at : null;
		else at = { line: at.line, col: length };
	}
	return at;
});

function vertical(step: 1 | -1): Motion {
	return {
		kind: "lines",
		move(state, { count = 1, isVisual }) {
			const { line } = state.cursor;
			const last = state.lines.length - 1;
			if (step > 0 ? line >= last : line <= 0) return false;
			const target = Math.max(0, Math.min(last, line + step * count));
			state.cursor = { line: target, col: wantedColumn(state, target, isVisual) };
			return true;
		},
	};
}

/** Motions to the first cell of a line that is not blank. */
function toLine(find: (state: VimState, use: MotionUse) => number): Motion {
	return {
		kind: "lines",
		move(state, use) {
			const line = find(state, use);
			if (line < 0 || line >= state.lines.length) return false;
			moveToLine(state, line);
			return true;
		},
	};
}

/** Motions that go down `count - 1` lines fail on the last one. */
function isTooFar(state: VimState, count: number): boolean {
	return count > 1 && state.cursor.line >= state.lines.length - 1;
}

function limited(state: VimState, line: number): number {
	return Math.max(0, Math.min(state.lines.length - 1, line));
}

const lineEnd: Motion = {
	kind: "inclusive",
	move(state, { count = 1, isVisual }) {
		const { line } = state.cursor;
		if (isTooFar(state, count)) return false;
		const target = limited(state, line + count - 1);
		state.cursor = { line: target, col: Math.max(0, lineAt(state.lines, target).length - (isVisual ? 0 : 1)) };
		state.want = Number.POSITIVE_INFINITY;
		return true;
	},
};

function wordForward(isBig: boolean): Motion {
	return {
		kind: "exclusive",
		move(state, use) {
			const { count = 1, operator } = use;
			const { line, col } = state.cursor;
			const cells = lineAt(state.lines, line);
			if (operator === "c" && cells.length > 0 && !isBlank(cells[col])) {
				return wordEnd(isBig, true).move(state, use) && "inclusive";
			}
			for (let done = 0; done < count; done += 1) {
				const next = nextWordStart(state.lines, state.cursor, isBig, operator !== "" && done === count - 1);
				if (!next) {
					// From the last cell of the text, an operator still reaches behind it.
					if (operator !== "") moveTo(state, textEnd(state.lines));
					else if (done === 0) return false;
					break;
				}
				moveTo(state, next);
			}
			if (operator !== "") return true;
			const { length } = lineAt(state.lines, state.cursor.line);
			moveTo(state, { line: state.cursor.line, col: Math.max(0, Math.min(state.cursor.col, length - 1)) });
			return true;
		},
	};
}

function wordEnd(isBig: boolean, isChange = false): Motion {
	const steps = (state: VimState, { count = 1 }: MotionUse): Spot | null => {
		let at = state.cursor;
		for (let done = 0; done < count; done += 1) {
			const next = nextWordEnd(state.lines, at, isBig, isChange && done === 0, isChange);
			if (!next) return done > 0 ? at : null;
			at = next;
		}
		return at;
	};
	return {
		kind: "inclusive",
		move(state, use) {
			const spot = steps(state, use);
			if (spot) moveTo(state, spot);
			return spot !== null || use.operator !== "";
		},
	};
}

/** The bracket that belongs to the first one on the line from the cursor on; with a count: that percentage of the lines. */
const matching: Motion = {
	kind: "inclusive",
	isLarge: true,
	move(state, { count }) {
		if (count !== undefined) {
			if (count > 100) return false;
			const target = Math.floor((count * state.lines.length + 99) / 100) - 1;
			moveToLine(state, limited(state, target));
			return "lines";
		}
		const { line, col } = state.cursor;
		const cells = lineAt(state.lines, line);
		const at = cells.findIndex((cell, index) => index >= col && "()[]{}".includes(cell));
		if (at < 0) return false;
		const spot = matchOf(state, { line, col: at });
		if (spot) moveTo(state, spot);
		return spot !== null;
	},
};

function matchOf(state: VimState, from: Spot): Spot | null {
	const own = lineAt(state.lines, from.line)[from.col] ?? "";
	const index = "()[]{}".indexOf(own);
	const isForward = index % 2 === 0;
	const other = "()[]{}"[index + (isForward ? 1 : -1)];
	let depth = 0;
	for (let at: Spot | null = from; at; at = isForward ? after(state, at) : previousCell(state.lines, at)) {
		const cell = lineAt(state.lines, at.line)[at.col];
		if (cell === own) depth += 1;
		if (cell === other) depth -= 1;
		if (depth === 0) return at;
	}
	return null;
}

function after({ lines }: VimState, { line, col }: Spot): Spot | null {
	if (col + 1 < lineAt(lines, line).length) return { line, col: col + 1 };
	return line + 1 < lines.length ? { line: line + 1, col: 0 } : null;
}

function sought(isReversed: boolean): Motion {
	return motion(
		"exclusive",
		(state, { count = 1 }) => {
			const { textSearch } = state;
			if (!textSearch) return null;
			const isForward = textSearch.isForward !== isReversed;
			return findText(state.lines, state.cursor, { ...textSearch, isForward }, count);
		},
		true,
	);
}

function soughtWord(isForward: boolean): Motion {
	return motion("exclusive", (state, { count = 1 }) => {
		const word = searchOfWord(state, isForward);
		if (!word) return null;
		state.textSearch = word.search;
		return findText(state.lines, word.at, word.search, count);
	});
}

/** Motions to a character of the line: `f`, `F`, `t`, `T` with the character that was typed. */
export function characterMotion(key: string, cell: string): Motion {
	const search = { cell, isForward: key === "f" || key === "t", stopsBefore: key === "t" || key === "T" };
	return motion(search.isForward ? "inclusive" : "exclusive", (state, { count = 1 }) => {
		state.characterSearch = search;
		return findCharacter(state.lines, state.cursor, search, count);
	});
}

function characterAgain(isReversed: boolean): Motion {
	return {
		kind: "exclusive",
		move(state, { count = 1 }) {
			const last = state.characterSearch;
			if (!last) return false;
			const search = { ...last, isForward: last.isForward !== isReversed };
			const spot = findCharacter(state.lines, state.cursor, search, count, true);
			if (spot) moveTo(state, spot);
			return spot !== null && (search.isForward ? "inclusive" : "exclusive");
		},
	};
}

/** The search that was typed after `/` or `?`; without a text the last one, in this direction. */
export function searchMotion(text: string, isForward: boolean, split: (text: string) => readonly string[]): Motion {
	return motion(
		"exclusive",
		(state, { count = 1 }) => {
			const last = state.textSearch;
			if (text === "" && !last) return null;
			state.textSearch =
				text === "" && last ? { ...last, isForward } : { cells: split(text), isForward, isWhole: false };
			return findText(state.lines, state.cursor, state.textSearch, count);
		},
		true,
	);
}

const lineDown = vertical(1);
const lineUp = vertical(-1);
const lastNonBlank: Motion = motion("inclusive", (state, { count = 1 }) => {
	if (isTooFar(state, count)) return null;
	const line = limited(state, state.cursor.line + count - 1);
	const cells = lineAt(state.lines, line);
	return {
		line,
		col: Math.max(
			0,
			cells.findLastIndex((cell) => !isBlank(cell)),
		),
	};
});

/** The motions by their keys, except those that wait for text. */
export const MOTIONS: Readonly<Record<string, Motion>> = {
	h: left,
	"<left>": left,
	"<bs>": backwards,
	l: right,
	"<right>": right,
	" ": forwards,
	j: lineDown,
	"<down>": lineDown,
	gj: lineDown,
	k: lineUp,
	"<up>": lineUp,
	gk: lineUp,
	"0": motion("exclusive", ({ cursor: { line } }) => ({ line, col: 0 })),
	"<home>": motion("exclusive", ({ cursor: { line } }) => ({ line, col: 0 })),
	"^": motion("exclusive", ({ lines, cursor: { line } }) => ({ line, col: firstNonBlank(lineAt(lines, line)) })),
	$: lineEnd,
	"<end>": lineEnd,
	g_: lastNonBlank,
	"|": {
		kind: "exclusive",
		move(state, { count = 1 }) {
			state.want = count - 1;
			state.cursor = { line: state.cursor.line, col: wantedColumn(state, state.cursor.line) };
			return true;
		},
	},
	"+": toLine((state, { count = 1 }) =>
		state.cursor.line === state.lines.length - 1 ? -1 : limited(state, state.cursor.line + count),
	),
	"-": toLine((state, { count = 1 }) => (state.cursor.line === 0 ? -1 : limited(state, state.cursor.line - count))),
	_: toLine((state, { count = 1 }) => (isTooFar(state, count) ? -1 : limited(state, state.cursor.line + count - 1))),
	gg: toLine((state, { count = 1 }) => limited(state, count - 1)),
	G: toLine((state, { count }) => limited(state, (count ?? state.lines.length) - 1)),
	w: wordForward(false),
	W: wordForward(true),
	e: wordEnd(false),
	E: wordEnd(true),
	b: steps("exclusive", (state, from) => previousWordStart(state.lines, from, false)),
	B: steps("exclusive", (state, from) => previousWordStart(state.lines, from, true)),
	ge: steps("inclusive", (state, from) => previousWordEnd(state.lines, from, false)),
	gE: steps("inclusive", (state, from) => previousWordEnd(state.lines, from, true)),
	"{": textSteps(paragraphStart, textStart),
	"}": textSteps(paragraphEnd, textEnd),
	"(": textSteps(sentenceStart, textStart),
	")": textSteps(sentenceEnd, textEnd),
	"%": matching,
	";": characterAgain(false),
	",": characterAgain(true),
	n: sought(false),
	N: sought(true),
	"*": soughtWord(true),
	"#": soughtWord(false),
};

/** Whether vertical motions keep the column that they aim at. */
export function keepsColumn(key: string): boolean {
	return MOTIONS[key] === lineDown || MOTIONS[key] === lineUp || MOTIONS[key] === lineEnd;
}
