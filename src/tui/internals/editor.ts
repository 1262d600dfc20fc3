import { CURSOR_CELL } from "../suggestion.js";
import { assertMembers } from "./members.js";

/** What the editor writes after the cell with the cursor. */
const CURSOR_END = "\x1b[0m";

/** The private members of `Editor` that hold folded pastes. */
interface PasteMembers {
	pastes: Map<number, string>;
	pasteCounter: number;
}

/** What `Editor` restores when it undoes a change. */
interface Snapshot extends PasteMembers {
	readonly state: object;
}

/** The private members of `Editor` that hold its undo states. */
interface UndoMembers extends Snapshot {
	readonly undoStack: { push(snapshot: Snapshot): void; readonly length: number };
}

/** The private member of `Editor` through which all text passes that is set or inserted at once. */
interface TextMembers {
	normalizeText(text: string): string;
}

/**
 * Lets an editor keep tabs, of which pi-tui makes four spaces. It counts three columns for each, also where it wraps lines.
 * @throws TypeError in another version of pi-tui
 */
export function keepTabs(editor: object): void {
	assertMembers<TextMembers>(editor, "Editor", { normalizeText: "function" });
	editor.normalizeText = (text) => text.replace(/\r\n?/g, "\n");
}

/** Draws the tabs in a line of such an editor. The cursor covers the first column of a tab. */
export function drawTabs(line: string): string {
	if (!line.includes("\t")) return line;
	return line.replace(`${CURSOR_CELL}\t${CURSOR_END}`, `${CURSOR_CELL} ${CURSOR_END}  `).replaceAll("\t", "   ");
}

/** The texts behind an editor's paste marks. */
export interface EditorPastes {
	/** By the number in the mark. A mark with an unknown number is ordinary text. */
	readonly texts: ReadonlyMap<number, string>;
	/** The last number used since the editor was emptied. */
	readonly lastNumber: number;
	add(number: number, text: string): void;
	/** Keeps the texts during a call of `setText`, which forgets them. */
	keepDuring(change: () => void): void;
}

/** @throws TypeError in another version of pi-tui */
export function editorPastes(editor: object): EditorPastes {
	assertMembers<PasteMembers>(editor, "Editor", { pastes: "object", pasteCounter: "number" });
	return {
		get texts() {
			return editor.pastes;
		},
		get lastNumber() {
			return editor.pasteCounter;
		},
		add: (number, text) => {
			editor.pasteCounter = number;
			editor.pastes.set(number, text);
		},
		keepDuring: (change) => {
			const kept = { pastes: new Map(editor.pastes), pasteCounter: editor.pasteCounter };
			change();
			Object.assign(editor, kept);
		},
	};
}

/** Redo for pi-tui's editor, which can only undo. */
export class Redo {
	readonly #editor: UndoMembers & { getText(): string };
	/** Undone states, oldest first. */
	#undone: Snapshot[] = [];
	/** The text after the last undo or redo. When the editor's text differs, there is nothing to redo. */
	#text = "";

	/** @throws TypeError in another version of pi-tui */
	constructor(editor: { getText(): string }) {
		assertMembers<UndoMembers>(editor, "Editor", {
			undoStack: "object",
			state: "object",
			pastes: "object",
			pasteCounter: "number",
		});
		assertMembers<UndoMembers["undoStack"]>(editor.undoStack, "UndoStack", { push: "function", length: "number" });
		this.#editor = editor;
	}

	/** Runs `undo` and keeps the previous state. */
	undo(undo: () => void): void {
		this.#forgetStale();
		const { length } = this.#editor.undoStack;
		const before = structuredClone(this.#snapshot());
		undo();
		if (this.#editor.undoStack.length < length) this.#undone.push(before);
		this.#text = this.#editor.getText();
	}

	/** Reverts the last undo, unless the text has changed since. */
	redo(): void {
		this.#forgetStale();
		const next = this.#undone.pop();
		if (!next) return;
		this.#editor.undoStack.push(this.#snapshot());
		// The base class keeps references to its state.
		Object.assign(this.#editor.state, next.state);
		Object.assign(this.#editor, { pastes: next.pastes, pasteCounter: next.pasteCounter });
		this.#text = this.#editor.getText();
	}

	#snapshot(): Snapshot {
		const { state, pastes, pasteCounter } = this.#editor;
		return { state, pastes, pasteCounter };
	}

	#forgetStale(): void {
		if (this.#editor.getText() !== this.#text) this.#undone = [];
	}
}
