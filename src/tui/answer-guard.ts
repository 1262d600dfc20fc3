import { PAUSE_MS, TIMING, type Timing } from "../util/clock.js";

/** A letter answers only if no key follows for this long, in ms: else it begins a word. Longer than the gaps of slow typing. */
export const ALONE_MS = 700;
/** An answer counts only once its row has been on the screen for this long, in ms: before it, nobody can have read it. */
export const SHOWN_MS = 300;
/** Enter counts only this long after a key that selects, in ms: before it, nobody can have seen what that selected. */
export const ENTER_MS = 120;
/** Keys that arrive within this time, in ms, came together, as in a paste without its marks; nobody types this fast. */
const TOGETHER_MS = 30;

/** How a question opened. */
export interface GuardOptions {
	timing?: Timing;
	/** When the last key arrived, for the question or for anything else, as `Timing.now`. Default: long ago. */
	lastKeyAt?(): number;
	/** Called after a key has chosen something, or turned out not to count, which is later than it arrived. */
	requestRender?(): void;
}

/** A key that can choose `row`, which `drew` names. */
export interface AnswerKey {
	kind: "enter" | "letter";
	/** What it types if it chooses nothing. */
	text: string;
	row: string;
	/** A letter that only shows something: it need not be the sole key, but must follow a pause, too. */
	onlyShows?: boolean;
	choose(): void;
}

/** A key for the question. Every key must be passed on. */
export type GuardedKey =
	| AnswerKey
	| { kind: "text"; text: string }
	/** Selects an answer; `changes`: another than before. */
	| { kind: "move"; changes: boolean }
	/** Scrolls or closes: it cannot run anything. */
	| { kind: "other" };

/**
 * Decides which keys answer a question, so that no key that was meant for something else does. Enter counts for a row that has
 * been on the screen for a while, a letter also only as the sole key after a pause of typing and reading. All other characters are
 * text. Keys that select count from the first pause on: before it, someone may still walk through the history of the editor.
 */
export class AnswerGuard {
	readonly #timing: Timing;
	readonly #requestRender: () => void;
	readonly #lastKeyOfAll: () => number;
	#lastKeyAt = Number.NEGATIVE_INFINITY;
	#lastTextAt = Number.NEGATIVE_INFINITY;
	#selectedAt = Number.NEGATIVE_INFINITY;
	/** Since when the question has been on the screen; null while it is not. */
	#openSince: number | null = null;
	/** Whether a key has come that was pressed for the question. */
	#isMeant = false;
	/** Since when each row has been on the screen. */
	#shownSince = new Map<string, number>();
	/** A key that may still turn out to be text. */
	#waiting: { text: string; isLetter: boolean; counts: boolean; cancel(): void } | null = null;
	#isIgnored = false;
	/** Whether the last text had no use: an Enter ends it. */
	#isUnused = false;

	/** @param onText receives text that answers nothing: characters, line ends as `\n`, and pastes. It returns whether it used it */
	constructor(
		{ timing = TIMING, lastKeyAt = () => Number.NEGATIVE_INFINITY, requestRender = () => {} }: GuardOptions,
		private readonly onText: (text: string) => boolean,
	) {
		this.#timing = timing;
		this.#requestRender = requestRender;
		this.#lastKeyOfAll = lastKeyAt;
	}

	/** Whether the last key did not count because it came too soon. */
	get isIgnored(): boolean {
		return this.#isIgnored;
	}

	/** Must be called for each frame, with the rows that it shows completely. */
	drew(rows: readonly string[]): void {
		const now = this.#timing.now();
		if (this.#openSince === null) {
			this.#openSince = now;
			this.#lastKeyAt = Math.max(this.#lastKeyAt, this.#lastKeyOfAll());
		}
		this.#shownSince = new Map(rows.map((row) => [row, this.#shownSince.get(row) ?? now]));
	}

	/** Call when the question leaves the screen. */
	hide(): void {
		this.#openSince = null;
		this.#isMeant = false;
		this.#shownSince.clear();
		this.#waiting?.cancel();
		this.#waiting = null;
	}

	/** @returns false if the key must still be carried out: one of the kind `other`, or a `move` that is meant */
	receive(key: GuardedKey): boolean {
		const now = this.#timing.now();
		const sinceLast = now - this.#lastKeyAt;
		const isPause = sinceLast >= PAUSE_MS;
		const shownFor = this.#openSince === null ? 0 : now - this.#openSince;
		this.#lastKeyAt = now;
		this.#isMeant ||= isPause && shownFor >= PAUSE_MS;
		this.#isIgnored = false;
		const waiting = this.#waiting;
		this.#waiting = null;
		waiting?.cancel();
		if (key.kind === "other") return false;
		if (key.kind === "move") {
			this.#isIgnored = !this.#isMeant;
			if (this.#isMeant && key.changes) this.#selectedAt = now;
			return this.#isIgnored;
		}
		// A second Enter, as of a key that bounces, is no text.
		if (waiting && (waiting.isLetter || key.kind !== "enter")) this.#type(waiting.text);
		if (key.kind === "text") this.#type(key.text);
		else if (key.kind === "enter" && now - this.#lastTextAt < (this.#isUnused ? PAUSE_MS : TOGETHER_MS))
			this.#type(key.text);
		else if (key.kind === "enter") {
			const isApart = waiting?.counts ?? now - this.#selectedAt >= ENTER_MS;
			this.#wait(key, isApart && this.#isShown(key.row), TOGETHER_MS);
		} else if (!isPause || shownFor < PAUSE_MS) this.#type(key.text);
		else if (key.onlyShows) key.choose();
		else this.#wait(key, this.#isShown(key.row), ALONE_MS);
		return true;
	}

	/** Chooses later, unless another key follows. @param counts whether it is not too soon */
	#wait({ kind, text, row, choose }: AnswerKey, counts: boolean, ms: number): void {
		const cancel = this.#timing.after(ms, () => {
			this.#waiting = null;
			// The row may have left the screen, as when the terminal became smaller.
			this.#isIgnored = !counts || !this.#shownSince.has(row);
			if (!this.#isIgnored) choose();
			this.#requestRender();
		});
		this.#waiting = { text, isLetter: kind === "letter", counts, cancel };
	}

	#isShown(row: string): boolean {
		const since = this.#shownSince.get(row);
		return since !== undefined && this.#timing.now() - since >= SHOWN_MS;
	}

	#type(text: string): void {
		this.#lastTextAt = this.#timing.now();
		this.#isUnused = !this.onText(text);
		this.#isIgnored = this.#isUnused;
	}
}
