import { type Terminal, TUI, truncateToWidth, visibleWidth } from "@mariozechner/pi-tui";
import { BlockList } from "./block-list.js";
import { FrameTerminal } from "./frame-terminal.js";

export { type Block, BlockList } from "./block-list.js";

/** Settings of a `LiveTUI`. */
export interface LiveTUIOptions {
	/** The transcript. Default: an empty list. */
	blocks?: BlockList;
	/** How long the size must rest before the screen is drawn anew, ms. */
	resizeDelayMs?: number;
}

/**
 * What `LiveTUI` needs of its base class beyond the public part. The base is pinned to one version; the type is checked
 * when a `LiveTUI` is built.
 */
interface FrameState {
	doRender(): void;
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
 */
export class LiveTUI extends TUI {
	readonly blocks: BlockList;
	readonly #frames: FrameTerminal;
	readonly #state: FrameState;
	readonly #drawFrame: () => void;
	readonly #resizeDelayMs: number;
	#resizeTimer: NodeJS.Timeout | undefined;
	#streamTimer: NodeJS.Timeout | undefined;
	#lastStreamFrameAt = 0;
	#running = false;
	/** Size that the running timer waits to settle. */
	#awaitedSize = "";
	/** Lines of the last frame before and after clipping. */
	#unclipped: readonly string[] = [];
	#clipped: readonly string[] = [];

	constructor(terminal: Terminal, options: LiveTUIOptions = {}) {
		const frames = new FrameTerminal(terminal);
		super(frames);
		this.#frames = frames;
		this.#resizeDelayMs = options.resizeDelayMs ?? 100;
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

	override start(): void {
		this.#running = true;
		super.start();
	}

	/** Gives the terminal back; the cursor is below what was drawn. Does nothing when not running. */
	override stop(): void {
		if (!this.#running) return;
		this.#running = false;
		this.#forgetResize();
		clearTimeout(this.#streamTimer);
		this.#streamTimer = undefined;
		super.stop();
	}

	/** A line that is too wide or holds a line end would break every frame after it: such lines are cut. */
	override render(width: number): string[] {
		const lines = super.render(width);
		const clipped: string[] = [];
		for (const [index, line] of lines.entries()) {
			const same = line === this.#unclipped[index] && this.#state.previousWidth === width;
			clipped.push((same ? this.#clipped[index] : undefined) ?? clip(line, width));
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
		const partial = !asked && this.blocks.hasLifted;
		if (asked) this.blocks.restore(columns);
		const redrawsBefore = this.fullRedraws;
		this.#frames.beginFrame();
		try {
			this.#drawFrame();
			if (partial && this.fullRedraws !== redrawsBefore) {
				// The base class chose to clear the screen, but what it drew is only the end of the transcript.
				this.#frames.dropHeld();
				this.blocks.restore(columns);
				state.previousWidth = -1;
				this.#drawFrame();
			}
		} finally {
			this.#frames.endFrame();
		}
		this.#lift();
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
		}, this.#resizeDelayMs);
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
		state.previousLines = state.previousLines.slice(lines);
		state.previousViewportTop -= lines;
		state.hardwareCursorRow -= lines;
		state.cursorRow -= lines;
		state.maxLinesRendered = Math.max(0, state.maxLinesRendered - lines);
		this.#unclipped = this.#unclipped.slice(lines);
		this.#clipped = this.#clipped.slice(lines);
	}
}

const IMAGE = /\x1b_G|\x1b\]1337;File=/;

function clip(line: string, width: number): string {
	if (IMAGE.test(line)) return line;
	const flat = /[\r\n]/.test(line) ? line.replace(/[\r\n]+/g, " ") : line;
	return visibleWidth(flat) > width ? truncateToWidth(flat, width, "…") : flat;
}
