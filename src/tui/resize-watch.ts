import { monotonicMs } from "../util/clock.js";

/** Asks for the position of the cursor. */
const ASK_CURSOR = "\x1b[6n";
/** Timeout for the first answer of a terminal, which may be slow or far away. */
const FIRST_ANSWER_MS = 1_000;

/** A size that is stable. */
export interface StableSize {
	/** Row of the cursor, from 0; null if the terminal does not tell. */
	cursorRow: number | null;
	/** How long the terminal took to answer, or had time to, ms. */
	answerMs: number;
}

/** How a `ResizeWatch` waits and reports. */
export interface ResizeWatchOptions {
	/** Time without another resize after which the size counts as stable, and timeout for a terminal that never answers, ms. */
	delayMs: number;
	write(data: string): void;
	onStable(size: StableSize): void;
}

/**
 * Waits until the size of the terminal is stable, so that a burst of resizes costs one redraw, and then asks for the row
 * of the cursor: each terminal reflows lines and moves them to and from its scrollback in its own way.
 */
export class ResizeWatch {
	#timer: NodeJS.Timeout | undefined;
	#size = "";
	/** When the question was asked; null while none is asked. */
	#askedAt: number | null = null;
	/** Number of questions without an answer. */
	#unanswered = 0;
	#answers = true;

	constructor(private readonly options: ResizeWatchOptions) {}

	/** True from a resize until `onStable`: no frame can be drawn. */
	get isWaiting(): boolean {
		return this.#timer !== undefined;
	}

	/** Waits for a size; starts over if it is another one. */
	await(size: string): void {
		if (this.#size === size) return;
		this.forget();
		this.#size = size;
		const { delayMs, write } = this.options;
		this.#timer = setTimeout(() => {
			this.#askedAt = monotonicMs();
			this.#unanswered += 1;
			write(ASK_CURSOR);
			this.#timer = setTimeout(() => this.#giveUp(), this.#answers ? Math.max(delayMs, FIRST_ANSWER_MS) : delayMs);
		}, delayMs);
	}

	/** Reads the terminal's answer, also a late one. @returns true when the input is one */
	handleInput(data: string): boolean {
		const row = this.#unanswered > 0 ? /^\x1b\[(\d+);\d+R$/.exec(data)?.[1] : undefined;
		if (row === undefined) return false;
		this.#unanswered -= 1;
		this.#answers = true;
		// Earlier questions were about earlier sizes.
		if (this.#askedAt !== null && this.#unanswered === 0) this.#end(Number(row) - 1, this.#askedAt);
		return true;
	}

	/** Stops waiting. */
	forget(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#size = "";
		this.#askedAt = null;
	}

	/** Stops waiting, and for answers too: they may reach another program. */
	stop(): void {
		this.forget();
		this.#unanswered = 0;
	}

	#giveUp(): void {
		this.#answers = false;
		this.#end(null, this.#askedAt ?? 0);
	}

	#end(cursorRow: number | null, askedAt: number): void {
		this.forget();
		this.options.onStable({ cursorRow, answerMs: monotonicMs() - askedAt });
	}
}
