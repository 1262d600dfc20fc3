import { cleanLine, cleanLines, clipLine, styled, wrapLines } from "../lines.js";
import { View, type ViewStyle } from "./view.js";

/** Characters at the end of streaming thinking that each frame wraps. */
const LIVE_CHARACTERS = 4000;

/** Thinking of the model: its first line, or the full text when the user switched that on. */
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
		const { theme, showThinking, previewThinking, keymap } = this.style;
		if (!showThinking && !previewThinking) return [];
		if (this.redacted) return [theme.thinking(clipLine("∴ thinking hidden by the provider", width))];
		const text = this.#text.trim();
		if (!text) return [];
		if (showThinking) return styled(this.#paragraphs(text, width), theme.thinking);
		const hint = ` · ${keymap.keyOf("app.toggleThinking")}`;
		const first = cleanLine(text.slice(0, 400).split("\n", 1)[0] ?? "").replace(/^[#*\s]+|[*\s]+$/g, "");
		return [
			theme.thinking(clipLine(`∴ ${first}`, Math.max(1, width - hint.length))) + (width > 24 ? theme.dim(hint) : ""),
		];
	}

	#paragraphs(text: string, width: number): string[] {
		if (this.#done) return wrapLines(cleanLines(text), width);
		const lines = wrapLines(cleanLines(text.slice(-LIVE_CHARACTERS)), width);
		return lines.slice(-this.style.liveRows());
	}
}
