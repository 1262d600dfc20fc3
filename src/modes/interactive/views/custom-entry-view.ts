import { visibleWidth } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import { readDrawn } from "../../../hooks/tool-drawing.js";
import type { EntryComponent, EntryOptions } from "../../../hooks/types.js";
import type { SessionEntry } from "../../../log/entry.js";
import { stripAll } from "../../../util/sanitize.js";
import { hookTheme } from "../hook-theme.js";
import { cleanLine, cleanLines, clipLine, wrapLines } from "../lines.js";
import { View, type ViewStyle } from "./view.js";

/** A hook's function that draws entries of a custom type. */
export type EntryRenderer = NonNullable<EntryOptions["render"]>;

/** Limits of one custom entry: lines, and characters of each. */
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
			return lines(this.#drawn, width);
		} catch (error) {
			const text = `✗ entry ${cleanLine(this.entry.type, 60)} cannot be drawn: ${cleanLine(errorText(error))}`;
			return [this.style.theme.error(clipLine(text, width))];
		}
	}
}

// Renderers are hook code: validate what they return.
function lines(drawn: unknown, width: number): string[] {
	const read = readDrawn(drawn, width);
	if ("text" in read)
		return cleanLines(read.text.trimEnd(), MAX_LINE_LENGTH)
			.flatMap((line) => wrapMarked(line, width))
			.slice(0, MAX_LINES);
	return read.lines
		.slice(0, MAX_LINES)
		.flatMap((line) => cleanLines(line, MAX_LINE_LENGTH))
		.slice(0, MAX_LINES)
		.map((line) => clipLine(line, width));
}

/** Wraps a line; the text after a sign, such as `◇`, stays aligned. */
function wrapMarked(line: string, width: number): string[] {
	if (!SIGN.test(stripAll(line))) return wrapLines([line], width);
	const [first = "", ...rest] = wrapLines([line], visibleWidth(line) <= width ? width : width - 2);
	return [first, ...rest.map((part) => `  ${part}`)];
}
