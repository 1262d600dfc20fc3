import { type Component, CURSOR_MARKER, type Focusable } from "@mariozechner/pi-tui";
import { errorText } from "../errors.js";
import { monotonicMs } from "../util/clock.js";
import { sanitize } from "../util/sanitize.js";
import { clipLine, moreLines, oneLine } from "./line.js";
import type { Style } from "./theme.js";

/** A component that is not part of pi. */
export type ForeignComponent = Component & Partial<Focusable> & { dispose?(): void };

/** How a foreign component is contained. */
export interface ContainedOptions {
	/** Names the component's author in the line that replaces a component that fails. */
	name: string;
	/** Style of that line. */
	errorStyle: Style;
	/** Maximum number of rows; the rest is cut. */
	maxRows(): number;
	/** Receives each failure; the same one only once in a row. */
	onError(error: unknown): void;
	/** Receives the time of each draw in ms. */
	onDraw(ms: number): void;
	/** Requests a frame. Only for a component without focus: a slow one is then drawn less often. */
	requestRender?(): void;
}

/** Drawing for longer than this delays the frame, ms. */
const FRAME_MS = 16;
/** A slow component without focus uses at most this share of the time. */
const SLOW_SHARE = 0.1;
/** Stands for the mark of the cursor while a line is made safe: a character that no text contains. */
const CURSOR = "\ufdd0";

/**
 * Draws a component that may fail: each line is cut at `width` columns and has no control sequences except styles. If it
 * throws or returns anything else than lines, its author and the error are shown on one line instead.
 */
export class ContainedComponent implements Component, Focusable {
	/** The lines as the component returned them last, and as they are shown. */
	#rendered: readonly string[] = [];
	#safe: string[] = [];
	#width = 0;
	#lastError: string | null = null;
	/** Before this time a slow component keeps its last lines. */
	#dueAt = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(
		private readonly component: ForeignComponent,
		private readonly options: ContainedOptions,
	) {}

	get focused(): boolean {
		return this.component.focused ?? false;
	}

	set focused(isFocused: boolean) {
		if ("focused" in this.component) this.component.focused = isFocused;
	}

	get wantsKeyRelease(): boolean {
		return this.component.wantsKeyRelease === true;
	}

	render(width: number): string[] {
		const startedAt = monotonicMs();
		if (this.#timer && this.#width === width && startedAt < this.#dueAt) return this.#safe;
		try {
			this.#safe = this.#makeSafe(this.component.render(width), width);
			this.#lastError = null;
		} catch (error) {
			this.#safe = [this.#failed(error, width)];
			this.#rendered = [];
		}
		this.#width = width;
		const ms = monotonicMs() - startedAt;
		this.options.onDraw(ms);
		if (ms > FRAME_MS) this.#slowDown(ms);
		return this.#safe;
	}

	/** Passes a key to the component. @throws its error */
	handleInput(data: string): void {
		this.component.handleInput?.(data);
	}

	invalidate(): void {
		this.#rendered = [];
		try {
			this.component.invalidate?.();
		} catch (error) {
			this.#report(error);
		}
	}

	/** Call when the component is removed. */
	dispose(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		try {
			this.component.dispose?.();
		} catch (error) {
			this.#report(error);
		}
	}

	#makeSafe(given: unknown, width: number): string[] {
		if (!Array.isArray(given)) throw new TypeError("render did not return an array of lines");
		const rows = this.options.maxRows();
		const isCut = given.length > rows;
		const lines: readonly unknown[] = isCut ? given.slice(0, Math.max(0, rows - 1)) : given;
		const safe = lines.map((line, row) => {
			if (typeof line !== "string") throw new TypeError(`line ${row + 1} of render is not a string`);
			if (this.#width === width && line === this.#rendered[row]) return this.#safe[row] ?? "";
			return clipLine(safeText(line), width);
		});
		this.#rendered = lines.map(String);
		return isCut && rows > 0 ? [...safe, clipLine(moreLines(given.length - safe.length), width)] : safe;
	}

	#failed(error: unknown, width: number): string {
		this.#report(error);
		return this.options.errorStyle(clipLine(oneLine(`✗ ${this.options.name}: ${errorText(error)}`), width));
	}

	#report(error: unknown): void {
		const text = errorText(error);
		if (text === this.#lastError) return;
		this.#lastError = text;
		this.options.onError(error);
	}

	#slowDown(ms: number): void {
		const { requestRender } = this.options;
		if (!requestRender) return;
		const pauseMs = ms / SLOW_SHARE;
		this.#dueAt = monotonicMs() + pauseMs;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			requestRender();
		}, pauseMs).unref();
	}
}

/** One row of text without control sequences except styles and the mark of the cursor. */
function safeText(line: string): string {
	const at = line.indexOf(CURSOR_MARKER);
	if (at < 0) return sanitize(line).replaceAll("\t", "   ").replaceAll("\n", " ");
	const marked = line.replaceAll(CURSOR, "").replace(CURSOR_MARKER, CURSOR).replaceAll(CURSOR_MARKER, "");
	return sanitize(marked).replaceAll("\t", "   ").replaceAll("\n", " ").replace(CURSOR, CURSOR_MARKER);
}
