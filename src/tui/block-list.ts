import type { Component } from "@mariozechner/pi-tui";
import { errorText } from "../errors.js";
import { letterCount } from "./lines-above.js";

/** One item of the transcript: a message, a tool call with its result, a notice. */
export interface Block extends Component {
	/** @returns lines of at most `width` columns; the same strings as long as nothing has changed */
	render(width: number): string[];
	invalidate(): void;
	/** Whether its lines are final until `BlockList.redraw`. Once true, it stays true. */
	readonly done: boolean;
	/** While not done: how many lines at the start of the last `render` are final and may leave the tree. Never decreases. */
	readonly settledLines?: number;
	/** Whether its lines leave the tree only together: an image cannot be drawn partially. */
	readonly whole?: boolean;
}

/** A line of the list. Unlike a line number it stays valid, or becomes that of an earlier line, at other widths. */
export interface ListPosition {
	/** Index of the block. */
	readonly block: number;
	/** Number of its lines above. */
	readonly lines: number;
}

/** Maximum number of lines that a full redraw brings back. */
const DEFAULT_MAX_REPLAY_LINES = 5_000;

/**
 * The transcript's blocks. Final lines that have scrolled off the screen are left to the terminal: they leave the tree,
 * so that the cost of a frame does not grow with the session, and return only for a full redraw.
 */
export class BlockList implements Component {
	#blocks: Block[] = [];
	/** Index of the first block in the tree. */
	#head = 0;
	/** Number of that block's lines that have left the tree. */
	#headLines = 0;
	/** Line counts of the blocks in the tree at the last `render`, without lines that have left. */
	#counts: number[] = [];
	/** Width of the last `render`. */
	#width = 0;
	/** Line counts of all blocks when last drawn, including those outside the tree. */
	#known = new WeakMap<Block, number>();
	/** Number of lines that a truncated replay omits, null when unknown; undefined when nothing is omitted. */
	#earlier: number | null | undefined;
	/** Last drawn lines of all blocks. */
	#drawn = new WeakMap<Block, readonly string[]>();
	/** Last drawn lines of the blocks that were not done then. */
	#live = new WeakMap<Block, string[]>();
	#redraw: () => void = () => {};
	/** While true, unfinished blocks keep their last drawn lines: for frames between two frames of streaming text. */
	holdsLive = false;

	/**
	 * @param earlierRow creates the row that replaces the lines a replay omits, from their number; null when some of them
	 *   were never drawn
	 * @param maxReplayLines maximum number of lines that a full redraw brings back
	 */
	constructor(
		private readonly earlierRow: (lines: number | null) => string = (lines) => `… ${lines ?? "many"} earlier lines`,
		private readonly maxReplayLines = DEFAULT_MAX_REPLAY_LINES,
	) {}

	/** All blocks, including those above the screen; live. */
	get blocks(): readonly Block[] {
		return this.#blocks;
	}

	/** Adds a block at the end. */
	append(block: Block): void {
		this.#blocks.push(block);
	}

	/** Replaces all blocks and redraws everything. */
	replaceAll(blocks: readonly Block[]): void {
		this.#blocks = [...blocks];
		this.redraw();
	}

	/** Redraws everything, including lines that have scrolled off. The cost grows with the replay: never call it while streaming. */
	redraw(): void {
		this.#head = 0;
		this.#headLines = 0;
		this.invalidate();
		this.#redraw();
	}

	/** Connects the list to its screen. `redraw` must clear the screen and draw it once. */
	attach(redraw: () => void): void {
		this.#redraw = redraw;
	}

	/** Whether any lines have left the tree. */
	get hasLifted(): boolean {
		return this.#head > 0 || this.#headLines > 0;
	}

	/** Number of lines in the tree at the last `render`. */
	get lineCount(): number {
		return this.#counts.reduce((sum, count) => sum + count, this.#earlier === undefined ? 0 : 1);
	}

	/** The first line in the tree. */
	get start(): ListPosition {
		return { block: this.#head, lines: this.#headLines };
	}

	/**
	 * Puts lines from the end of the list back into the tree.
	 * @param count minimum number of lines, for a screen below lines that stay in place; lines in the tree remain there.
	 *   Default: the maximum of a replay, in complete blocks, below a row that replaces the rest
	 * @returns number of lines that it put back
	 */
	restore(width: number, count?: number): number {
		return this.#restore(width, count, this.start);
	}

	/**
	 * Puts the lines from `start` on back into the tree.
	 * @returns number of lines that it put back, and how many of them are before `start`: an unfinished block returns complete
	 */
	restoreFrom(start: ListPosition, width: number): { restored: number; before: number } {
		const lines = this.#lineAtWidth(start, width);
		const restored = this.#restore(width, 0, { block: start.block, lines });
		return { restored, before: lines - this.#headLines };
	}

	/**
	 * @param most the number of lines to look at
	 * @returns the number of lines directly above the tree that contain so many letters and digits, without blank ones above them
	 */
	linesAbove(letters: number, width: number, most = Number.POSITIVE_INFINITY): number {
		let left = letters;
		let count = 0;
		for (let index = this.#head; index >= 0 && left > 0 && count < most; index -= 1) {
			const lines = this.#draw(index, width);
			const end = index === this.#head ? this.#headLines : lines.length;
			for (let line = end - 1; line >= 0 && left > 0 && count < most; line -= 1) {
				left -= letterCount(lines[line] ?? "");
				count += 1;
			}
		}
		return count;
	}

	/** @param start the first line, if there are at least `count` from there */
	#restore(width: number, count: number | undefined, start: ListPosition): number {
		const wanted = count ?? this.maxReplayLines;
		const last = count === undefined ? this.#blocks.length : start.block;
		let lines = 0;
		let linesBefore = 0;
		let first = this.#blocks.length;
		while (first > 0 && (lines < wanted || first > last)) {
			first -= 1;
			lines += this.#draw(first, width).length;
			if (first === this.#head) linesBefore = lines;
		}
		const top = this.#blocks[first];
		const surplus = top?.done && !top.whole ? Math.max(0, lines - wanted) : 0;
		const lifted = this.#headLines;
		const drawn = first < start.block ? surplus : start.lines;
		this.#head = first;
		this.#headLines = count === undefined ? 0 : Math.min(surplus, drawn);
		this.#earlier = count === undefined && first > 0 ? this.#linesBefore(first) : undefined;
		return lines - this.#headLines - (linesBefore - lifted);
	}

	/**
	 * Removes final lines from the tree.
	 * @param limit number of lines at the top of the tree that are above the screen
	 * @returns number of lines removed
	 */
	lift(limit: number): number {
		let lifted = 0;
		if (this.#earlier !== undefined && limit > 0) {
			this.#earlier = undefined;
			lifted = 1;
		}
		let block = this.#blocks[this.#head];
		let count = this.#counts[0];
		while (block && count !== undefined) {
			const final = block.done ? count : Math.max(0, (block.settledLines ?? 0) - this.#headLines);
			const room = Math.min(final, count, limit - lifted);
			const removed = block.whole && room < count ? 0 : room;
			lifted += removed;
			if (!block.done || removed < count) {
				this.#headLines += removed;
				this.#counts[0] = count - removed;
				break;
			}
			this.#head += 1;
			this.#headLines = 0;
			this.#counts.shift();
			block = this.#blocks[this.#head];
			count = this.#counts[0];
		}
		return lifted;
	}

	render(width: number): string[] {
		const lines = this.#earlier !== undefined ? [this.earlierRow(this.#earlier)] : [];
		this.#counts = [];
		if (width !== this.#width) {
			this.#headLines = this.#lineAtWidth(this.start, width);
			this.#live = new WeakMap();
		}
		this.#width = width;
		for (let index = this.#head; index < this.#blocks.length; index += 1) {
			const drawn = this.#draw(index, width);
			const skip = index === this.#head ? this.#headLines : 0;
			for (let line = skip; line < drawn.length; line += 1) lines.push(drawn[line] ?? "");
			this.#counts.push(Math.max(0, drawn.length - skip));
		}
		return lines;
	}

	invalidate(): void {
		this.#live = new WeakMap();
		for (const block of this.#blocks) block.invalidate();
	}

	/** @returns the number of a block's lines above a position at another width: those with the same letters and digits */
	#lineAtWidth({ block: index, lines }: ListPosition, width: number): number {
		const block = this.#blocks[index];
		const before = block && this.#drawn.get(block)?.slice(0, lines);
		if (!before || width === this.#width) return lines;
		let left = before.reduce((sum, line) => sum + letterCount(line), 0);
		const after = this.#draw(index, width);
		const line = after.findIndex((text) => {
			left -= letterCount(text);
			return left < 0;
		});
		return line === -1 ? after.length : line;
	}

	#linesBefore(end: number): number | null {
		let lines = 0;
		for (const block of this.#blocks.slice(0, end)) {
			const known = this.#known.get(block);
			if (known === undefined) return null;
			lines += known;
		}
		return lines;
	}

	/** Draws a block. A block that throws becomes one line: frames are drawn from a timer, where nobody would catch it. */
	#draw(index: number, width: number): string[] {
		const block = this.#blocks[index];
		if (!block) return [];
		const held = this.holdsLive && !block.done ? this.#live.get(block) : undefined;
		if (held) return held;
		try {
			const lines = block.render(width);
			if (!block.done) this.#live.set(block, lines);
			this.#known.set(block, lines.length);
			this.#drawn.set(block, lines);
			return lines;
		} catch (thrown) {
			return [`(cannot be drawn: ${errorText(thrown)})`];
		}
	}
}
