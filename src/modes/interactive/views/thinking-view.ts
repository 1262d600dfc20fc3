import { drawMarkdown } from "../../../tui/draw-markdown.js";
import { clipLine } from "../../../tui/line.js";
import { trimOf } from "../../../util/trim.js";
import { cleanLine, cleanLines, wrapLines } from "../clean-text.js";
import { View, type ViewStyle } from "./view.js";

/** Characters at the end of streaming thinking that each frame wraps. */
const LIVE_CHARACTERS = 4000;
/** Characters at the start of the text that a preview reads. */
const PREVIEW_CHARACTERS = 400;
/** The preview of a streaming line moves its start by this number of characters. */
const STABLE_CHARACTERS = 2000;
const MARK = "∴ ";
/** Narrower previews do not name the key that shows all. Columns. */
const MIN_HINT_WIDTH = 24;
/** Markdown before and after a line, such as that of a heading. */
const DECORATION = ["#* \t", "* \t"] as const;

/**
 * Thinking of the model: the full text when the user switched that on, else one line. That line is the end of the text
 * while it streams and its first line afterwards, or the text of a hook; with `hideThinkingBlock`, it only says that
 * thinking is hidden.
 */
export class ThinkingView extends View {
	#text = "";
	#done = false;

	constructor(
		style: ViewStyle,
		private readonly redacted = false,
	) {
		super(style);
	}

	override get done(): boolean {
		return this.#done;
	}

	append(delta: string): void {
		this.#text += delta;
		this.changed();
	}

	/** Sets the complete text. */
	finish(text: string): void {
		if (this.#done) return;
		this.#text = text;
		this.#done = true;
		this.changed();
	}

	/** Completes the text with what has been received. */
	close(): void {
		if (!this.#done) this.finish(this.#text);
	}

	protected override draw(width: number): string[] {
		const { theme, showThinking, previewThinking, thinkingLabel, keymap } = this.style;
		if (this.redacted) return [theme.thinking(clipLine("∴ thinking hidden by the provider", width))];
		const text = this.#text.trim();
		if (!text) return [];
		if (showThinking) return this.#paragraphs(text, width);
		const key = keymap.keyOf("app.toggleThinking");
		if (thinkingLabel !== null)
			return [theme.thinking(clipLine(`${MARK}${thinkingLabel}${key && ` · ${key}`}`, width))];
		if (!previewThinking) return [theme.thinking(clipLine(`∴ thinking hidden${key && ` · ${key} shows it`}`, width))];
		const hint = key && width > MIN_HINT_WIDTH ? ` · ${key}` : "";
		const room = Math.max(1, width - hint.length);
		const line = this.#done ? firstLine(text) : lastLine(text, room - MARK.length);
		return [theme.thinking(clipLine(MARK + line, room)) + theme.dim(hint)];
	}

	#paragraphs(text: string, width: number): string[] {
		const { theme } = this.style;
		const shown = this.#done ? text : text.slice(-LIVE_CHARACTERS);
		const lines = drawMarkdown(cleanLines(shown).join("\n"), width, theme, theme.thinking);
		return this.#done ? lines : lines.slice(-this.style.liveRows());
	}
}

function firstLine(text: string): string {
	return trimOf(cleanLine(text.slice(0, PREVIEW_CHARACTERS).split("\n", 1)[0] ?? ""), ...DECORATION);
}

/** The last row that a growing text wraps into. */
function lastLine(text: string, width: number): string {
	const line = text.slice(text.lastIndexOf("\n") + 1);
	// The start stays the same for many characters, so that the rows do not move while the text grows.
	const start = Math.max(0, line.length - (line.length % STABLE_CHARACTERS) - STABLE_CHARACTERS);
	const end = trimOf(cleanLine(line.slice(start), 2 * STABLE_CHARACTERS), ...DECORATION);
	return wrapLines([end], width).at(-1) ?? "";
}
