import { monotonicMs } from "../util/clock.js";

/** Asks for the position of the cursor. */
const ASK_CURSOR = "\x1b[6n";
const ANSWER = /^\x1b\[(\d{1,5});\d{1,5}R$/;

/** Asks the terminal where its cursor is. It answers in order, once it has processed all output before the question. */
export class CursorReports {
	#waiting: ((row: number) => void)[] = [];

	constructor(private readonly write: (data: string) => void) {}

	/** @param onRow receives the row, from 0; never called by a terminal that does not answer */
	ask(onRow: (row: number) => void): void {
		this.#waiting.push(onRow);
		this.write(ASK_CURSOR);
	}

	/** Reads an answer, also a late one. @returns true when the input is one */
	handleInput(data: string): boolean {
		const row = this.#waiting.length > 0 ? ANSWER.exec(data)?.[1] : undefined;
		if (row === undefined) return false;
		this.#waiting.shift()?.(Number(row) - 1);
		return true;
	}

	/** Stops waiting for answers: they may reach another program. */
	stop(): void {
		this.#waiting = [];
	}
}

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
	reports: Pick<CursorReports, "ask">;
	onStable(size: StableSize): void;
}

/**
 * Waits until the size of the terminal is stable, so that a burst of resizes costs one redraw, and then asks for the row
 * of the cursor: each terminal reflows lines and moves them to and from its scrollback in its own way.
 */
export class ResizeWatch {
	#timer: NodeJS.Timeout | undefined;
	#size = "";
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
		const { delayMs, reports } = this.options;
		this.#timer = setTimeout(() => {
			const askedAt = monotonicMs();
			const timer = setTimeout(
				() => {
					this.#answers = false;
					this.#end(null, askedAt);
				},
				this.#answers ? Math.max(delayMs, FIRST_ANSWER_MS) : delayMs,
			);
			this.#timer = timer;
			reports.ask((row) => {
				this.#answers = true;
				// Earlier questions were about earlier sizes.
				if (this.#timer === timer) this.#end(row, askedAt);
			});
		}, delayMs);
	}

	/** Stops waiting. */
	forget(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#size = "";
	}

	#end(cursorRow: number | null, askedAt: number): void {
		this.forget();
		this.options.onStable({ cursorRow, answerMs: monotonicMs() - askedAt });
	}
}
