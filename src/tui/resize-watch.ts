/** Asks for the position of the cursor. */
const ASK_CURSOR = "\x1b[6n";

/** How a `ResizeWatch` waits and reports. */
export interface ResizeWatchOptions {
	/** Time without another resize after which the size counts as stable, and time for the terminal's answer, ms. */
	delayMs: number;
	write(data: string): void;
	/** @param cursorRow row of the cursor, from 0; null if the terminal does not tell */
	onStable(cursorRow: number | null): void;
}

/**
 * Waits until the size of the terminal is stable, so that a burst of resizes costs one redraw, and then asks for the row
 * of the cursor: each terminal reflows lines and moves them to and from its scrollback in its own way.
 */
export class ResizeWatch {
	#timer: NodeJS.Timeout | undefined;
	#size = "";
	#asks = false;

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
			this.#asks = true;
			write(ASK_CURSOR);
			this.#timer = setTimeout(() => this.#end(null), delayMs);
		}, delayMs);
	}

	/** Reads the terminal's answer. @returns true when the input is one */
	handleInput(data: string): boolean {
		const row = this.#asks ? /^\x1b\[(\d+);\d+R$/.exec(data)?.[1] : undefined;
		if (row === undefined) return false;
		this.#end(Number(row) - 1);
		return true;
	}

	/** Stops waiting. */
	forget(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#size = "";
		this.#asks = false;
	}

	#end(cursorRow: number | null): void {
		this.forget();
		this.options.onStable(cursorRow);
	}
}
