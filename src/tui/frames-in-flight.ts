import { monotonicMs } from "../util/clock.js";
import type { ListPosition } from "./block-list.js";

/** The screen before a frame. */
export interface ScreenBefore {
	/** Lines at the start of the tree that were in the scrollback; less than 0 when later lines have left the tree since. */
	scrolled: number;
	/** Where the tree began. */
	readonly start: ListPosition;
}

interface Frame extends ScreenBefore {
	/** When it was written. */
	readonly at: number;
}

/**
 * A terminal may have resized this long before the program receives the new size, in addition to the time that it takes to
 * answer. During a drag tmux reports new sizes every 250 ms, and the first of them pauses frames for 100 ms.
 */
const REPORT_MS = 250;
/** Maximum age of a frame in flight. */
const MAX_AGE_MS = 1_500;
/** Time after a resize in which another one is likely. */
const RESIZING_MS = 2_000;
/** Asks the terminal whether it works. It answers when it has processed all output before the question. */
const ASK_STATUS = "\x1b[5n";
const STATUS = "\x1b[0n";

/**
 * The frames that the terminal may not have processed when its size changed. Such a frame moves and scrolls as it would
 * have on the old screen, so it may write over lines, and lines that it was to scroll off may still be on the screen.
 *
 * A frame counts as processed after a while. The frames after a resize also ask the terminal: a window is often resized
 * several times, and lines that are drawn again after each of them would fill the scrollback.
 */
export class FramesInFlight {
	#frames: Frame[] = [];
	#resizedAt = Number.NEGATIVE_INFINITY;
	/** The last frame before the last question; null if there is nothing to confirm. */
	#asked: Frame | null = null;
	/** Number of questions without an answer. */
	#questions = 0;

	/** Adds a frame that is about to be written. */
	add(before: ScreenBefore): void {
		const at = monotonicMs();
		while (this.#frames[0] && this.#frames[0].at < at - MAX_AGE_MS) this.#frames.shift();
		this.#frames.push({ ...before, at });
	}

	/** @returns output to write after the last frame, often none */
	ask(): string {
		const last = this.#frames.at(-1);
		if (!last || this.#questions > 0 || last.at > this.#resizedAt + RESIZING_MS) return "";
		this.#asked = last;
		this.#questions += 1;
		return ASK_STATUS;
	}

	/** Marks the time at which the program received a new size. No frame is written until the next redraw. */
	resized(): void {
		this.#resizedAt = monotonicMs();
	}

	/**
	 * Reads the terminal's answer.
	 * @param isSameSize called when a resize before the answer would have been received
	 * @returns true when the input is an answer
	 */
	handleInput(data: string, isSameSize: () => boolean): boolean {
		if (data !== STATUS) return false;
		// The answer to a question that was forgotten. No key sends this, so it must not reach the editor.
		if (this.#questions === 0) return true;
		this.#questions -= 1;
		const asked = this.#asked;
		const confirm = () => {
			if (!asked || this.#asked !== asked) return;
			this.#asked = null;
			if (isSameSize()) this.#frames.splice(0, this.#frames.indexOf(asked) + 1);
		};
		// The signal of an earlier resize may be handled one turn of the event loop later than the answer.
		if (this.#questions === 0) setImmediate(() => setImmediate(confirm));
		return true;
	}

	/**
	 * @param answerMs how long the terminal took to answer after the resize: it was that far behind the program's output.
	 *   Default: any time
	 * @returns the screen before the first frame that may have met the resize
	 */
	firstRaced(answerMs = Number.POSITIVE_INFINITY): ScreenBefore | undefined {
		return this.#frames.find(({ at }) => at >= this.#resizedAt - answerMs - REPORT_MS);
	}

	/** Moves line numbers by the number of lines that the tree got at its start. */
	shift(lines: number): void {
		for (const frame of this.#frames) frame.scrolled += lines;
	}

	/** Forgets all frames: none of them can do harm. */
	clear(): void {
		this.#frames = [];
		this.#asked = null;
	}

	/** Forgets frames and questions: another program uses the terminal. */
	stop(): void {
		this.clear();
		this.#questions = 0;
	}
}
