import { type Component, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { stripAll } from "../util/sanitize.js";
import { drawMarkdown, languageLine, wrapCode } from "./draw-markdown.js";
import { countLines, withoutBlankEnd } from "./line.js";
import { type MarkdownPiece, MarkdownSplitter } from "./markdown-splitter.js";
import type { Theme } from "./theme.js";

/** Settings of a `StreamingMarkdown`. */
export interface StreamingMarkdownOptions {
	/** Maximum rows of the unfinished end: the screen without the rows below it. Called in every frame. */
	tailRows?(): number;
	/** The width that the first frame is expected to have: a flood before it is drawn as it arrives. */
	width?: number;
}

/** Code with more lines is drawn line by line: the Markdown component is too slow for it. */
const MAX_MARKDOWN_CODE_LINES = 2_000;
/** Only this much of the unfinished end is drawn; UTF-16 units. */
const MAX_TAIL_LENGTH = 8_192;
/** More pending text is drawn at once, not in the next frame; UTF-16 units. */
const FLOOD_LENGTH = 1_024;
/** The end of a chunk that the next chunk may complete: part of a control sequence, a line end or a character. */
const INCOMPLETE_END = /(?:\x1b(?:\[[\d;:]*)?|\r|[\ud800-\udbff])$/;
const LEADING_BLANK_LINES = /^(?:[ \t]*\n)+/;

/**
 * Markdown that arrives in deltas. Complete blocks are drawn once, so a frame costs only the new text. After `finish` the
 * lines equal those of the full text drawn at once. Control sequences in the text become visible characters.
 *
 * The first `settledLines` strings of the array that `render` returns are the same in every later frame.
 */
export class StreamingMarkdown implements Component {
	#splitter = new MarkdownSplitter();
	#pieces: MarkdownPiece[] = [];
	/** The sanitized text so far. */
	#text = "";
	/** Deltas since the last frame. */
	#pending = "";
	#done = false;
	#width = 0;
	/** Lines of the pieces drawn so far at `#width`. */
	#lines: string[] = [];
	#drawnPieces = 0;
	#settledPieces = 0;
	#settledLines = 0;
	/** `#settledLines` at the last `render`. */
	#shownSettledLines = 0;

	constructor(
		private readonly theme: Theme,
		private readonly options: StreamingMarkdownOptions = {},
	) {
		this.#width = options.width ?? 0;
	}

	/** True after `finish`. */
	get done(): boolean {
		return this.#done;
	}

	/** Number of lines at the start of the last `render` that are final; all of them when done. */
	get settledLines(): number {
		return this.#done ? this.#lines.length : this.#shownSettledLines;
	}

	/** The sanitized text so far. */
	get text(): string {
		this.#takePending();
		return this.#text;
	}

	/**
	 * Adds text. Short deltas wait for the next frame; long ones are drawn at once, if the width is known, so that no frame
	 * has too much to draw.
	 */
	append(delta: string): void {
		this.#pending += delta;
		if (this.#pending.length > FLOOD_LENGTH && this.#width > 0) this.#drawComplete();
	}

	/** Ends the text. If `fullText` differs from the deltas, it replaces them. */
	finish(fullText?: string): void {
		const full = fullText === undefined ? undefined : normalize(fullText).replace(LEADING_BLANK_LINES, "");
		this.#takePending(true);
		if (full !== undefined && full.trimEnd() !== this.#text.trimEnd()) {
			this.#restart();
			this.#push(full);
		}
		this.#pieces.push(...this.#splitter.takePieces(), ...this.#splitter.takeRest());
		this.#resolveReferences();
		this.#done = true;
	}

	render(width: number): string[] {
		if (width !== this.#width) {
			this.invalidate();
			this.#width = width;
		}
		this.#drawComplete();
		this.#shownSettledLines = this.#settledLines;
		return this.#done ? this.#lines : [...this.#lines, ...this.#drawTail(Math.max(1, this.#width))];
	}

	invalidate(): void {
		this.#lines = [];
		this.#drawnPieces = 0;
		this.#settledPieces = 0;
		this.#settledLines = 0;
		this.#shownSettledLines = 0;
	}

	#restart(): void {
		this.#splitter = new MarkdownSplitter();
		this.#pieces = [];
		this.#text = "";
		this.invalidate();
	}

	#takePending(last = false): void {
		if (!this.#pending) return;
		const end = last ? undefined : INCOMPLETE_END.exec(this.#pending);
		const complete = end ? this.#pending.slice(0, end.index) : this.#pending;
		this.#pending = end?.[0] ?? "";
		this.#push(normalize(complete));
	}

	#push(text: string): void {
		const added = this.#text ? text : text.replace(LEADING_BLANK_LINES, "");
		this.#text += added;
		this.#splitter.push(added);
	}

	/** Redraws pieces that refer to a definition below them, once. */
	#resolveReferences(): void {
		const { definitions } = this.#splitter;
		const stale = (piece: MarkdownPiece) => piece.mayRefer && piece.definitions !== definitions;
		const first = this.#pieces.findIndex(stale);
		if (first === -1) return;
		this.#pieces = this.#pieces.map((piece) => (stale(piece) ? { ...piece, definitions } : piece));
		if (first < this.#drawnPieces) this.invalidate();
	}

	/** Draws new complete pieces. */
	#drawComplete(): void {
		if (!this.#done) {
			this.#takePending();
			this.#pieces.push(...this.#splitter.takePieces());
		}
		const width = Math.max(1, this.#width);
		for (; this.#drawnPieces < this.#pieces.length; this.#drawnPieces += 1) this.#drawNext(width);
	}

	#drawNext(width: number): void {
		const piece = this.#pieces[this.#drawnPieces];
		if (!piece) return;
		for (const line of drawPiece(piece, width, this.theme)) this.#lines.push(withoutBlankEnd(line));
		if (piece.gapAfter) this.#lines.push("");
		if (this.#settledPieces === this.#drawnPieces && !piece.mayRefer) {
			this.#settledPieces += 1;
			this.#settledLines = this.#lines.length;
		}
	}

	/** Draws the last rows of the unfinished end. */
	#drawTail(width: number): string[] {
		const rows = Math.max(1, this.options.tailRows?.() ?? Number.POSITIVE_INFINITY);
		const fence = this.#splitter.openFence();
		const lines = fence
			? drawOpenFence(fence, width, rows, this.theme)
			: drawMarkdown(this.#splitter.definitions + stripAll(endOf(this.#splitter.tail)), width, this.theme);
		return lines.slice(-rows).map(withoutBlankEnd);
	}
}

/** Replaces control characters, converts line ends to `\n` and tabs to spaces. */
function normalize(text: string): string {
	return stripAll(text).replace(/\r\n?/g, "\n").replace(/\t/g, "   ");
}

function drawPiece(piece: MarkdownPiece, width: number, theme: Theme): string[] {
	if (!piece.source) return [];
	const codeLines = piece.fence ? countLines(piece.fence.code) : 0;
	if (piece.fence && codeLines > MAX_MARKDOWN_CODE_LINES) {
		return drawFence(piece.fence.language, stripAll(piece.fence.code).split("\n"), width, theme);
	}
	const definitions = piece.mayRefer ? piece.definitions : "";
	return drawMarkdown(definitions + stripAll(piece.source), width, theme);
}

/** Draws the last rows of an open code block without highlighting, which may depend on all lines before them. */
function drawOpenFence(fence: { language: string; code: string }, width: number, rows: number, theme: Theme): string[] {
	return drawFence(fence.language, lastLines(fence.code, rows), width, theme);
}

function drawFence(language: string, lines: readonly string[], width: number, theme: Theme): string[] {
	const heading = languageLine(stripAll(language), theme.markdown.codeBlockBorder);
	const code = drawCode(lines, width, theme);
	if (heading !== undefined) code.unshift(...wrapTextWithAnsi(heading, width));
	return code;
}

function drawCode(lines: readonly string[], width: number, theme: Theme): string[] {
	const indent = theme.markdown.codeBlockIndent ?? "";
	return lines.flatMap((line) => {
		const code = indent + theme.markdown.codeBlock(stripAll(line));
		return wrapCode(code, width).flatMap((row) => wrapTextWithAnsi(row, width));
	});
}

function lastLines(text: string, count: number): string[] {
	let start = text.length;
	for (let line = 0; line < count && start > 0; line += 1) start = text.lastIndexOf("\n", start - 2) + 1;
	return text.slice(start).replace(/\n$/, "").split("\n");
}

/** @returns the end of a long unfinished block, from the start of a line; a table keeps its heading */
function endOf(tail: string): string {
	if (tail.length <= MAX_TAIL_LENGTH) return tail;
	const start = tail.indexOf("\n", tail.length - MAX_TAIL_LENGTH) + 1;
	const heading = /^[^\n|]*\|[^\n]*\n[ |:-]+\n/.exec(tail)?.[0] ?? "";
	return heading + tail.slice(start > 0 ? start : tail.length - MAX_TAIL_LENGTH);
}
