import type { Terminal as TuiTerminal } from "@mariozechner/pi-tui";
import headless from "@xterm/headless";
import { type KeyName, keyBytes } from "./keys.js";
import { type Cell, rowText, screenCells } from "./screen-cells.js";

/** Time without output after which the screen counts as settled: longer than a frame. */
const QUIET_MS = 40;
/** Maximum time to settle. */
const SETTLE_LIMIT_MS = 1_000;
/** Interval between checks of the output. */
const LOOK_MS = 5;

/** A terminal in memory with a screen and scrollback. */
export class VirtualTerminal implements TuiTerminal {
	readonly kittyProtocolActive = false;
	/** Everything written, in order, one item per write. */
	readonly writes: string[] = [];
	/** True between `start` and `stop`. */
	running = false;
	readonly #emulator: headless.Terminal;
	/** Whether the screen has settled after a key, and the event loop has not turned since. */
	#settled = false;
	#onInput: (data: string) => void = () => {};
	#onResize: () => void = () => {};
	/** Output that has not reached the screen yet; null while all output reaches it at once. */
	#inFlight: string[] | null = null;

	constructor(columns = 80, rows = 24) {
		this.#emulator = new headless.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
		// Like a real terminal, it tells where its cursor is, and that it works.
		this.#emulator.onData((answer) => {
			if (/^\x1b\[(?:\d+;\d+R|0n)$/.test(answer)) this.#onInput(answer);
		});
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
		await this.#settleAfterKey();
	}

	/** Presses keys one after another and waits for the screen after each. */
	async press(...keys: KeyName[]): Promise<void> {
		for (const key of keys) {
			this.send(keyBytes(key));
			await this.#settleAfterKey();
		}
	}

	/** Pastes text as a bracketed paste. */
	async paste(text: string): Promise<void> {
		this.send(`\x1b[200~${text}\x1b[201~`);
		await this.settle();
	}

	/** Sends one input sequence without waiting. */
	send(sequence: string): void {
		this.#onInput(sequence);
	}

	/** Changes the size and notifies the program, without waiting. */
	resize(columns: number, rows: number): void {
		this.#emulator.resize(columns, rows);
		this.#onResize();
	}

	/**
	 * Waits until nothing is written for `quietMs`, by default longer than a frame. It counts checks, not time, so that on
	 * a stalled machine the timers of the next frame run in between too.
	 */
	async settle(quietMs = QUIET_MS): Promise<void> {
		this.#settled = false;
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

	/** @returns the settled screen, one string per row, without trailing spaces and blank rows at the end */
	async screen(): Promise<string[]> {
		if (!this.#settled) await this.settle();
		return withoutBlankEnd(this.#rows(this.#emulator.buffer.active.baseY));
	}

	/** The settled screen as one text, for snapshots. */
	async text(): Promise<string> {
		return `${(await this.screen()).join("\n")}\n`;
	}

	/** @returns scrollback and screen */
	async scrollback(): Promise<string[]> {
		if (!this.#settled) await this.settle();
		return withoutBlankEnd(this.#rows(0));
	}

	/** @returns the current screen, or the scrollback too, without waiting */
	async rowsNow(withScrollback = false): Promise<string[]> {
		await this.#parsed();
		return withoutBlankEnd(this.#rows(withScrollback ? 0 : this.#emulator.buffer.active.baseY));
	}

	/** @returns the current screen as cells, one list per row, without waiting */
	async cells(): Promise<Cell[][]> {
		await this.#parsed();
		return screenCells(this.#emulator);
	}

	/** @returns the position of the cursor on the screen, from 0 */
	async cursor(): Promise<{ row: number; column: number }> {
		await this.#parsed();
		const { cursorX, cursorY } = this.#emulator.buffer.active;
		return { row: cursorY, column: cursorX };
	}

	/**
	 * Polls until the screen contains a text, matches a pattern, or satisfies a predicate.
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

	/** All output as one string. */
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
		if (this.#inFlight) this.#inFlight.push(data);
		else this.#emulator.write(data);
	}

	/** Holds back output until `arrive`, like a slow connection. */
	hold(): void {
		this.#inFlight ??= [];
	}

	/** Shows the output that was held back, at the current size. */
	arrive(): void {
		this.#emulator.write((this.#inFlight ?? []).join(""));
		this.#inFlight = null;
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

	/** A screen that is read at once after this does not have to settle again. */
	async #settleAfterKey(): Promise<void> {
		await this.settle();
		this.#settled = true;
		setImmediate(() => {
			this.#settled = false;
		});
	}

	/** Resolves when the emulator has processed all output. */
	#parsed(): Promise<void> {
		return new Promise((resolve) => this.#emulator.write("", resolve));
	}

	#rows(from: number): string[] {
		const buffer = this.#emulator.buffer.active;
		const rows: string[] = [];
		for (let row = from; row < buffer.length; row += 1) rows.push(rowText(buffer.getLine(row)));
		return rows;
	}
}

function withoutBlankEnd(rows: string[]): string[] {
	const last = rows.findLastIndex((row) => row.trim() !== "");
	return rows.slice(0, last + 1);
}
