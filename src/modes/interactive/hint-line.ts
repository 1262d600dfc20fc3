import type { Component } from "@mariozechner/pi-tui";
import { cleanLine, clipLine } from "./lines.js";
import type { Look } from "./views/view.js";

/** A line above the editor that a key brings and the next one takes away. */
export class HintLine implements Component {
	#text: string | null = null;

	constructor(private readonly look: Look) {}

	set text(text: string | null) {
		this.#text = text;
		this.look.requestRender();
	}

	render(width: number): string[] {
		return this.#text === null ? [] : [this.look.theme.dim(clipLine(cleanLine(this.#text), width))];
	}

	invalidate(): void {} // nothing is kept
}
