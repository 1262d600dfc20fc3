import type { Keymap } from "../../../tui/keymap.js";
import type { Block } from "../../../tui/live-tui.js";
import type { TerminalImages } from "../../../tui/terminal-images.js";
import type { Theme } from "../../../tui/theme.js";

/** What views share: styles, the user's switches, and how to ask for a frame. */
export interface ViewStyle {
	readonly theme: Theme;
	/** Absolute; paths inside it are shown relative to it. */
	readonly cwd: string;
	readonly home: string;
	/** Ctrl+O: outputs and diffs whole, hidden entries one by one. */
	expanded: boolean;
	/** Ctrl+T: thinking in full. */
	showThinking: boolean;
	/** Otherwise its first line; false leaves it out altogether. */
	previewThinking: boolean;
	/** The column that shows what is in the context. */
	gutter: boolean;
	/** Names the keys in hints. */
	readonly keymap: Pick<Keymap, "keyOf">;
	/** Images, where the terminal can show them. */
	readonly images: TerminalImages;
	/** Rows that a block may take while it still grows. */
	liveRows(): number;
	/** Rows that an image may take. */
	imageRows(): number;
	requestRender(): void;
	/** For what streams in: fewer frames, which the eye takes as steady. */
	requestStreamFrame(): void;
}

/** Draws one thing of the transcript. Lines are kept until the width, the look or the data changes. */
export abstract class View implements Block {
	#lines: string[] | null = null;
	#width = 0;
	#imageRows = 0;

	constructor(protected readonly style: ViewStyle) {}

	/** False while the view may still change by itself. */
	get done(): boolean {
		return true;
	}

	/** True when an image is among the lines: they depend on the height of the screen, and come and go together. */
	get whole(): boolean {
		return false;
	}

	render(width: number): string[] {
		const imageRows = this.whole ? this.style.imageRows() : 0;
		if (!this.#lines || this.#width !== width || this.#imageRows !== imageRows) {
			this.#lines = this.draw(Math.max(1, width));
			this.#width = width;
			this.#imageRows = imageRows;
		}
		return this.#lines;
	}

	invalidate(): void {
		this.#lines = null;
	}

	/** The data changed: draws again in the next frame. */
	protected changed(): void {
		this.#lines = null;
		if (this.done) this.style.requestRender();
		else this.style.requestStreamFrame();
	}

	/** @returns lines of at most `width` columns; never the array of an earlier call, changed */
	protected abstract draw(width: number): string[];
}
