import type { Terminal } from "@mariozechner/pi-tui";

/** How pi-tui begins a full redraw: screen and scrollback cleared, the user's too. */
const CLEAR_ALL = "\x1b[2J\x1b[H\x1b[3J";
const SHOW_CURSOR = "\x1b[?25h";
const HIDE_CURSOR = "\x1b[?25l";
/** What pi-tui ends every line with: all styles off, no link. */
const LINE_END = /\x1b\[0m\x1b\]8;;\x07/g;
const LINK = /\x1b\]8;[^;]*;[^\x07\x1b]/;
const UNSTYLED_LINE = /((?:^|\r\n)(?:\x1b\[2K)?[^\x1b\r\n]*)\x1b\[0m(?=\r\n|\x1b\[\?2026l)/g;

/**
 * A terminal that can hold back what a frame writes, so that the frame goes out as one write. Outside a
 * frame everything passes through. A cursor that is hidden already is not hidden again.
 */
export class FrameTerminal implements Terminal {
	/** What a frame writes instead of clearing screen and scrollback. */
	clear = "";
	#held: string[] | undefined;
	#cursorShown: boolean | undefined;

	constructor(private readonly inner: Terminal) {}

	/** Holds back everything written from here on. */
	beginFrame(): void {
		this.#held = [];
	}

	/** Writes what was held back, at once. */
	endFrame(): void {
		const held = this.#held?.join("").replace(CLEAR_ALL, () => this.clear);
		this.#held = undefined;
		if (held) this.inner.write(withoutIdleResets(held));
	}

	write(data: string): void {
		if (this.#held) this.#held.push(data);
		else this.inner.write(data);
	}

	hideCursor(): void {
		if (this.#cursorShown === false) return;
		this.#cursorShown = false;
		this.write(HIDE_CURSOR);
	}

	showCursor(): void {
		if (this.#cursorShown === true) return;
		this.#cursorShown = true;
		this.write(SHOW_CURSOR);
	}

	start(onInput: (data: string) => void, onResize: () => void): void {
		this.#cursorShown = undefined;
		this.inner.start(onInput, onResize);
	}

	stop(): void {
		this.inner.stop();
	}

	drainInput(maxMs?: number, idleMs?: number): Promise<void> {
		return this.inner.drainInput(maxMs, idleMs);
	}

	get columns(): number {
		return this.inner.columns;
	}

	get rows(): number {
		return this.inner.rows;
	}

	get kittyProtocolActive(): boolean {
		return this.inner.kittyProtocolActive;
	}

	moveBy(lines: number): void {
		if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
	}

	clearLine(): void {
		this.write("\x1b[K");
	}

	clearFromCursor(): void {
		this.write("\x1b[J");
	}

	clearScreen(): void {
		this.write("\x1b[2J\x1b[H");
	}

	setTitle(title: string): void {
		this.inner.setTitle(title);
	}

	setProgress(active: boolean): void {
		this.inner.setProgress(active);
	}
}

/** Takes out what turns off styles and links that are not on: a tenth of what a stream of text costs to send. */
function withoutIdleResets(frame: string): string {
	const linkless = LINK.test(frame) ? frame : frame.replace(LINE_END, "\x1b[0m");
	return linkless.replace(UNSTYLED_LINE, "$1");
}
