import type { Block } from "../../../tui/live-tui.js";
import { StreamingMarkdown } from "../../../tui/streaming-markdown.js";
import { innerWidth, type ViewStyle } from "./view.js";

/** Text of a reply as Markdown, streaming or complete. */
export class TextView implements Block {
	readonly #markdown: StreamingMarkdown;

	constructor(private readonly style: ViewStyle) {
		this.#markdown = new StreamingMarkdown(style.theme, {
			tailRows: () => style.liveRows(),
			width: innerWidth(style.columns(), style),
		});
	}

	get done(): boolean {
		return this.#markdown.done;
	}

	get settledLines(): number {
		return this.#markdown.settledLines;
	}

	append(delta: string): void {
		if (this.done) return;
		this.#markdown.append(delta);
		this.style.requestStreamFrame();
	}

	/** Sets the complete text. */
	finish(text: string): void {
		if (this.done) return;
		this.#markdown.finish(text);
		this.style.requestRender();
	}

	/** Completes the text with what has been received. */
	close(): void {
		if (this.done) return;
		this.#markdown.finish();
		this.style.requestRender();
	}

	render(width: number): string[] {
		return this.#markdown.render(width);
	}

	invalidate(): void {
		this.#markdown.invalidate();
	}
}
