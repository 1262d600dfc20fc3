import type { Style } from "./theme.js";

/** Keys of the editor that come before its own, such as those of vim. */
export interface EditorKeys {
	/** Whether keys type text: completions are offered. */
	readonly isInserting: boolean;
	/** @returns true when it has handled the key */
	handleInput(data: string): boolean;
	/** Call after another prompt is shown: places the cursor. */
	settle(): void;
	/** Call before the editor is emptied, when the next prompt begins. */
	restart(): void;
	/** @returns the lines of the editor with what the keys show. @param style that of the borders */
	decorate(lines: string[], options: { width: number; style: Style }): string[];
}
