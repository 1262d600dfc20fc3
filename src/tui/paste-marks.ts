import { type EditorPastes, editorPastes } from "./internals/editor.js";
import { countLines } from "./line.js";

/** Editor text in which marks such as `[paste #1 +30 lines]` replace long pastes. */
export interface FoldedText {
	readonly text: string;
	/** The pasted texts, by the number in their marks. */
	readonly pastes: ReadonlyMap<number, string>;
}

const MARK = /\[paste #(\d+)(?: (?:\+\d+ lines|\d+ chars))?\]/g;
/** A longer paste is folded, with the same limits as in the base class. */
const MAX_PASTED_LINES = 10;
const MAX_PASTED_LENGTH = 1000;
/** Other text is folded only when its layout would take longer than a frame. */
const MAX_LENGTH = 20_000;
const MAX_LINE_LENGTH = 2000;

/** Wraps text without marks. */
export function plainText(text: string): FoldedText {
	return { text, pastes: new Map() };
}

/** @returns the text with its marks replaced by the pasted texts */
export function unfold({ text, pastes }: FoldedText): string {
	return pastes.size === 0 ? text : text.replace(MARK, (mark, number) => pasteOf(mark, Number(number), pastes) ?? mark);
}

/** Whether a pasted text is long enough to be folded. */
export function isLongPaste(text: string): boolean {
	return text.length > MAX_PASTED_LENGTH || pastedLines(text) > MAX_PASTED_LINES;
}

/** Whether a text would slow down the editor. */
export function isTooLongToShow(text: string): boolean {
	return text.length > MAX_LENGTH || (text.length > MAX_LINE_LENGTH && hasLongLine(text));
}

/** The pastes of an editor. Their numbers are unique until the editor is emptied. */
export class PasteMarks {
	readonly #pastes: EditorPastes;

	/** @throws TypeError in another version of pi-tui */
	constructor(private readonly editor: { getText(): string }) {
		this.#pastes = editorPastes(editor);
	}

	/** Stores a text. @returns its mark, which does not occur in the editor as typed text */
	fold(text: string): string {
		const typed = this.editor.getText();
		let number = this.#pastes.lastNumber + 1;
		while (typed.includes(markOf(number, text))) number += 1;
		this.#pastes.add(number, text);
		return markOf(number, text);
	}

	/** Keeps the pastes during a change of the complete text. */
	keepDuring(change: () => void): void {
		this.#pastes.keepDuring(change);
	}

	/** @returns a text of this editor along with the current texts of its marks */
	snapshot(text: string): FoldedText {
		const pastes = new Map<number, string>();
		for (const [mark, number] of text.matchAll(MARK)) {
			const paste = pasteOf(mark, Number(number), this.#pastes.texts);
			if (paste !== undefined) pastes.set(Number(number), paste);
		}
		return { text, pastes };
	}

	/** Copies the pastes of a text into this editor. @returns the text with this editor's marks */
	adopt({ text, pastes }: FoldedText): string {
		return text.replace(MARK, (mark, number) => {
			const paste = pasteOf(mark, Number(number), pastes);
			return paste === undefined ? mark : this.fold(paste);
		});
	}
}

function markOf(number: number, text: string): string {
	const lines = pastedLines(text);
	return lines > MAX_PASTED_LINES ? `[paste #${number} +${lines} lines]` : `[paste #${number} ${text.length} chars]`;
}

/** Number of lines as a person counts them: a final line end does not start another one. */
function pastedLines(text: string): number {
	return countLines(text.endsWith("\n") ? text.slice(0, -1) : text);
}

/** @returns the pasted text of a mark; undefined when the mark was typed */
function pasteOf(mark: string, number: number, pastes: ReadonlyMap<number, string>): string | undefined {
	const paste = pastes.get(number);
	return paste !== undefined && markOf(number, paste) === mark ? paste : undefined;
}

function hasLongLine(text: string): boolean {
	return text.split("\n").some((line) => line.length > MAX_LINE_LENGTH);
}
