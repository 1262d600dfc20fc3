import { errorText } from "../../../errors.js";
import type { EntryComponent, EntryTheme } from "../../../hooks/types.js";
import type { SessionEntry } from "../../../log/entry.js";
import { cleanLine, cleanLines, clipLine, wrapLines } from "../lines.js";
import { View, type ViewStyle } from "./view.js";

/** A hook's function that draws an entry of its own type. */
export type EntryRenderer = (entry: SessionEntry, theme: EntryTheme) => string | EntryComponent;

/** Lines that one entry of a hook may take. */
const MAX_LINES = 500;

/** An entry of a hook, drawn by the hook. What it throws is shown in its place. */
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
			this.#drawn ??= this.renderer(this.entry, entryTheme(this.style));
			return lines(this.#drawn, width);
		} catch (error) {
			const text = `✗ entry ${cleanLine(this.entry.type, 60)} cannot be drawn: ${cleanLine(errorText(error))}`;
			return [this.style.theme.error(clipLine(text, width))];
		}
	}
}

// A renderer is someone else's code: what it returns is looked at before it is used.
function lines(drawn: unknown, width: number): string[] {
	if (typeof drawn === "string") return wrapLines(cleanLines(drawn.trimEnd()), width).slice(0, MAX_LINES);
	if (typeof drawn !== "object" || drawn === null || !("render" in drawn) || typeof drawn.render !== "function") {
		throw new TypeError("its renderer returned neither a text nor a component");
	}
	const rendered: unknown = drawn.render(width);
	if (!Array.isArray(rendered)) throw new TypeError("its component returned no lines");
	return rendered
		.slice(0, MAX_LINES)
		.flatMap((line: unknown) => cleanLines(String(line)))
		.slice(0, MAX_LINES)
		.map((line) => clipLine(line, width));
}

function entryTheme({ theme }: ViewStyle): EntryTheme {
	const { accent, dim, bold, success, warning, error } = theme;
	return { accent, dim, bold, success, warning, error };
}
