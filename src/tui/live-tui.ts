import { type Component, isKeyRelease, type Terminal, TuiMainScreen, type TuiStopOptions } from "@mariozechner/pi-tui";
import { Pace } from "../util/clock.js";
import { BlockList, type ListPosition } from "./block-list.js";
import { withoutMark } from "./clicks.js";
import { type CursorPosition, clearFrom, FrameWriter, takeCursor } from "./frame-writer.js";
import { FramesInFlight } from "./frames-in-flight.js";
import { FullScreen, LENT } from "./full-screen.js";
import { LinesAbove } from "./lines-above.js";
import { type Measured, measureScreen, NOTHING_DRAWN, type ScreenSize } from "./measure-screen.js";
import type { Mouse } from "./mouse.js";
import { CursorReports, ResizeWatch, type StableSize } from "./resize-watch.js";
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

const [SHOW_CURSOR, HIDE_CURSOR] = ["\x1b[?25h", "\x1b[?25l"];
/** Time between frames of streaming text, which looks steady; and while each frame adds more than a screen, which nobody can read. */
const [STREAM_FRAME_MS, FLOOD_FRAME_MS] = [33, 75];
const RESIZE_DELAY_MS = 100;

/**
 * A screen whose frames do not get slower as the session grows: finished blocks that have scrolled off leave the tree
 * (the terminal keeps their lines) and return only for a full redraw. The transcript, `blocks`, is the first child, so
 * anything above it, such as a header, is a block too.
 *
 * The scrollback belongs to the user and is never cleared. A full redraw starts at the first row that was drawn, or at
 * the top of the screen if that row has scrolled off; the rows above remain unchanged.
 */
export class LiveTUI extends TuiMainScreen {
	readonly blocks: BlockList;
	/** Reads the mouse; null: nobody does. */
	mouse: Pick<Mouse, "handleInput" | "drew"> | null = null;
	/** Where the terminal's cursor is. */
	readonly cursor: CursorReports;
	readonly #writer = new FrameWriter();
	readonly #images: TerminalImages;
	readonly #options: LiveTUIOptions;
	readonly #resize: ResizeWatch;
	readonly #stream = new Pace(() => this.#streamFrame());
	/** Number of lines of the last frame, including those that scrolled off with it. */
	#frameLines = 0;
	#running = false;
	/** Size of the last frame; null when nothing is drawn. */
	#drawn: ScreenSize | null = null;
	#redrawRequested = false;
	#redraws = 0;
	/** Whether the next full redraw brings back the transcript, not just one screen of it. */
	#redrawsAll = true;
	/** Rows above the tree that were drawn since the last full redraw. */
	#liftedRows = 0;
	/**
	 * Number of lines at the start of the last frame that are in the scrollback, even if the screen shows them too. Some may be
	 * rows of the editor or a dialog: where the transcript grows, its new lines are not among them.
	 */
	#scrolledLines = 0;
	readonly #above = new LinesAbove();
	/** The terminal's answer after a resize; null without one. */
	#stable: StableSize | null = null;
	readonly #inFlight = new FramesInFlight();
	/** Whether the next frame fills blank rows below it with lines that have scrolled off. */
	#fills = false;
	#cursorShown = false;
	#hasCursor = false;
	/** The component on the alternate screen; null while the main screen is shown. */
	#fullScreen: FullScreen | null = null;
	/** True after a `stop` that lent the terminal: the main screen is unchanged. */
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
		this.cursor = new CursorReports((data) => terminal.write(data));
		this.#resize = new ResizeWatch({
			delayMs: options.resizeDelayMs ?? RESIZE_DELAY_MS,
			reports: this.cursor,
			onStable: (size) => {
				this.#stable = size;
				this.#redrawRequested = true;
				this.#frame();
			},
		});
		const isSameSize = () => terminal.columns === this.#drawn?.columns && terminal.rows === this.#drawn.rows;
		this.addInputListener((data) => {
			const isAnswer = this.cursor.handleInput(data) || this.#inFlight.handleInput(data, isSameSize);
			return isAnswer || this.mouse?.handleInput(data) ? { consume: true } : undefined;
		});
	}

	/** Number of full redraws, including the first frame. */
	override get fullRedraws(): number {
		return this.#redraws;
	}

	/**
	 * Requests a frame for streaming text. Frames drawn before it, such as for a key, repeat the text of the last one, so that a
	 * key costs the same whatever is streaming.
	 */
	requestStreamFrame(): void {
		if (this.#running) this.#stream.request();
	}

	/** True between `start` and `stop`. */
	get isRunning(): boolean {
		return this.#running;
	}

	/** Takes over the terminal and draws the first frame below its content. Does nothing when running. */
	override start(): void {
		if (this.#running) return;
		this.#running = true;
		if (!this.#keepsMain) this.#startOver();
		this.#keepsMain = false;
		if (this.#fullScreen?.component === LENT) this.showFullScreen(null);
		super.start();
		this.#options.onStart?.();
		// At once: a frame requested while the screen was stopped has no timer, but would block those requested later.
		this.renderNow();
	}

	/** @param force redraws the transcript, including lines that have scrolled off */
	override requestRender(force = false): void {
		// A forced request of the base class would draw at once, also when several follow each other.
		if (force) this.resetRenderState();
		super.requestRender();
	}

	/** Called for each forced frame: it redraws the transcript. */
	protected override resetRenderState(): void {
		if (!this.#drawn) return;
		this.#redrawRequested = true;
		this.#redrawsAll = true;
	}

	/** Redraws the visible screen, such as after a change of colors; lines that have scrolled off are unchanged. */
	redrawScreen(): void {
		for (const part of [this, this.#fullScreen?.component]) part?.invalidate();
		if (this.#drawn) this.#redrawRequested = true;
		super.requestRender();
	}

	/** Shows lines that have scrolled off again if the next frame has fewer rows than the screen, such as after a dialog. */
	fillScreen(): void {
		this.#fills = true;
		super.requestRender();
	}

	/** Passes a key that an input listener held back to the component with the focus. */
	type(key: string): void {
		const component = this.getFocusedComponent();
		if (!component?.handleInput || (isKeyRelease(key) && !component.wantsKeyRelease)) return;
		component.handleInput(key);
		this.renderNow();
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
	 * Releases the terminal with the cursor below the last line. When not running, only takes back what was lent.
	 * @param lends another program uses the terminal until the next `start`: on the alternate screen, so that the main
	 *   screen stays as it is
	 */
	override stop({ lends = false }: TuiStopOptions & { lends?: boolean } = {}): void {
		if (!this.#running && !lends) this.showFullScreen(null);
		if (!this.#running) return;
		this.#running = false;
		this.#resize.forget();
		this.cursor.stop();
		this.#inFlight.stop();
		this.#stream.stop();
		this.#keepsMain = lends;
		if (lends) this.#fullScreen ??= new FullScreen(LENT, () => false);
		const left = lends ? this.#fullScreen?.lend() : (this.#fullScreen?.leave() ?? "") + this.#writer.leave();
		if (left) this.terminal.write(left);
		this.#cursorShown = false;
		this.#options.onStop?.();
		super.stop();
	}

	protected override doRender(): void {
		this.#frameLines = this.#frame();
	}

	/** @returns the time until the next one, in ms */
	#streamFrame(): number {
		const before = this.#sealed.length;
		this.renderNow();
		return this.#frameLines - before > this.terminal.rows ? FLOOD_FRAME_MS : STREAM_FRAME_MS;
	}

	/** Draws one frame. @returns its number of lines, including those that scrolled off with it */
	#frame(): number {
		if (!this.#running) return 0;
		const { columns, rows } = this.terminal;
		if (this.#fullScreen) {
			const out = this.#fullScreen.frame(columns, rows);
			if (out) this.terminal.write(out);
			this.mouse?.drew({ lines: this.#fullScreen.lines, top: 0, cursorLine: null });
			return 0;
		}
		const drawn = this.#drawn;
		const isFull = !drawn || this.#redrawRequested;
		if (!isFull && (columns !== drawn.columns || rows !== drawn.rows)) {
			if (!this.#resize.isWaiting) this.#inFlight.resized();
			this.#resize.await(`${columns}x${rows}`);
		}
		if (!isFull && this.#resize.isWaiting) return 0;
		this.#resize.forget();
		this.blocks.holdsLive = !isFull && this.#stream.isWaiting;
		const out = isFull ? this.#redrawnFrame(columns, rows) : this.#nextFrame(columns, rows);
		this.#redrawRequested = false;
		this.#fills = false;
		this.#above.add(this.#sealed.slice(this.#scrolledLines, this.#writer.top), columns);
		this.#scrolledLines = Math.max(this.#scrolledLines, this.#writer.top);
		const isShown = this.#hasCursor && this.getShowHardwareCursor();
		const cursor = isShown === this.#cursorShown ? "" : isShown ? SHOW_CURSOR : HIDE_CURSOR;
		this.#cursorShown = isShown;
		if (out || cursor) this.terminal.write(this.#images.expand(out) + cursor + this.#inFlight.ask());
		this.#drawn = { columns, rows };
		this.mouse?.drew({ lines: this.#rendered, top: this.#writer.top, cursorLine: this.#writer.cursorLine });
		const { length } = this.#sealed;
		this.#lift();
		return length;
	}

	/** @returns output that changes the last frame into the next one */
	#nextFrame(columns: number, rows: number): string {
		const known = this.blocks.lineCount;
		const frame = this.#compose(columns, rows);
		if (this.blocks.lineCount > known) this.#scrolledLines = Math.min(this.#scrolledLines, known);
		const { top, cursorLine } = this.#writer;
		const blank = top + rows - frame.lines.length;
		const isFilled = this.#fills || this.#scrolledLines > top;
		if (isFilled && blank > 0 && this.blocks.hasLifted) return this.#redrawnFrame(columns, rows);
		// Lines that are on the screen and in the scrollback must not scroll off again.
		const newTop = Math.max(0, frame.lines.length - rows);
		if (this.#scrolledLines > top && newTop > top) {
			this.#noteFrame();
			const clear = this.#images.removeAll() + clearFrom(cursorLine - top);
			return this.#writer.redraw(frame, clear, Math.min(newTop, this.#scrolledLines));
		}
		const out = this.#writer.update(frame);
		if (out !== "") this.#noteFrame();
		if (out !== null) return out;
		this.#redraws += 1;
		return this.#writer.redraw(frame, this.#images.removeAll() + clearFrom(cursorLine));
	}

	/** @returns output that redraws the transcript if that was requested, else the visible screen */
	#redrawnFrame(columns: number, rows: number): string {
		const drawn = this.#drawn;
		const { clear, unreached, ...visible } = drawn ? this.#measure(drawn, { columns, rows }) : NOTHING_DRAWN;
		const isResized = drawn !== null && (drawn.columns !== columns || drawn.rows !== rows);
		const raced = isResized ? this.#inFlight.firstRaced(this.#stable?.answerMs) : undefined;
		this.#stable = null;
		this.#redraws += 1;
		// A redraw writes lines one after another, which loses none at any size.
		if (isResized || !drawn || this.#redrawsAll) this.#inFlight.clear();
		else this.#noteFrame();
		if (this.#redrawsAll) {
			this.blocks.restore(columns);
			this.#redrawsAll = false;
			this.#liftedRows = 0;
			this.#scrolledLines = 0;
		} else {
			const { top } = this.#writer;
			if (raced) this.#above.clear();
			else this.#above.add(this.#sealed.slice(top, top + unreached), drawn?.columns ?? 0, this.#scrolledLines - top);
			this.#scrolledLines = raced?.scrolled ?? Math.max(this.#scrolledLines, top + unreached);
			this.#restoreScreen({ columns, rows }, visible, raced?.start);
		}
		const frame = this.#compose(columns, rows);
		const newTop = Math.max(0, frame.lines.length - rows);
		return this.#writer.redraw(frame, this.#images.removeAll() + clear, Math.min(newTop, this.#scrolledLines));
	}

	/**
	 * Changes the tree to the lines that a redraw of the screen may need: those that only the screen shows. Lines above fill a
	 * screen with room for more, but no line is in the scrollback more than twice because of it.
	 * @param visible what the screen shows above them
	 * @param start where the lines that are not in the scrollback begin, if some of them have left the tree
	 */
	#restoreScreen({ columns, rows }: ScreenSize, visible: Pick<Measured, "kept" | "shown">, start?: ListPosition): void {
		let scrolled = this.#scrolledLines;
		let added = 0;
		if (scrolled < 0 && start) {
			const { restored, before } = this.blocks.restoreFrom(start, columns);
			added = restored;
			scrolled = before;
		} else {
			// Final lines that are in the scrollback leave the tree first, because they may get other heights now.
			added = -this.blocks.lift(scrolled);
			scrolled += added;
			const known = this.blocks.lineCount;
			if (scrolled > known && this.blocks.render(this.#drawn?.columns ?? columns).length > known) scrolled = known;
		}
		const tree = this.blocks.render(columns).length;
		const others = this.#compose(columns, rows).lines.length - tree;
		const inTree = Math.min(visible.shown, Math.max(0, scrolled));
		const { letters, unknownRows } = this.#above.takeBack(visible.shown, columns, inTree);
		const shown = inTree + this.blocks.linesAbove(letters, columns) + unknownRows;
		const needed = tree - scrolled + shown;
		const room = Math.max(0, rows - others - visible.kept - needed);
		const most = this.blocks.linesAbove(letters + this.#above.lettersWithoutCopy, columns, shown + room);
		const restored = this.blocks.restore(columns, Math.max(0, needed, needed - shown + most));
		this.#liftedRows = Math.max(0, this.#liftedRows - added - restored);
		this.#scrolledLines = Math.max(0, scrolled + restored - shown);
		this.#inFlight.shift(added + restored);
	}

	/** Remembers the screen before a frame that is written now. */
	#noteFrame(): void {
		this.#inFlight.add({ scrolled: this.#scrolledLines, start: this.blocks.start });
	}

	#measure(drawn: ScreenSize, now: ScreenSize): Measured {
		const { top, cursorLine, lines } = this.#writer;
		return measureScreen({
			linesAboveCursor: lines.slice(top, cursorLine),
			rowsAbove: this.#liftedRows + this.#scrolledLines,
			drawn,
			now,
			cursorRow: this.#stable?.cursorRow ?? null,
		});
	}

	/** Renders all lines as they are written to the terminal, and the position of the cursor among them. */
	#compose(columns: number, rows: number): { lines: string[]; cursor: CursorPosition | null; rows: number } {
		const tree = this.render(columns);
		const rendered = this.hasOverlay() ? this.compositeOverlays(tree, columns, rows) : tree;
		const isSameWidth = this.#drawn?.columns === columns;
		// A line that is too wide, or contains line ends or control sequences, would corrupt all later frames.
		const sealed = rendered.map((line, index) => {
			const known = isSameWidth && line === this.#rendered[index] ? this.#sealed[index] : undefined;
			return known ?? sealLine(safeLine(withoutMark(line), columns));
		});
		this.#rendered = rendered;
		this.#sealed = sealed;
		const lines = [...sealed];
		const cursor = takeCursor(lines, rows);
		this.#hasCursor = cursor !== null;
		return { lines, cursor, rows };
	}

	/** Starts at the position where another program left the cursor. */
	#startOver(): void {
		this.#writer.restart();
		this.#scrolledLines = 0;
		this.#above.clear();
		this.#images.forgetSent();
		this.#drawn = null;
		this.#cursorShown = false;
		// Moves to the start of a row: the next one, unless the cursor is already at the start of one.
		this.terminal.write(`${" ".repeat(this.terminal.columns)}\r\x1b[K`);
	}

	/** Removes lines that have scrolled off from the tree. */
	#lift(): void {
		const lines = this.blocks.lift(this.#writer.top);
		if (lines === 0) return;
		this.#liftedRows += lines;
		this.#scrolledLines -= lines;
		this.#inFlight.shift(-lines);
		this.#images.leave(this.#sealed.slice(0, lines));
		this.#writer.lift(lines);
		this.#rendered = this.#rendered.slice(lines);
		this.#sealed = this.#sealed.slice(lines);
	}
}
