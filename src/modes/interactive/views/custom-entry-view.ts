import { visibleWidth } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import { readDrawn } from "../../../hooks/tool-drawing.js";
import type { EntryComponent, EntryOptions } from "../../../hooks/types.js";
import type { SessionEntry } from "../../../log/entry.js";
import { clipLine, moreLines } from "../../../tui/line.js";
import type { Theme } from "../../../tui/theme.js";
import { stripAll } from "../../../util/sanitize.js";
import { cleanLine, cleanLines, wrapLines } from "../clean-text.js";
import { hookTheme } from "../hook-theme.js";
import { View, type ViewStyle } from "./view.js";

/** A hook's function that draws entries of a custom type. */
export type EntryRenderer = NonNullable<EntryOptions["render"]>;

/** Limits of what a hook draws: lines, and characters of each. */
const MAX_LINES = 500;
const MAX_LINE_LENGTH = 2000;

/** One sign at the start of a line. */
const SIGN = /^[^\p{L}\p{N}\s] /u;

/** A custom entry, drawn by its hook. If the hook throws, the error is shown instead. */
export class CustomEntryView extends View {
	#drawn: string | EntryComponent | null = null;

	constructor(
		style: ViewStyle,
		private readonly entry: SessionEntry,
		private readonly renderer: EntryRenderer,
	) {
		super(style);
	}

	override invalidate(): void {
		super.invalidate();
		this.#drawn = null;
	}

	protected override draw(width: number): string[] {
		try {
			const { theme, expanded } = this.style;
			this.#drawn ??= this.renderer(this.entry, hookTheme(theme), { expanded: expanded !== false });
			return safeRows(this.#drawn, width, theme, wrapAll);
		} catch (error) {
			const text = `✗ entry ${cleanLine(this.entry.type, 60)} cannot be drawn: ${cleanLine(errorText(error))}`;
			return [this.style.theme.error(clipLine(text, width))];
		}
	}
}

function wrapAll(lines: string[], width: number): string[] {
	return lines.flatMap((line) => wrapMarked(line, width));
}

/** Wraps a line; the text after a sign, such as `◇`, stays aligned. */
function wrapMarked(line: string, width: number): string[] {
	if (!SIGN.test(stripAll(line))) return wrapLines([line], width);
	const [first = "", ...rest] = wrapLines([line], visibleWidth(line) <= width ? width : width - 2);
	return [first, ...rest.map((part) => `  ${part}`)];
}

/**
 * Rows of what a hook draws: text is wrapped, and rows of a component that are too wide are cut. If there are more than
 * `MAX_LINES`, the last one says how many are missing.
 * @throws TypeError for anything else
 */
export function safeRows(
	drawn: unknown,
	width: number,
	theme: Theme,
	wrap: (lines: string[], width: number) => string[] = wrapLines,
): string[] {
	const { rows, others } = rowsOf(readDrawn(drawn, width), width, wrap);
	const missing = rows.length + others - MAX_LINES;
	return missing > 0 ? [...rows.slice(0, MAX_LINES - 1), theme.dim(clipLine(moreLines(missing + 1), width))] : rows;
}

/** `others`: the number of rows that were not read. */
function rowsOf(
	read: ReturnType<typeof readDrawn>,
	width: number,
	wrap: (lines: string[], width: number) => string[],
): { rows: string[]; others: number } {
	if ("text" in read) {
		const text = read.text.trimEnd();
		return { rows: text === "" ? [] : wrap(cleanLines(text, MAX_LINE_LENGTH), width), others: 0 };
	}
	const lines = read.lines.slice(0, MAX_LINES).flatMap((line) => cleanLines(line, MAX_LINE_LENGTH));
	return { rows: lines.map((line) => clipLine(line, width)), others: Math.max(0, read.lines.length - MAX_LINES) };
}
