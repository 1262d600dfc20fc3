import {
	eraseBackwards,
	type InsertSession,
	insertCopies,
	Overwriting,
	type TypedText,
	typedIn,
} from "./vim-insert.js";
import type { VimState } from "./vim-state.js";
import { isSame, type Spot } from "./vim-text.js";

/** How an insert begins. */
export interface InsertStart {
	/** How often the typed text is inserted. */
	count?: number | undefined;
	/** Whether each copy is put on a line of its own. */
	isOnLines?: boolean | undefined;
	/** Whether the text overwrites what is there. */
	isReplace?: boolean;
	/** Whether `.` repeats it, with the command that began it. */
	isRepeatable: boolean;
}

/** What became of a key: it is handled, it types text, the mode ends, or one command of normal mode follows. */
export type InsertKey = "done" | "insert" | "end" | "pause";

/** @returns the character that a key types; undefined if it types none */
export function characterOf(key: string): string | undefined {
	if (key === "<cr>") return "\n";
	return key.startsWith("<") && key.length > 1 ? undefined : key;
}

/** The modes in which keys type text. */
export class InsertMode {
	#session: InsertSession | null = null;
	#overwriting: Overwriting | null = null;
	#isRepeatable = false;

	/** Whether text is being typed. */
	get isActive(): boolean {
		return this.#session !== null;
	}

	/** Whether `.` repeats what is being typed. */
	get isRepeatable(): boolean {
		return this.#isRepeatable;
	}

	begin(state: VimState, { count = 1, isOnLines = false, isReplace = false, isRepeatable }: InsertStart): void {
		state.mode = isReplace ? "replace" : "insert";
		state.changedAt ??= state.cursor;
		this.#overwriting = isReplace ? new Overwriting() : null;
		this.#isRepeatable = isRepeatable;
		this.#session = { lines: state.lines, at: state.cursor, count, isOnLines };
	}

	/** Call before something else moves the cursor: what is typed afterwards is another insert. */
	follow(state: VimState, cursor: Spot): void {
		if (!this.#session || isSame(cursor, state.cursor)) return;
		this.#session = { ...this.#session, lines: state.lines, at: cursor, count: 1 };
		if (this.#overwriting) this.#overwriting = new Overwriting();
	}

	key(state: VimState, key: string): InsertKey {
		if (key === "<esc>") return "end";
		const overwriting = this.#overwriting;
		if (overwriting) {
			const cell = characterOf(key);
			if (cell !== undefined) overwriting.type(state, cell);
			else if (key === "<bs>" || key === "<c-h>") overwriting.back(state);
			else if (key === "<c-w>") overwriting.backWord(state);
			else return "insert";
			return "done";
		}
		if (key === "<c-o>") return "pause";
		if (key === "<c-w>") this.#erase(state, "word");
		else if (key === "<c-u>") this.#erase(state, "line");
		else if (key === "<c-h>") this.#erase(state, "character");
		else return "insert";
		return "done";
	}

	/** Ends the mode, and inserts the typed text as often as the count says. @returns the text, typed once */
	end(state: VimState): TypedText {
		const session = this.#session ?? { lines: state.lines, at: state.cursor, count: 1, isOnLines: false };
		const typed = this.#overwriting ? { erased: 0, lines: this.#overwriting.lines } : typedIn(session, state.lines);
		if (this.#overwriting) this.#overwriting.replay(state, typed.lines, session.count - 1);
		else if (session.count > 1) insertCopies(state, { ...typed, erased: 0 }, session, session.count - 1, true);
		this.stop();
		return typed;
	}

	/** Types a text again and ends the mode. */
	repeat(state: VimState, typed: TypedText): void {
		if (this.#session && this.#overwriting) this.#overwriting.replay(state, typed.lines, this.#session.count);
		else if (this.#session) insertCopies(state, typed, this.#session, this.#session.count);
		this.stop();
	}

	stop(): void {
		this.#session = null;
		this.#overwriting = null;
	}

	#erase(state: VimState, what: "character" | "word" | "line"): void {
		eraseBackwards(state, what, this.#session?.at ?? state.cursor);
		if (this.#session && what !== "character") this.#session.count = 1;
	}
}
