import type { Component } from "@mariozechner/pi-tui";
import { errorText } from "../errors.js";

/** One part of the transcript: a message, a tool call with its result, a notice. */
export interface Block extends Component {
	/** @returns lines of at most `width` columns; the same strings for as long as nothing changed */
	render(width: number): string[];
	invalidate(): void;
	/** Finished: its lines stay as they are until `BlockList.redraw`. Once true, it stays true. */
	readonly done: boolean;
	/**
	 * While not done: how many of the first lines of the last `render` are final all the same. They may leave the tree
	 * before the rest. Never goes down.
	 */
	readonly settledLines?: number;
	/** Its lines leave the tree together: an image cannot be drawn in part. */
	readonly whole?: boolean;
}

/** What a full redraw brings back at most, in lines. */
const DEFAULT_MAX_REPLAY_LINES = 5_000;

/**
 * The transcript's blocks. What is final and has scrolled off the screen belongs to the terminal: it leaves the tree,
 * so that a frame costs the same however long the session is, and comes back only for a full redraw.
 */
export class BlockList implements Component {
	#blocks: Block[] = [];
	/** First block of the tree. */
	#head = 0;
	/** Lines of that block which have left the tree. */
	#headLines = 0;
	/** Line counts of the blocks in the tree, from the last `render`, without what has left. */
	#counts: number[] = [];
	/** Width of the last `render`. */
	#width = 0;
	/** Line counts of all blocks when last drawn, also of those outside the tree. */
	#known = new WeakMap<Block, number>();
	/** Lines that the row on top of a cut replay stands for, null when not known; undefined when there is no such row. */
	#earlier: number | null | undefined;
	/** Lines of the blocks that were not done when last drawn. */
	#live = new WeakMap<Block, string[]>();
	#redraw: () => void = () => {};
	/**
	 * Blocks that are not done are drawn as they last were: for frames that show something else, between two of what
	 * streams in.
	 */
	holdsLive = false;

	/**
	 * @param earlierRow the row that stands for what a replay leaves out, given its number of lines; null when some of
	 *   it was never drawn
	 * @param maxReplayLines how many lines a full redraw brings back
	 */
	constructor(
		private readonly earlierRow: (lines: number | null) => string = (lines) => `… ${lines ?? "many"} earlier lines`,
		private readonly maxReplayLines = DEFAULT_MAX_REPLAY_LINES,
	) {}

	/** All blocks, those above the screen included; live. */
	get blocks(): readonly Block[] {
		return this.#blocks;
	}

	/** Adds a block at the end. */
	append(block: Block): void {
		this.#blocks.push(block);
	}

	/** Puts other blocks in place of all and draws the screen anew. */
	replaceAll(blocks: readonly Block[]): void {
		this.#blocks = [...blocks];
		this.redraw();
	}

	/** Draws everything anew, also what has scrolled off. Costs as much as the replay is long: never while streaming. */
	redraw(): void {
		this.#head = 0;
		this.#headLines = 0;
		this.invalidate();
		this.#redraw();
	}

	/** Called by the screen that holds the list. `redraw` must clear the screen and draw it once. */
	attach(redraw: () => void): void {
		this.#redraw = redraw;
	}

	/** True when part of the list is not in the tree. */
	get hasLifted(): boolean {
		return this.#head > 0 || this.#headLines > 0;
	}

	/**
	 * Puts lines from the end of the list back into the tree.
	 * @param count how many at least, for a screen below lines that stay where they are; what is in the tree stays there.
	 *   Default: as many as a replay may have, in whole blocks, with a row on top that stands for the rest
	 */
	restore(width: number, count?: number): void {
		const wanted = count ?? this.maxReplayLines;
		const last = count === undefined ? this.#blocks.length : this.#head;
		let lines = 0;
		let first = this.#blocks.length;
		while (first > 0 && (lines < wanted || first > last)) {
			first -= 1;
			lines += this.#draw(first, width).length;
		}
		const top = this.#blocks[first];
		const surplus = top?.done && !top.whole ? Math.max(0, lines - wanted) : 0;
		// At another width a line is elsewhere: what may not have been drawn yet is rather drawn twice.
		const drawn = first < this.#head ? surplus : Math.floor(this.#headLines * Math.min(1, this.#width / width));
		this.#head = first;
		this.#headLines = count === undefined ? 0 : Math.min(surplus, drawn);
		this.#earlier = count === undefined && first > 0 ? this.#linesBefore(first) : undefined;
	}

	/**
	 * Takes final lines out of the tree.
	 * @param limit how many lines at the top of the tree are above the screen
	 * @returns how many lines left
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
			const part = block.whole && room < count ? 0 : room;
			lifted += part;
			if (!block.done || part < count) {
				this.#headLines += part;
				this.#counts[0] = count - part;
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
		if (width !== this.#width) this.#live = new WeakMap();
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

	#linesBefore(end: number): number | null {
		let lines = 0;
		for (const block of this.#blocks.slice(0, end)) {
			const known = this.#known.get(block);
			if (known === undefined) return null;
			lines += known;
		}
		return lines;
	}

	/** A block that fails to draw must not take the screen with it: frames are drawn from a timer. */
	#draw(index: number, width: number): string[] {
		const block = this.#blocks[index];
		if (!block) return [];
		const held = this.holdsLive && !block.done ? this.#live.get(block) : undefined;
		if (held) return held;
		try {
			const lines = block.render(width);
			if (!block.done) this.#live.set(block, lines);
			this.#known.set(block, lines.length);
			return lines;
		} catch (thrown) {
			return [`(cannot be drawn: ${errorText(thrown)})`];
		}
	}
}
