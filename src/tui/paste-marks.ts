import { type EditorPastes, editorPastes } from "./internals/editor.js";

/** A text of the editor, where a mark such as `[paste #1 +30 lines]` may stand for a long one. */
export interface FoldedText {
	readonly text: string;
	/** What the marks stand for, by the number in them. */
	readonly pastes: ReadonlyMap<number, string>;
}

const MARK = /\[paste #(\d+)(?: (?:\+\d+ lines|\d+ chars))?\]/g;
/** A paste beyond one of these is folded, as in the base class. */
const MAX_PASTED_LINES = 10;
const MAX_PASTED_LENGTH = 1000;
/** Other text is meant to be seen, up to where laying it out takes longer than a frame. */
const MAX_LENGTH = 20_000;
const MAX_LINE_LENGTH = 2000;

/** Text as it is, without marks. */
export function plainText(text: string): FoldedText {
	return { text, pastes: new Map() };
}

/** The text with what its marks stand for. */
export function unfold({ text, pastes }: FoldedText): string {
	return pastes.size === 0 ? text : text.replace(MARK, (mark, number) => pasteOf(mark, Number(number), pastes) ?? mark);
}

/** True when a pasted text does not belong into the editor as it is. */
export function isLongPaste(text: string): boolean {
	return text.length > MAX_PASTED_LENGTH || countLines(text) > MAX_PASTED_LINES;
}

/** True when a text would hold up the editor. */
export function isTooLongToShow(text: string): boolean {
	return text.length > MAX_LENGTH || (text.length > MAX_LINE_LENGTH && hasLongLine(text));
}

/** The pastes of an editor: each has a number that no other gets before the editor is emptied. */
export class PasteMarks {
	readonly #pastes: EditorPastes;

	/** @throws TypeError in another version of pi-tui */
	constructor(private readonly editor: { getText(): string }) {
		this.#pastes = editorPastes(editor);
	}

	/** Keeps a text. @returns the mark that stands for it, one that does not stand in the editor as typed text */
	fold(text: string): string {
		const typed = this.editor.getText();
		let number = this.#pastes.lastNumber + 1;
		while (typed.includes(markOf(number, text))) number += 1;
		this.#pastes.add(number, text);
		return markOf(number, text);
	}

	/** A text of this editor with what its marks stand for now. */
	snapshot(text: string): FoldedText {
		const pastes = new Map<number, string>();
		for (const [mark, number] of text.matchAll(MARK)) {
			const paste = pasteOf(mark, Number(number), this.#pastes.texts);
			if (paste !== undefined) pastes.set(Number(number), paste);
		}
		return { text, pastes };
	}

	/** Takes over the pastes of a text. @returns the text with marks of this editor */
	adopt({ text, pastes }: FoldedText): string {
		return text.replace(MARK, (mark, number) => {
			const paste = pasteOf(mark, Number(number), pastes);
			return paste === undefined ? mark : this.fold(paste);
		});
	}
}

function markOf(number: number, text: string): string {
	const lines = countLines(text);
	return lines > MAX_PASTED_LINES ? `[paste #${number} +${lines} lines]` : `[paste #${number} ${text.length} chars]`;
}

/** What a mark stands for; nothing when someone has typed it. */
function pasteOf(mark: string, number: number, pastes: ReadonlyMap<number, string>): string | undefined {
	const paste = pastes.get(number);
	return paste !== undefined && markOf(number, paste) === mark ? paste : undefined;
}

function countLines(text: string): number {
	let lines = 1;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
	return lines;
}

function hasLongLine(text: string): boolean {
	return text.split("\n").some((line) => line.length > MAX_LINE_LENGTH);
}
