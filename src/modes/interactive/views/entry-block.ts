import { clipLine } from "../../../tui/line.js";
import type { Block } from "../../../tui/live-tui.js";
import { hasImage } from "../../../tui/terminal-images.js";
import type { Theme } from "../../../tui/theme.js";
import { plainLine } from "../clean-text.js";
import { innerWidth, type ViewStyle } from "./view.js";

/** Gutter mark: in the context, not in it, a summary that replaces entries, or unrelated to the context. */
export type Mark = "in" | "out" | "summary" | "none";

/** Space above a block: nothing, a line with only the gutter within a turn, or an empty line between turns. */
export type Gap = "none" | "line" | "turn";

/**
 * The gutter next to a row, one column wide. With colors it has no character but that of a summary, because terminals copy the
 * gutter together with selected text: the cell of what is in the context is a colored blank, any other cell is empty.
 * @param row of the block, from 0
 */
export function gutterCell(mark: Mark, row: number, theme: Theme): string {
	const bar = theme.gutterBar(" ");
	const hasColor = bar !== " ";
	switch (mark) {
		case "in":
			return hasColor ? bar : theme.gutterIn("▎");
		case "out":
			return hasColor ? " " : theme.gutterOut("┆");
		case "summary":
			return row === 0 ? theme.gutterSummary("◆") : " ";
		default:
			return " ";
	}
}

/** A view in the transcript: adds the gutter and the gap above it, and cuts lines to the screen width. */
export class EntryBlock implements Block {
	mark: Mark = "in";
	gap: Gap = "none";
	/** The view's lines from the last `render`, from `#settled` on. Earlier lines never change. */
	#tail: readonly string[] = [];
	#inner: readonly string[] = [];
	#settled = 0;
	#finished = false;
	#lines: string[] = [];
	#gapLines = 0;
	#key = "";

	constructor(
		readonly view: Block,
		private readonly style: ViewStyle,
	) {}

	get done(): boolean {
		return this.view.done;
	}

	get whole(): boolean {
		return this.view.whole ?? false;
	}

	/** Lines that are final while the view still grows. */
	get settledLines(): number {
		const settled = this.view.settledLines ?? 0;
		return settled > 0 ? settled + this.#gapLines : 0;
	}

	/** Returns the same array in each frame while a reply grows, and rebuilds only the lines that may still change. */
	render(width: number): string[] {
		const room = innerWidth(width, this.style);
		const gutter = width - room;
		const inner = this.view.render(room);
		const key = `${width} ${this.mark} ${gutter} ${this.gap}`;
		// A finished view returns another array only after a complete redraw.
		const isRedrawn = this.#finished && inner !== this.#inner;
		const isSame = key === this.#key && !isRedrawn;
		const isFinishing = this.view.done && !this.#finished;
		if (isSame && !isFinishing && inner === this.#inner && inner.length + this.#gapLines === this.#lines.length)
			return this.#lines;
		if (!isSame || this.#lines.length === 0) this.#restart(key, inner.length > 0 ? this.#gapLine(gutter, width) : null);
		const settled = this.#settled;
		// The complete text may differ from what has streamed.
		const from = isFinishing ? sameStart(inner, this.#inner, settled) : Math.min(settled, inner.length);
		const before = this.#lines.splice(this.#gapLines + from);
		const rows = inner.slice(from);
		for (const [at, line] of rows.entries()) {
			const known = this.#tail[from - settled + at] === line ? before[at] : undefined;
			this.#lines.push(known ?? this.#dress(line, from + at, gutter, width));
		}
		this.#inner = inner;
		this.#finished = this.view.done;
		this.#settled = this.view.done ? inner.length : (this.view.settledLines ?? 0);
		this.#tail = rows.slice(Math.max(0, this.#settled - from));
		return this.#lines;
	}

	invalidate(): void {
		this.#key = "";
		this.view.invalidate();
	}

	#restart(key: string, gapLine: string | null): void {
		this.#key = key;
		this.#lines = gapLine === null ? [] : [gapLine];
		this.#gapLines = this.#lines.length;
		this.#settled = 0;
		this.#tail = [];
	}

	/** @returns the line above the block, or null */
	#gapLine(gutter: number, width: number): string | null {
		if (this.gap === "none") return null;
		return this.gap === "line" && this.mark !== "summary" ? clipLine(this.#prefix(1, gutter).trimEnd(), width) : "";
	}

	#dress(line: string, row: number, gutter: number, width: number): string {
		const text = this.mark === "out" && !hasImage(line) ? this.style.theme.dim(plainLine(line)) : line;
		return clipLine(this.#prefix(row, gutter) + text, width);
	}

	#prefix(row: number, gutter: number): string {
		return gutter === 0 ? "" : `${gutterCell(this.mark, row, this.style.theme)} `;
	}
}

/** Number of equal lines at the start of both, at most `max`. */
function sameStart(lines: readonly string[], others: readonly string[], max: number): number {
	const end = Math.min(max, lines.length);
	for (let at = 0; at < end; at++) if (lines[at] !== others[at]) return at;
	return end;
}
