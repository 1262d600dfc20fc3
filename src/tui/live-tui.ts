import { type Component, CURSOR_MARKER, type Terminal, TUI, visibleWidth } from "@mariozechner/pi-tui";
import { BlockList } from "./block-list.js";
import { type CursorPosition, FrameWriter } from "./frame-writer.js";
import { FullScreen } from "./full-screen.js";
import { type TuiFrames, takeOverFrames } from "./internals/tui.js";
import { safeLine, sealLine } from "./safe-line.js";
import { TerminalImages } from "./terminal-images.js";

export { type Block, BlockList } from "./block-list.js";

/** Settings of a `LiveTUI`. */
export interface LiveTUIOptions {
	/** The transcript. Default: an empty list. */
	blocks?: BlockList;
	/** The images whose marks are in the blocks' lines. Default: images cannot be drawn. */
	images?: TerminalImages;
	/** Delay between the last resize and the redraw. Default 100. */
	resizeDelayMs?: number;
	/** Called after the screen has taken over the terminal. */
	onStart?(): void;
	/** Called just before the screen releases the terminal. */
	onStop?(): void;
}

const SHOW_CURSOR = "\x1b[?25h";
/** Minimum interval between frames of streaming text. */
const STREAM_FRAME_MS = 33;
/** The same while each frame adds more than a screen, which nobody can read. */
const FLOOD_FRAME_MS = 75;
const RESIZE_DELAY_MS = 100;

/**
 * A screen whose frames do not get slower as the session grows: finished blocks that have scrolled off leave the tree
 * (the terminal keeps their lines) and return only for a full redraw. The transcript, `blocks`, is the first child, so
 * anything above it, such as a header, is a block too.
 *
 * The scrollback belongs to the user and is never cleared. A full redraw starts at the first row that was drawn, or at
 * the top of the screen if that row has scrolled off; the rows above remain unchanged.
 */
export class LiveTUI extends TUI {
	readonly blocks: BlockList;
	readonly #writer = new FrameWriter();
	readonly #images: TerminalImages;
	readonly #frames: TuiFrames;
	readonly #options: LiveTUIOptions;
	#resizeTimer: NodeJS.Timeout | undefined;
	#streamTimer: NodeJS.Timeout | undefined;
	/** When the last frame of streaming text ended, and the delay before the next one. */
	#lastStreamFrameAt = 0;
	#streamWaitMs = STREAM_FRAME_MS;
	#echoDue = false;
	#running = false;
	/** Size of the last frame; null when nothing is drawn. */
	#drawn: { columns: number; rows: number } | null = null;
	#redrawRequested = false;
	#redraws = 0;
	/** The size for which the resize timer is running. */
	#pendingSize = "";
	/** Whether the next full redraw brings back the transcript, not just one screen of it. */
	#redrawsAll = true;
	/** Rows above the tree that were drawn since the last full redraw. */
	#liftedRows = 0;
	/** Rows that a redraw after a resize could not reach and drew again below: a larger window shows them again. */
	#strandedRows = 0;
	#cursorShown = false;
	/** The component on the alternate screen; null while the main screen is shown. */
	#fullScreen: FullScreen | null = null;
	/** True after a `stop` that lent the terminal while the alternate screen was shown: the main screen is unchanged. */
	#keepsMain = false;
	/** Lines of the last frame as the components rendered them, and as they were written. */
	#rendered: readonly string[] = [];
	#sealed: readonly string[] = [];

	constructor(terminal: Terminal, options: LiveTUIOptions = {}) {
		super(terminal);
		this.#options = options;
		this.blocks = options.blocks ?? new BlockList();
		this.#images = options.images ?? new TerminalImages();
		this.blocks.attach(() => this.requestRender(true));
		this.addChild(this.blocks);
		this.#frames = takeOverFrames(this, () => this.#frame());
		this.addInputListener(() => this.#echoSoon());
	}

	/** Number of full redraws, including the first frame. */
	override get fullRedraws(): number {
		return this.#redraws;
	}

	/**
	 * Requests a frame for streaming text, at most one every 33 ms, which looks steady. Frames drawn in between, such as
	 * for a key, repeat the text of the last one, so that a key costs the same whatever is streaming.
	 */
	requestStreamFrame(): void {
		if (this.#streamTimer || !this.#running) return;
		const wait = this.#lastStreamFrameAt + this.#streamWaitMs - performance.now();
		this.#streamTimer = setTimeout(() => this.#streamFrame(), Math.max(0, wait));
	}

	/** True between `start` and `stop`. */
	get isRunning(): boolean {
		return this.#running;
	}

	/** Takes over the terminal and draws below its content. Does nothing when running. */
	override start(): void {
		if (this.#running) return;
		this.#running = true;
		if (!this.#keepsMain) this.#startOver();
		this.#keepsMain = false;
		// A frame pending when the screen stopped is never drawn; without this it would block every later frame.
		this.#frames.cancelRequest();
		super.start();
		this.#options.onStart?.();
	}

	/** @param force redraws the transcript, including lines that have scrolled off */
	override requestRender(force = false): void {
		// A forced render of the base class would lose the position of the cursor and thus of the first row.
		if (force && this.#drawn) {
			this.#redrawRequested = true;
			this.#redrawsAll = true;
		}
		super.requestRender();
	}

	/** Redraws the visible screen, such as after a change of colors; lines that have scrolled off are unchanged. */
	redrawScreen(): void {
		this.invalidate();
		if (this.#drawn) this.#redrawRequested = true;
		super.requestRender();
	}

	/** Handles a key as if it had been typed. */
	type(key: string): void {
		this.#frames.handleInput(key);
	}

	/**
	 * Shows a component on the alternate screen, or the main screen again (null). The main screen and its scrollback stay
	 * as they are meanwhile; what changed on it is drawn once, after the return. The caller sets the focus.
	 */
	showFullScreen(component: Component | null): void {
		if (component === (this.#fullScreen?.component ?? null)) return;
		const leave = this.#fullScreen?.leave() ?? "";
		if (leave) this.terminal.write(leave + (this.#cursorShown ? SHOW_CURSOR : ""));
		this.#fullScreen = component && new FullScreen(component, () => this.getShowHardwareCursor());
		this.requestRender();
	}

	/**
	 * Releases the terminal with the cursor below the last line. Does nothing when not running.
	 * @param lends another program uses the terminal until the next `start`: if the alternate screen is shown, the program
	 *   uses it too, and the main screen stays as it is
	 */
	override stop({ lends = false } = {}): void {
		if (!this.#running) return;
		this.#running = false;
		this.#forgetResize();
		clearTimeout(this.#streamTimer);
		this.#streamTimer = undefined;
		this.#keepsMain = lends && this.#fullScreen !== null;
		const left = this.#keepsMain ? this.#fullScreen?.lend() : this.#fullScreen?.leave();
		if (left) this.terminal.write(left);
		this.#cursorShown = false;
		const leave = this.#keepsMain ? "" : this.#writer.leave();
		if (leave) this.terminal.write(leave);
		this.#options.onStop?.();
		super.stop();
	}

	/** Draws typed text before any other work, not after a timer; keys of one read share a frame. */
	#echoSoon(): undefined {
		if (this.#echoDue) return;
		this.#echoDue = true;
		process.nextTick(() => {
			this.#echoDue = false;
			if (this.#frames.isRequested) this.#frameNow();
		});
	}

	#streamFrame(): void {
		this.#streamTimer = undefined;
		const before = this.#sealed.length;
		const lines = this.#frameNow();
		this.#streamWaitMs = lines - before > this.terminal.rows ? FLOOD_FRAME_MS : STREAM_FRAME_MS;
		// Measured from the end of the frame, so that a slow machine has time for other work too.
		this.#lastStreamFrameAt = performance.now();
	}

	/** Draws a frame now instead of the requested one. @returns its number of lines */
	#frameNow(): number {
		this.#frames.cancelRequest();
		return this.#frame();
	}

	/** Draws one frame. @returns its number of lines, including those that scrolled off with it */
	#frame(): number {
		if (!this.#running) return 0;
		const { columns, rows } = this.terminal;
		if (this.#fullScreen) {
			const out = this.#fullScreen.frame(columns, rows);
			if (out) this.terminal.write(out);
			return 0;
		}
		const drawn = this.#drawn;
		const isFull = !drawn || this.#redrawRequested;
		if (!isFull && (columns !== drawn.columns || rows !== drawn.rows)) this.#awaitStableSize(`${columns}x${rows}`);
		if (!isFull && this.#resizeTimer) return 0;
		this.#forgetResize();
		const clear = drawn ? (isFull ? this.#clearAll(drawn.columns, rows) : clearFrom(this.#writer.cursorLine)) : "";
		if (isFull) this.#restoreBlocks(columns, rows);
		this.#redrawRequested = false;
		this.blocks.holdsLive = !isFull && this.#streamTimer !== undefined;
		const frame = this.#compose(columns, rows);
		let out = isFull ? null : this.#writer.update(frame);
		if (out === null) {
			this.#redraws += 1;
			out = this.#writer.redraw(frame, this.#images.removeAll() + clear);
		}
		if (frame.cursor && !this.#cursorShown && this.getShowHardwareCursor()) {
			this.#cursorShown = true;
			out += SHOW_CURSOR;
		}
		if (out) this.terminal.write(this.#images.expand(out));
		this.#drawn = { columns, rows };
		this.#lift();
		return frame.lines.length;
	}

	/** Renders all lines as they are written to the terminal, and the position of the cursor among them. */
	#compose(columns: number, rows: number): { lines: string[]; cursor: CursorPosition | null; rows: number } {
		const tree = this.render(columns);
		const rendered = this.hasOverlay() ? this.#frames.compositeOverlays(tree, columns, rows) : tree;
		const isSameWidth = this.#drawn?.columns === columns;
		// A line that is too wide, or contains line ends or control sequences, would corrupt all later frames.
		const sealed = rendered.map((line, index) => {
			const known = isSameWidth && line === this.#rendered[index] ? this.#sealed[index] : undefined;
			return known ?? sealLine(safeLine(line, columns));
		});
		this.#rendered = rendered;
		this.#sealed = sealed;
		const lines = [...sealed];
		return { lines, cursor: takeCursor(lines, rows), rows };
	}

	/** Starts at the position where another program left the cursor. */
	#startOver(): void {
		this.#writer.restart();
		this.#strandedRows = 0;
		this.#images.forgetSent();
		this.#drawn = null;
		this.#cursorShown = false;
		// Moves to the start of a row: the next one, unless the cursor is already at the start of one.
		this.terminal.write(`${" ".repeat(this.terminal.columns)}\r\x1b[K`);
	}

	/** Restores the lines for a redraw: the transcript if that was requested, else as many as were on the screen. */
	#restoreBlocks(columns: number, rows: number): void {
		const lines = rows * Math.max(1, Math.ceil((this.#drawn?.columns ?? 0) / columns));
		this.blocks.restore(columns, this.#redrawsAll ? undefined : lines);
		this.#redrawsAll = false;
		this.#liftedRows = 0;
	}

	/** @returns output that clears the screen from the first drawn row on */
	#clearAll(drawnColumns: number, rows: number): string {
		const heights = this.#heightsAboveCursor(drawnColumns);
		const above = this.#strandedRows + this.#liftedRows;
		this.#strand(rows, heights);
		return clearFrom(heights.reduce((sum, height) => sum + height, above));
	}

	/**
	 * Counts the rows that a redraw cannot reach and draws again: lines above the cursor that do not fit on the screen.
	 * When other content is drawn, they remain in the scrollback for good.
	 */
	#strand(rows: number, heights: readonly number[]): void {
		let room = rows - 1;
		let reached = 0;
		for (const height of heights.toReversed()) {
			room -= height;
			if (room < 0) break;
			reached += 1;
		}
		const above = this.#strandedRows + this.#liftedRows + heights.length - reached;
		this.#strandedRows = this.#redrawsAll ? 0 : Math.max(0, above - Math.max(0, room));
	}

	/** Number of rows of each line above the cursor. Terminals wrap lines when the window gets narrower. */
	#heightsAboveCursor(drawnColumns: number): number[] {
		const { columns } = this.terminal;
		const lines = this.#writer.lines.slice(0, this.#writer.cursorLine);
		return lines.map((line) => (columns >= drawnColumns ? 1 : Math.max(1, Math.ceil(visibleWidth(line) / columns))));
	}

	/** Draws no frames until the size is stable, then redraws everything: each terminal reflows lines in its own way. */
	#awaitStableSize(size: string): void {
		if (this.#pendingSize === size) return;
		clearTimeout(this.#resizeTimer);
		this.#pendingSize = size;
		this.#resizeTimer = setTimeout(() => {
			this.#forgetResize();
			this.#redrawRequested = true;
			this.#frame();
		}, this.#options.resizeDelayMs ?? RESIZE_DELAY_MS);
	}

	#forgetResize(): void {
		clearTimeout(this.#resizeTimer);
		this.#resizeTimer = undefined;
		this.#pendingSize = "";
	}

	/** Removes lines that have scrolled off from the tree. */
	#lift(): void {
		const lines = this.blocks.lift(this.#writer.top);
		if (lines === 0) return;
		this.#liftedRows += lines;
		this.#images.leave(this.#sealed.slice(0, lines));
		this.#writer.lift(lines);
		this.#rendered = this.#rendered.slice(lines);
		this.#sealed = this.#sealed.slice(lines);
	}
}

/**
 * @returns output that moves up by `rows`, at most to the top of the screen, and clears from there to the end. The first
 * cell is cleared last: clearing from the first cell of the screen, tmux would push the cleared text into the scrollback
 */
function clearFrom(rows: number): string {
	return `${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[C\x1b[J\r\x1b[K`;
}

/** Removes the cursor's mark from the lines. @returns its position; null when it is not on the screen */
function takeCursor(lines: string[], rows: number): CursorPosition | null {
	for (let line = lines.length - 1; line >= Math.max(0, lines.length - rows); line -= 1) {
		const text = lines[line] ?? "";
		const at = text.indexOf(CURSOR_MARKER);
		if (at === -1) continue;
		lines[line] = text.slice(0, at) + text.slice(at + CURSOR_MARKER.length);
		return { line, column: visibleWidth(text.slice(0, at)) };
	}
	return null;
}
