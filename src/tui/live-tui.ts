import { CURSOR_MARKER, type Terminal, TUI, visibleWidth } from "@mariozechner/pi-tui";
import { BlockList } from "./block-list.js";
import { type CursorPlace, FrameWriter } from "./frame-writer.js";
import { type TuiFrames, takeOverFrames } from "./internals/tui.js";
import { safeLine, sealLine } from "./safe-line.js";
import { TerminalImages } from "./terminal-images.js";

export { type Block, BlockList } from "./block-list.js";

/** Settings of a `LiveTUI`. */
export interface LiveTUIOptions {
	/** The transcript. Default: an empty list. */
	blocks?: BlockList;
	/** The images whose marks are in the blocks' lines. Default: none can be drawn. */
	images?: TerminalImages;
	/** How long the size must rest before the screen is drawn anew, ms. Default 100. */
	resizeDelayMs?: number;
	/** Told when the terminal is taken and just before it is given back. */
	onStart?(): void;
	onStop?(): void;
}

const SHOW_CURSOR = "\x1b[?25h";
/** Between two frames of streaming text, ms. */
const STREAM_FRAME_MS = 33;
/** The same while each brings more than a screen, which nobody can read. */
const FLOOD_FRAME_MS = 75;
const RESIZE_DELAY_MS = 100;

/**
 * A screen whose frames cost the same however long the session is: finished blocks that have scrolled off leave the tree
 * (the terminal keeps their lines) and come back only for a full redraw. The transcript, `blocks`, is its first child, so
 * whatever stands above it, such as a header, is a block too.
 *
 * The scrollback is the user's: nothing in it is ever cleared. A full redraw starts at the first row that was drawn, or
 * at the top of the screen when that row has scrolled off; what scrolled off then stays above, as it was.
 */
export class LiveTUI extends TUI {
	readonly blocks: BlockList;
	readonly #writer = new FrameWriter();
	readonly #images: TerminalImages;
	readonly #frames: TuiFrames;
	readonly #options: LiveTUIOptions;
	#resizeTimer: NodeJS.Timeout | undefined;
	#streamTimer: NodeJS.Timeout | undefined;
	/** When the last frame of streaming text was done, and how long it keeps the next one waiting. */
	#lastStreamFrameAt = 0;
	#streamWaitMs = STREAM_FRAME_MS;
	#echoDue = false;
	#running = false;
	/** Size of the last frame; null when nothing is drawn. */
	#drawn: { columns: number; rows: number } | null = null;
	#redrawAsked = false;
	#redraws = 0;
	/** Size that the running timer waits to settle. */
	#awaitedSize = "";
	/** The next full redraw brings the transcript back, not just a screen of it. */
	#redrawsAll = true;
	/** Rows above the tree that were drawn since the last full redraw. */
	#liftedRows = 0;
	/** Rows above those that a redraw for another size could not reach, and drew again: a larger window brings them back. */
	#strandedRows = 0;
	#cursorShown = false;
	/** Lines of the last frame as the components gave them, and as they went out. */
	#given: readonly string[] = [];
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

	/** How often everything was drawn, the first time included. */
	override get fullRedraws(): number {
		return this.#redraws;
	}

	/**
	 * Asks for a frame for text that streams in: at most one in 33 ms, which the eye takes as steady. Frames that are
	 * drawn meanwhile for other reasons, as for each key, show the text as it was in the last one: a key costs the same
	 * whatever streams in.
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

	/** Takes the terminal and draws below what is there. Does nothing when running. */
	override start(): void {
		if (this.#running) return;
		this.#running = true;
		this.#startAfresh();
		super.start();
		this.#options.onStart?.();
	}

	/** @param force draws the transcript anew, also what has scrolled off */
	override requestRender(force = false): void {
		// The base class would forget where the cursor is, and with it where the first row is.
		if (force && this.#drawn) {
			this.#redrawAsked = true;
			this.#redrawsAll = true;
		}
		super.requestRender();
	}

	/** Draws what is on the screen anew, as after a change of colours; what has scrolled off stays as it is. */
	redrawScreen(): void {
		this.invalidate();
		if (this.#drawn) this.#redrawAsked = true;
		super.requestRender();
	}

	/** Takes a key as if it had been typed. */
	type(key: string): void {
		this.#frames.handleInput(key);
	}

	/** Gives the terminal back; the cursor is below what was drawn. Does nothing when not running. */
	override stop(): void {
		if (!this.#running) return;
		this.#running = false;
		this.#forgetResize();
		clearTimeout(this.#streamTimer);
		this.#streamTimer = undefined;
		const leave = this.#writer.leave();
		if (leave) this.terminal.write(leave);
		this.#options.onStop?.();
		super.stop();
	}

	/** What was typed shows before anything else is done, not with the next tick of a clock; keys of one read together. */
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
		// From the end on: a machine that takes long for a frame gets time for other things too.
		this.#lastStreamFrameAt = performance.now();
	}

	/** Draws a frame in place of the one that was asked for. @returns how many lines it had */
	#frameNow(): number {
		this.#frames.cancelRequest();
		return this.#frame();
	}

	/** Draws one frame. @returns how many lines it had, with those that have scrolled off since the last one */
	#frame(): number {
		if (!this.#running) return 0;
		const { columns, rows } = this.terminal;
		const drawn = this.#drawn;
		const isAnew = !drawn || this.#redrawAsked;
		if (!isAnew && (columns !== drawn.columns || rows !== drawn.rows)) this.#awaitRest(`${columns}x${rows}`);
		if (!isAnew && this.#resizeTimer) return 0;
		this.#forgetResize();
		const clear = drawn ? (isAnew ? this.#clearAll(drawn.columns, rows) : clearFrom(this.#writer.cursorLine)) : "";
		if (isAnew) this.#bringBack(columns, rows);
		this.#redrawAsked = false;
		this.blocks.holdsLive = !isAnew && this.#streamTimer !== undefined;
		const frame = this.#compose(columns, rows);
		let out = isAnew ? null : this.#writer.update(frame);
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

	/** All lines as they go to the terminal, and where the cursor stands among them. */
	#compose(columns: number, rows: number): { lines: string[]; cursor: CursorPlace | null; rows: number } {
		const tree = this.render(columns);
		const given = this.hasOverlay() ? this.#frames.compositeOverlays(tree, columns, rows) : tree;
		const isSameWidth = this.#drawn?.columns === columns;
		// A line that is too wide or holds a line end would break every frame after it, one with control sequences more.
		const sealed = given.map((line, index) => {
			const known = isSameWidth && line === this.#given[index] ? this.#sealed[index] : undefined;
			return known ?? sealLine(safeLine(line, columns));
		});
		this.#given = given;
		this.#sealed = sealed;
		const lines = [...sealed];
		return { lines, cursor: takeCursor(lines, rows), rows };
	}

	/** The cursor is wherever another program left it: the next frame is drawn from there on. */
	#startAfresh(): void {
		this.#writer.restart();
		this.#strandedRows = 0;
		this.#images.forgetSent();
		this.#drawn = null;
		this.#cursorShown = false;
		// A frame pending when the screen stopped is never drawn; without this it would block every later frame.
		this.#frames.cancelRequest();
		// To the start of a row: the next one, unless the cursor is at the start of one already.
		this.terminal.write(`${" ".repeat(this.terminal.columns)}\r\x1b[K`);
	}

	/** Puts back what a redraw draws: the transcript when that was asked for, else as much as was on the screen. */
	#bringBack(columns: number, rows: number): void {
		const lines = rows * Math.max(1, Math.ceil((this.#drawn?.columns ?? 0) / columns));
		this.blocks.restore(columns, this.#redrawsAll ? undefined : lines);
		this.#redrawsAll = false;
		this.#liftedRows = 0;
	}

	/** @returns what clears the screen from the first row on that was drawn */
	#clearAll(drawnColumns: number, rows: number): string {
		const heights = this.#heightsAboveCursor(drawnColumns);
		const above = this.#strandedRows + this.#liftedRows;
		this.#strand(rows, heights);
		return clearFrom(heights.reduce((sum, height) => sum + height, above));
	}

	/**
	 * Counts what a redraw cannot reach and draws again: the lines above the cursor that the screen has no room for. When
	 * something else is drawn, what is there stays for good.
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

	/** Rows of each line above the cursor. Terminals wrap lines that a smaller width has no room for. */
	#heightsAboveCursor(drawnColumns: number): number[] {
		const { columns } = this.terminal;
		const lines = this.#writer.lines.slice(0, this.#writer.cursorLine);
		return lines.map((line) => (columns >= drawnColumns ? 1 : Math.max(1, Math.ceil(visibleWidth(line) / columns))));
	}

	/** No frames until the size has rested; then a full redraw, since terminals move lines about in their own ways. */
	#awaitRest(size: string): void {
		if (this.#awaitedSize === size) return;
		clearTimeout(this.#resizeTimer);
		this.#awaitedSize = size;
		this.#resizeTimer = setTimeout(() => {
			this.#forgetResize();
			this.#redrawAsked = true;
			this.#frame();
		}, this.#options.resizeDelayMs ?? RESIZE_DELAY_MS);
	}

	#forgetResize(): void {
		clearTimeout(this.#resizeTimer);
		this.#resizeTimer = undefined;
		this.#awaitedSize = "";
	}

	/** Takes out of the tree what has scrolled off. */
	#lift(): void {
		const lines = this.blocks.lift(this.#writer.top);
		if (lines === 0) return;
		this.#liftedRows += lines;
		this.#images.leave(this.#sealed.slice(0, lines));
		this.#writer.lift(lines);
		this.#given = this.#given.slice(lines);
		this.#sealed = this.#sealed.slice(lines);
	}
}

/**
 * Moves to the row, `rows` above the cursor but on the screen, and clears from there on, the first cell last: where
 * that is the first of the screen, tmux would put all that is cleared from it on into the scrollback.
 */
function clearFrom(rows: number): string {
	return `${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[C\x1b[J\r\x1b[K`;
}

/** Takes the cursor's mark out of the lines. @returns where it was, when on the screen */
function takeCursor(lines: string[], rows: number): CursorPlace | null {
	for (let line = lines.length - 1; line >= Math.max(0, lines.length - rows); line -= 1) {
		const text = lines[line] ?? "";
		const at = text.indexOf(CURSOR_MARKER);
		if (at === -1) continue;
		lines[line] = text.slice(0, at) + text.slice(at + CURSOR_MARKER.length);
		return { line, column: visibleWidth(text.slice(0, at)) };
	}
	return null;
}
