import { type Terminal, TUI, visibleWidth } from "@mariozechner/pi-tui";
import { BlockList } from "./block-list.js";
import { FrameTerminal } from "./frame-terminal.js";
import { safeLine } from "./safe-line.js";

export { type Block, BlockList } from "./block-list.js";

/** Settings of a `LiveTUI`. */
export interface LiveTUIOptions {
	/** The transcript. Default: an empty list. */
	blocks?: BlockList;
	/** How long the size must rest before the screen is drawn anew, ms. Default 100. */
	resizeDelayMs?: number;
	/** Told when the terminal is taken and just before it is given back. */
	onStart?(): void;
	onStop?(): void;
}

/**
 * What `LiveTUI` needs of its base class beyond the public part. The base is pinned to one version; the type is checked
 * when a `LiveTUI` is built.
 */
interface FrameState {
	doRender(): void;
	renderRequested: boolean;
	previousLines: string[];
	/** 0 before the first frame, -1 when a full redraw was asked for. */
	previousWidth: number;
	previousHeight: number;
	previousViewportTop: number;
	hardwareCursorRow: number;
	cursorRow: number;
	maxLinesRendered: number;
}

/** Between two frames of streaming text, ms. */
const STREAM_FRAME_MS = 33;
const RESIZE_DELAY_MS = 100;

const NUMBERS = [
	"previousWidth",
	"previousHeight",
	"previousViewportTop",
	"hardwareCursorRow",
	"cursorRow",
	"maxLinesRendered",
];

function hasFrameState(screen: object): screen is FrameState {
	return (
		typeof Reflect.get(screen, "doRender") === "function" &&
		typeof Reflect.get(screen, "renderRequested") === "boolean" &&
		Array.isArray(Reflect.get(screen, "previousLines")) &&
		NUMBERS.every((name) => typeof Reflect.get(screen, name) === "number")
	);
}

function frameStateOf(screen: object): FrameState {
	if (!hasFrameState(screen)) throw new TypeError("This version of pi-tui keeps its frames in another way");
	return screen;
}

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
	readonly #frames: FrameTerminal;
	readonly #state: FrameState;
	readonly #drawFrame: () => void;
	readonly #options: LiveTUIOptions;
	#resizeTimer: NodeJS.Timeout | undefined;
	#streamTimer: NodeJS.Timeout | undefined;
	#lastStreamFrameAt = 0;
	#running = false;
	/** Size that the running timer waits to settle. */
	#awaitedSize = "";
	/** The next full redraw brings the transcript back, not just a screen of it. */
	#redrawsAll = true;
	/** Columns of the last frame. */
	#drawnWidth = 0;
	/** Rows above the tree that were drawn since the last full redraw. */
	#liftedRows = 0;
	/** Lines of the last frame before and after clipping. */
	#unclipped: readonly string[] = [];
	#clipped: readonly string[] = [];

	constructor(terminal: Terminal, options: LiveTUIOptions = {}) {
		const frames = new FrameTerminal(terminal);
		super(frames);
		this.#frames = frames;
		this.#options = options;
		this.blocks = options.blocks ?? new BlockList();
		this.blocks.attach(() => this.requestRender(true));
		this.addChild(this.blocks);
		this.#state = frameStateOf(this);
		this.#drawFrame = this.#state.doRender.bind(this);
		this.#state.doRender = () => this.#frame();
	}

	/**
	 * Asks for a frame for text that streams in: at most one in 33 ms, which the eye takes as steady. Every frame moves
	 * what stands below the text, so fewer of them are fewer bytes; a key still gets its own frame at once.
	 */
	requestStreamFrame(): void {
		if (this.#streamTimer) return;
		const wait = this.#lastStreamFrameAt + STREAM_FRAME_MS - performance.now();
		this.#streamTimer = setTimeout(
			() => {
				this.#streamTimer = undefined;
				this.#lastStreamFrameAt = performance.now();
				this.requestRender();
			},
			Math.max(0, wait),
		);
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
		if (force && this.#state.previousWidth !== 0) {
			this.#state.previousWidth = -1;
			this.#redrawsAll = true;
		}
		super.requestRender();
	}

	/** Gives the terminal back; the cursor is below what was drawn. Does nothing when not running. */
	override stop(): void {
		if (!this.#running) return;
		this.#running = false;
		this.#forgetResize();
		clearTimeout(this.#streamTimer);
		this.#streamTimer = undefined;
		this.#options.onStop?.();
		super.stop();
	}

	/** A line that is too wide or holds a line end would break every frame after it, one with control sequences more. */
	override render(width: number): string[] {
		const lines = super.render(width);
		const clipped: string[] = [];
		for (const [index, line] of lines.entries()) {
			const same = line === this.#unclipped[index] && this.#state.previousWidth === width;
			clipped.push((same ? this.#clipped[index] : undefined) ?? safeLine(line, width));
		}
		this.#unclipped = lines;
		// The base class edits the array that it gets (it takes the cursor mark out).
		this.#clipped = [...clipped];
		return clipped;
	}

	/** Draws one frame. */
	#frame(): void {
		const { columns, rows } = this.terminal;
		const state = this.#state;
		const asked = state.previousWidth <= 0;
		if (!asked && (columns !== state.previousWidth || rows !== state.previousHeight)) {
			this.#awaitRest(`${columns}x${rows}`);
		}
		if (!asked && this.#resizeTimer) return;
		this.#forgetResize();
		this.#frames.clear = clearFrom(asked ? this.#rowsAboveCursor(columns) : state.hardwareCursorRow);
		if (asked) this.#bringBack(columns, rows);
		this.#frames.beginFrame();
		try {
			this.#drawFrame();
		} finally {
			this.#frames.endFrame();
		}
		this.#drawnWidth = columns;
		this.#lift();
	}

	/** The cursor is wherever another program left it: the next frame is drawn from there on. */
	#startAfresh(): void {
		const nothing = { previousWidth: 0, previousHeight: 0, previousViewportTop: 0, hardwareCursorRow: 0 };
		Object.assign(this.#state, { ...nothing, cursorRow: 0, maxLinesRendered: 0, previousLines: [] });
		// A frame that was due when the screen was stopped was never drawn: it would hold up all others.
		this.#state.renderRequested = false;
		// To the start of a row: the next one, unless the cursor is at the start of one already.
		this.terminal.write(`${" ".repeat(this.terminal.columns)}\r\x1b[K`);
	}

	/** Puts back what a redraw draws: the transcript when that was asked for, else as much as was on the screen. */
	#bringBack(columns: number, rows: number): void {
		const lines = rows * Math.max(1, Math.ceil(this.#drawnWidth / columns));
		this.blocks.restore(columns, this.#redrawsAll ? undefined : lines);
		this.#redrawsAll = false;
		this.#liftedRows = 0;
	}

	/** How far below the first row that was drawn the cursor is. Terminals wrap lines that a smaller width has no room for. */
	#rowsAboveCursor(columns: number): number {
		const { hardwareCursorRow, previousLines } = this.#state;
		if (columns >= this.#drawnWidth) return this.#liftedRows + hardwareCursorRow;
		return previousLines
			.slice(0, hardwareCursorRow)
			.reduce((rows, line) => rows + Math.max(1, Math.ceil(visibleWidth(line) / columns)), this.#liftedRows);
	}

	/** No frames until the size has rested; then a full redraw, since terminals move lines about in their own ways. */
	#awaitRest(size: string): void {
		if (this.#awaitedSize === size) return;
		clearTimeout(this.#resizeTimer);
		this.#awaitedSize = size;
		this.#resizeTimer = setTimeout(() => {
			this.#forgetResize();
			this.#state.previousWidth = -1;
			this.#frame();
		}, this.#options.resizeDelayMs ?? RESIZE_DELAY_MS);
	}

	#forgetResize(): void {
		clearTimeout(this.#resizeTimer);
		this.#resizeTimer = undefined;
		this.#awaitedSize = "";
	}

	/** Takes out of the tree what has scrolled off, and shifts the base class's view of the screen by as much. */
	#lift(): void {
		const state = this.#state;
		const lines = this.blocks.lift(state.previousViewportTop);
		if (lines === 0) return;
		this.#liftedRows += lines;
		state.previousLines = state.previousLines.slice(lines);
		state.previousViewportTop -= lines;
		state.hardwareCursorRow -= lines;
		state.cursorRow -= lines;
		state.maxLinesRendered = Math.max(0, state.maxLinesRendered - lines);
		this.#unclipped = this.#unclipped.slice(lines);
		this.#clipped = this.#clipped.slice(lines);
	}
}

/** Moves to the row, `rows` above the cursor but on the screen, and clears from there on. */
function clearFrom(rows: number): string {
	return `${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[J`;
}
