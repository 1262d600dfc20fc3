import type { TextRange } from "../../log/entry.js";

/** Number of texts that are remembered; a prompt rarely has more than one. */
const MAX_TEXTS = 50;

/** The long texts pasted into the editor. A prompt contains them in full, also one that was edited or queued meanwhile. */
export class PastedTexts {
	#texts: string[] = [];

	/** Remembers a text. Prompts are sent without blanks at their ends. */
	add(text: string): void {
		const trimmed = text.trim();
		this.#texts = [...this.#texts.filter((known) => known !== trimmed), trimmed].slice(-MAX_TEXTS);
	}

	/** The parts of a prompt that were pasted, in text order; the longest where they overlap. */
	in(prompt: string): TextRange[] {
		const found: TextRange[] = [];
		for (const text of [...this.#texts].sort((a, b) => b.length - a.length)) {
			for (let start = prompt.indexOf(text); start >= 0; start = prompt.indexOf(text, start + text.length)) {
				const end = start + text.length;
				if (found.every((other) => end <= other.start || start >= other.end)) found.push({ start, end });
			}
		}
		return found.sort((a, b) => a.start - b.start);
	}
}
