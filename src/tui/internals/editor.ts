import { assertMembers } from "./members.js";

/** The private members of `Editor` that hold folded pastes. */
interface PasteMembers {
	readonly pastes: Map<number, string>;
	pasteCounter: number;
}

/** The private members of `Editor` that hold its undo states. */
interface UndoMembers {
	readonly undoStack: { push(state: object): void; readonly length: number };
	readonly state: object;
}

/** The texts that paste marks in an editor stand for. */
export interface EditorPastes {
	/** By the number in the mark. A mark whose number is missing is ordinary text. */
	readonly texts: ReadonlyMap<number, string>;
	/** The last number that was used since the editor was emptied. */
	readonly lastNumber: number;
	add(number: number, text: string): void;
}

/** The undo states of an editor. */
export interface EditorUndo {
	/** How many changes can be undone. */
	readonly depth: number;
	/** @returns a copy of the current state */
	snapshot(): object;
	/** Makes a snapshot the current state, as a change that can be undone. */
	restore(snapshot: object): void;
}

/** @throws TypeError in another version of pi-tui */
export function editorPastes(editor: object): EditorPastes {
	assertMembers<PasteMembers>(editor, "Editor", { pastes: "object", pasteCounter: "number" });
	return {
		texts: editor.pastes,
		get lastNumber() {
			return editor.pasteCounter;
		},
		add: (number, text) => {
			editor.pasteCounter = number;
			editor.pastes.set(number, text);
		},
	};
}

/** @throws TypeError in another version of pi-tui */
export function editorUndo(editor: object): EditorUndo {
	assertMembers<UndoMembers>(editor, "Editor", { undoStack: "object", state: "object" });
	assertMembers<UndoMembers["undoStack"]>(editor.undoStack, "UndoStack", { push: "function", length: "number" });
	return {
		get depth() {
			return editor.undoStack.length;
		},
		snapshot: () => structuredClone(editor.state),
		restore: (snapshot) => {
			editor.undoStack.push(editor.state);
			Object.assign(editor.state, snapshot);
		},
	};
}
