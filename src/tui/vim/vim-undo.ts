import { keepOnCell, moveTo, moveToLine, setLines, type VimState } from "./vim-state.js";
import { type Lines, lineAt, type Spot } from "./vim-text.js";

/** A text and the place where the next change to it began. */
interface UndoStep {
	readonly lines: Lines;
	readonly at: Spot;
}

/** Maximum number of changes that can be undone. */
const MAX_STEPS = 500;

/** The changes of a prompt. */
export class VimUndo {
	#undone: UndoStep[] = [];
	#done: UndoStep[] = [];

	/** Adds a change. @param before the text before it */
	add(before: Lines, at: Spot): void {
		this.#done.push({ lines: before, at });
		if (this.#done.length > MAX_STEPS) this.#done.shift();
		this.#undone = [];
	}

	clear(): void {
		this.#done = [];
		this.#undone = [];
	}

	/** Undoes changes, or redoes what was undone last, as far as possible. */
	step(state: VimState, isUndo: boolean, count = 1): void {
		const [from, to] = isUndo ? [this.#done, this.#undone] : [this.#undone, this.#done];
		for (let done = 0; done < count && this.#step(state, from, to); done += 1);
		keepOnCell(state);
	}

	#step(state: VimState, from: UndoStep[], to: UndoStep[]): boolean {
		const step = from.pop();
		if (!step) return false;
		to.push({ lines: state.lines, at: step.at });
		const old = state.lines;
		setLines(state, step.lines);
		const { first, last } = changedLines(old, step.lines);
		const { at } = step;
		const isInside =
			at.line + 1 === first || (at.line >= Math.min(first, state.lines.length - 1) && at.line <= Math.max(first, last));
		if (isInside) moveTo(state, { line: Math.min(at.line, state.lines.length - 1), col: at.col });
		else moveToLine(state, Math.max(0, Math.min(first, state.lines.length - 1)));
		return true;
	}
}

/** @returns the first and the last line of the new text that differ */
function changedLines(old: Lines, now: Lines): { first: number; last: number } {
	const isSame = (one: number, other: number) => {
		const [a, b] = [lineAt(old, one), lineAt(now, other)];
		return a === b || (a.length === b.length && a.every((cell, index) => cell === b[index]));
	};
	let first = 0;
	while (first < old.length && first < now.length && isSame(first, first)) first += 1;
	let end = 0;
	while (end < old.length - first && end < now.length - first && isSame(old.length - 1 - end, now.length - 1 - end))
		end += 1;
	return { first, last: now.length - 1 - end };
}
