import { visibleWidth } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import type { EntryComponent, EntryOptions } from "../../../hooks/types.js";
import type { SessionEntry } from "../../../log/entry.js";
import { stripAll } from "../../../util/sanitize.js";
import { hookTheme } from "../hook-theme.js";
import { cleanLine, clipLine, wrapLines } from "../lines.js";
import { safeRows } from "./tools/hook-lines.js";
import { View, type ViewStyle } from "./view.js";

/** A hook's function that draws entries of a custom type. */
export type EntryRenderer = NonNullable<EntryOptions["render"]>;

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
