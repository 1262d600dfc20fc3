import type { Terminal as TuiTerminal } from "@mariozechner/pi-tui";
import headless from "@xterm/headless";
import { type KeyName, keyBytes } from "./keys.js";

/** How long nothing must be written before the screen counts as settled: longer than a frame. ms. */
const QUIET_MS = 40;
/** How long it may take to settle. ms. */
const SETTLE_LIMIT_MS = 1_000;
/** Time between two looks at what was written. ms. */
const LOOK_MS = 5;

/** A terminal in memory: keys in, screen and scrollback out. */
export class VirtualTerminal implements TuiTerminal {
	readonly kittyProtocolActive = false;
	/** Everything written, in order, one item per write. */
	readonly writes: string[] = [];
	/** True between `start` and `stop`. */
	running = false;
	readonly #emulator: headless.Terminal;
	#onInput: (data: string) => void = () => {};
	#onResize: () => void = () => {};

	constructor(columns = 80, rows = 24) {
		this.#emulator = new headless.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
	}

	get columns(): number {
		return this.#emulator.cols;
	}

	get rows(): number {
		return this.#emulator.rows;
	}

	/** Sends text as typed, one UTF-16 unit per event, as a real terminal's input arrives. */
	async type(text: string): Promise<void> {
		for (let index = 0; index < text.length; index += 1) this.send(text.charAt(index));
		await this.settle();
	}

	/** Presses keys one after the other; the screen settles after each. */
	async press(...keys: KeyName[]): Promise<void> {
		for (const key of keys) {
			this.send(keyBytes(key));
			await this.settle();
		}
	}

	/** Pastes text, bracketed. */
	async paste(text: string): Promise<void> {
		this.send(`\x1b[200~${text}\x1b[201~`);
		await this.settle();
	}

	/** Sends one input sequence and does not wait. */
	send(sequence: string): void {
		this.#onInput(sequence);
	}

	/** Changes the size and tells the program; does not wait. */
	resize(columns: number, rows: number): void {
		this.#emulator.resize(columns, rows);
		this.#onResize();
	}

	/**
	 * Waits until nothing was written for `quietMs`, by default longer than a frame takes. Looks are counted, not time: on
	 * a machine that stands still for a while, the timers of a frame to come run in the meantime too.
	 */
	async settle(quietMs = QUIET_MS): Promise<void> {
		const lookMs = Math.min(quietMs, LOOK_MS);
		let seen = -1;
		let quiet = 0;
		for (let looks = SETTLE_LIMIT_MS / lookMs; quiet < quietMs / lookMs && looks > 0; looks -= 1) {
			quiet = seen === this.writes.length ? quiet + 1 : 0;
			seen = this.writes.length;
			await new Promise((resolve) => setTimeout(resolve, lookMs));
		}
		await this.#parsed();
	}

	/** @returns the settled screen, one string per row, without trailing blanks and without blank rows at the end */
	async screen(): Promise<string[]> {
		await this.settle();
		return withoutBlankEnd(this.#rows(this.#emulator.buffer.active.baseY));
	}

	/** The settled screen as one text, for snapshots. */
	async text(): Promise<string> {
		return `${(await this.screen()).join("\n")}\n`;
	}

	/** @returns scrollback and screen */
	async scrollback(): Promise<string[]> {
		await this.settle();
		return withoutBlankEnd(this.#rows(0));
	}

	/** @returns what is written by now, without waiting for more: the screen, or the scrollback too */
	async rowsNow(withScrollback = false): Promise<string[]> {
		await this.#parsed();
		return withoutBlankEnd(this.#rows(withScrollback ? 0 : this.#emulator.buffer.active.baseY));
	}

	/** @returns where the cursor is on the screen, from 0 */
	async cursor(): Promise<{ row: number; column: number }> {
		await this.#parsed();
		const { cursorX, cursorY } = this.#emulator.buffer.active;
		return { row: cursorY, column: cursorX };
	}

	/**
	 * Polls until the screen holds a text, matches, or satisfies a predicate.
	 * @returns that screen
	 * @throws Error with the last screen after `timeoutMs`
	 */
	async waitFor(
		wanted: string | RegExp | ((screen: string[]) => boolean),
		{ timeoutMs = 12_000 } = {},
	): Promise<string[]> {
		const deadline = Date.now() + timeoutMs;
		for (;;) {
			await this.#parsed();
			const screen = withoutBlankEnd(this.#rows(this.#emulator.buffer.active.baseY));
			const text = screen.join("\n");
			if (
				typeof wanted === "function"
					? wanted(screen)
					: typeof wanted === "string"
						? text.includes(wanted)
						: wanted.test(text)
			) {
				return screen;
			}
			if (Date.now() > deadline) throw new Error(`The screen never showed ${String(wanted)}:\n${text}`);
			await new Promise((resolve) => setTimeout(resolve, 5));
		}
	}

	/** All that was written, as one string. */
	get output(): string {
		return this.writes.join("");
	}

	start(onInput: (data: string) => void, onResize: () => void): void {
		this.running = true;
		this.#onInput = onInput;
		this.#onResize = onResize;
	}

	stop(): void {
		this.running = false;
		this.#onInput = () => {};
		this.#onResize = () => {};
	}

	write(data: string): void {
		this.writes.push(data);
		this.#emulator.write(data);
	}

	async drainInput(): Promise<void> {}
	moveBy(lines: number): void {
		if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
	}
	hideCursor(): void {
		this.write("\x1b[?25l");
	}
	showCursor(): void {
		this.write("\x1b[?25h");
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
		this.write(`\x1b]0;${title}\x07`);
	}
	setProgress(): void {}

	/** Resolves when the emulator has taken in all that was written. */
	#parsed(): Promise<void> {
		return new Promise((resolve) => this.#emulator.write("", resolve));
	}

	#rows(from: number): string[] {
		const buffer = this.#emulator.buffer.active;
		const rows: string[] = [];
		for (let row = from; row < buffer.length; row += 1) rows.push(buffer.getLine(row)?.translateToString(true) ?? "");
		return rows;
	}
}

function withoutBlankEnd(rows: string[]): string[] {
	const last = rows.findLastIndex((row) => row.trim() !== "");
	return rows.slice(0, last + 1);
}
