import { editCommand, IGNORED, INSERTS, openLine, SHORT, SHORT_LINES } from "./vim-edit-commands.js";
import type { TypedText } from "./vim-insert.js";
import { characterOf, InsertMode } from "./vim-insert-mode.js";
import { type CommandPrefix, type KeyReader, readMotion, readObject, readPrefix, type SearchLine } from "./vim-keys.js";
import { keepsColumn, MOTIONS } from "./vim-motions.js";
import {
	OPERATORS,
	type Operating,
	type Outcome,
	operateLines,
	operateMotion,
	operateObject,
	type VimRange,
} from "./vim-operators.js";
import { createVimState, keepOnCell, moveTo, type VimEngineOptions, type VimState } from "./vim-state.js";
import { isSame, type Lines, lineAt, type Spot } from "./vim-text.js";
import { VimUndo } from "./vim-undo.js";
import {
	extendSelection,
	insertPlace,
	leaveSelection,
	type RangeCommand,
	rememberSelection,
	sameAmount,
	select,
	selectedRange,
	visualCommand,
} from "./vim-visual.js";

/** What a key asks of the editor: nothing more, to insert it, or the prompt before or after this one. */
export type VimEffect = "done" | "insert" | "older" | "newer";

/** A command with everything that was typed for it, but its count. @returns false if it is not possible */
type Command = (count: number | undefined) => boolean;

/** Edits a text with the keys of vim: each key changes the state. It knows no terminal and no clock. */
export class VimEngine {
	readonly state: VimState;
	readonly #options: VimEngineOptions;
	readonly #undo = new VimUndo();
	readonly #search: SearchLine = { text: null };
	#reader: KeyReader<VimEffect | undefined>;
	#keys: string[] = [];
	/** The text before the command that is running, or before the insert that it began. */
	#before: Lines;
	readonly #insert = new InsertMode();
	/** What `.` repeats. */
	#last: { run: Command; count: number | undefined; typed: TypedText | null } | null = null;
	/** Whether the next command is followed by inserting again. */
	#returns = false;

	constructor(options: VimEngineOptions, lines: Lines = [[]]) {
		this.#options = options;
		this.#before = lines;
		this.state = createVimState(lines, options);
		this.#reader = this.#read();
		this.#insert.begin(this.state, { isRepeatable: false });
	}

	/** The keys of a command that is not complete; of a search, its text. */
	get pending(): string {
		return this.#search.text ?? this.#keys.map((key) => (key === " " ? "␣" : key)).join("");
	}

	/** The search that is being typed, with its sign; null: none. */
	get searchLine(): string | null {
		return this.#search.text;
	}

	/** Whether Escape means something to the engine: a mode, a selection or a command ends. */
	get isBusy(): boolean {
		return this.state.mode !== "normal" || this.#keys.length > 0 || this.#returns;
	}

	/** Takes over what something else did to the text. @param lines null: the text is the same */
	sync(lines: Lines | null, cursor: Spot): void {
		const { state } = this;
		if (lines) {
			this.stop();
			if (!this.#insert.isActive) this.#undo.add(state.lines, state.cursor);
			state.lines = lines;
		} else this.#insert.follow(state, cursor);
		if (!isSame(cursor, state.cursor)) moveTo(state, cursor);
		if (state.mode === "normal" && !this.#returns) keepOnCell(state);
	}

	/** A new prompt: in insert mode, with nothing to undo. */
	restart(): void {
		this.#cancel();
		this.#undo.clear();
		this.#returns = false;
		this.state.lines = [[]];
		moveTo(this.state, { line: 0, col: 0 });
		this.#before = this.state.lines;
		this.#insert.begin(this.state, { isRepeatable: false });
	}

	/** Ends a command that is not complete, and the selection. */
	stop(): void {
		this.#cancel();
		if (this.#isSelecting) leaveSelection(this.state);
	}

	/** @param key a character, or the name of a key such as `<esc>` */
	feed(key: string): VimEffect {
		const { mode } = this.state;
		if (mode === "insert" || mode === "replace") return this.#insertKey(key);
		if (key === "<esc>") {
			const isSearch = this.#search.text !== null;
			this.#cancel();
			if (mode !== "normal" && !isSearch) leaveSelection(this.state);
			this.#continueInsert();
			return "done";
		}
		this.#keys.push(key);
		const { done, value } = this.#reader.next(key);
		if (!done) return "done";
		this.#cancel();
		this.#continueInsert();
		return value ?? "done";
	}

	get #isSelecting(): boolean {
		return this.state.mode === "visual" || this.state.mode === "visualLine";
	}

	#cancel(): void {
		this.#keys = [];
		this.#search.text = null;
		this.#reader = this.#read();
		// Runs to the first key that it reads.
		this.#reader.next();
	}

	*#read(): KeyReader<VimEffect | undefined> {
		const prefix = yield* readPrefix();
		if (!prefix) return undefined;
		return this.#isSelecting ? yield* this.#visual(prefix) : yield* this.#normal(prefix);
	}

	*#normal(prefix: CommandPrefix): KeyReader<VimEffect | undefined> {
		const { key, count, register } = prefix;
		const { state } = this;
		const short = SHORT[key];
		const motion = short && MOTIONS[short[1]];
		const lines = SHORT_LINES[key];
		if (OPERATORS.has(key)) yield* this.#operator(prefix);
		else if (short && motion) {
			const isEmpty = lineAt(state.lines, state.cursor.line).length === 0;
			const isPossible = key === "X" ? state.cursor.col > 0 : !isEmpty || short[0] === "c";
			if (isPossible)
				this.#operate((use) => operateMotion(state, motion, use), { operator: short[0], count, register });
		} else if (lines) this.#operate((use) => operateLines(state, use), { operator: lines, count, register });
		else if (IGNORED.has(key)) yield;
		else if (!(yield* this.#edit(prefix))) {
			if ((key === "k" || key === "<up>") && state.cursor.line === 0) return "older";
			if ((key === "j" || key === "<down>") && state.cursor.line === state.lines.length - 1) return "newer";
			yield* this.#motion(prefix);
		}
		return undefined;
	}

	*#operator({ key: operator, count, register }: CommandPrefix): KeyReader<void> {
		const next = yield* readPrefix();
		if (!next) return;
		const { state } = this;
		const total = count === undefined && next.count === undefined ? undefined : (count ?? 1) * (next.count ?? 1);
		const operating = { operator, count: total, register: next.register || register };
		const { key } = next;
		if (key === operator || (operator.length > 1 && key === operator[1])) {
			this.#operate((use) => operateLines(state, use), operating);
		} else if (key === "i" || key === "a") {
			const object = yield* readObject(key);
			if (object) this.#operate((use) => operateObject(state, object, use), operating);
		} else {
			const motion = yield* readMotion(key, this.#search, this.#options.split);
			if (motion) this.#operate((use) => operateMotion(state, motion, use), operating);
		}
	}

	#operate(run: (use: Operating) => Outcome, operating: Operating): void {
		this.#run(
			(count) => {
				const outcome = run({ ...operating, count });
				if (outcome === "insert") this.#beginInsert();
				return outcome !== "failed";
			},
			operating.count,
			operating.operator !== "y",
		);
	}

	/** Commands that change the text without a motion, and those that begin an insert or a selection. @returns false: none */
	*#edit({ key, count, register }: CommandPrefix): KeyReader<boolean> {
		const { state } = this;
		const insert = INSERTS[key];
		if (insert) {
			this.#run((n) => {
				const at = insert.at(state);
				if (insert.opensLine) openLine(state, at.line);
				moveTo(state, at);
				this.#beginInsert(n, insert.opensLine, key === "R");
				return true;
			}, count);
			return true;
		}
		let cell: string | undefined;
		if (key === "r") {
			cell = characterOf(yield);
			if (cell === undefined) return true;
		}
		const command = editCommand(key, { register, cell });
		if (command) {
			this.#run((n) => command(state, n), count);
			return true;
		}
		switch (key) {
			case "u":
			case "<c-r>":
				this.#undo.step(state, key === "u", count);
				return true;
			case ".":
				this.#repeat(count);
				return true;
			case "v":
			case "V":
				state.start = state.cursor;
				state.mode = key === "v" ? "visual" : "visualLine";
				if (count !== undefined && count > 1) {
					MOTIONS[key === "v" ? "l" : "j"]?.move(state, { count: count - 1, operator: "", isVisual: true });
				}
				return true;
			case "gv":
				if (state.selection) select(state, state.selection);
				return true;
		}
		return false;
	}

	*#motion({ key, count }: CommandPrefix): KeyReader<void> {
		const motion = yield* readMotion(key, this.#search, this.#options.split);
		if (!motion) return;
		const { state } = this;
		const { want } = state;
		motion.move(state, { count, operator: "", isVisual: state.mode !== "normal" });
		if (state.mode === "normal" && !this.#returns) keepOnCell(state);
		if (keepsColumn(key) && state.want !== Number.POSITIVE_INFINITY) state.want = want;
	}

	*#visual(prefix: CommandPrefix): KeyReader<undefined> {
		const { key, count, register } = prefix;
		const { state } = this;
		if (key === "i" || key === "a") {
			const object = yield* readObject(key);
			if (object) extendSelection(state, object, count ?? 1);
			return undefined;
		}
		switch (key) {
			case "o":
			case "O": {
				const { start } = state;
				state.start = state.cursor;
				moveTo(state, start);
				return undefined;
			}
			case "v":
			case "V": {
				const mode = key === "v" ? "visual" : "visualLine";
				if (state.mode === mode) leaveSelection(state);
				else state.mode = mode;
				return undefined;
			}
			case "I":
			case "A": {
				const range = selectedRange(state);
				leaveSelection(state);
				this.#run((n) => {
					moveTo(state, insertPlace(state, range, key === "I"));
					this.#beginInsert(n);
					return true;
				}, count);
				return undefined;
			}
			case "gv": {
				const { selection } = state;
				rememberSelection(state);
				if (selection) select(state, selection);
				return undefined;
			}
		}
		let cell: string | undefined;
		if (key === "r") {
			cell = characterOf(yield);
			if (cell === undefined) return undefined;
		}
		const command = visualCommand(key, { count, register, ...(cell === undefined ? {} : { cell }) });
		if (!command) {
			yield* this.#motion(prefix);
			return undefined;
		}
		const reachesEnd = state.want === Number.POSITIVE_INFINITY;
		const range = selectedRange(state, command.isLines || state.mode === "visualLine");
		leaveSelection(state);
		this.#runOnRange(command.run, range, command.isChange ? sameAmount(state, range, reachesEnd) : null);
		return undefined;
	}

	#runOnRange(run: RangeCommand, range: VimRange, again: (() => VimRange) | null): void {
		let isFirst = true;
		const command: Command = () => {
			const found = isFirst || !again ? range : again();
			isFirst = false;
			if (run(this.state, found)) this.#beginInsert();
			return true;
		};
		this.#run(command, undefined, again !== null);
	}

	/** Runs a command. @param isRepeatable whether `.` repeats it */
	#run(command: Command, count: number | undefined, isRepeatable = true): void {
		const { state } = this;
		this.#before = state.lines;
		state.changedAt = null;
		const isDone = command(count);
		if (isDone && isRepeatable) this.#last = { run: command, count, typed: null };
		if (!this.#insert.isActive) this.#finish();
	}

	/** Ends a command: what it changed can be undone. */
	#finish(): void {
		const { state } = this;
		if (state.lines !== this.#before) this.#undo.add(this.#before, state.changedAt ?? state.cursor);
		if (state.mode !== "normal") return;
		if (!this.#returns) keepOnCell(state);
	}

	#repeat(count: number | undefined): void {
		const last = this.#last;
		if (!last) return;
		const { state } = this;
		if (count !== undefined) last.count = count;
		this.#before = state.lines;
		state.changedAt = null;
		last.run(last.count);
		if (!this.#insert.isActive) {
			this.#finish();
			return;
		}
		this.#insert.repeat(state, last.typed ?? { erased: 0, lines: [[]] });
		this.#leaveInsert();
	}

	#beginInsert(count?: number, isOnLines?: boolean, isReplace = false): void {
		this.#insert.begin(this.state, { count, isOnLines, isReplace, isRepeatable: true });
	}

	#insertKey(key: string): VimEffect {
		const { state } = this;
		const outcome = this.#insert.key(state, key);
		if (outcome === "done" || outcome === "insert") return outcome;
		const { isRepeatable } = this.#insert;
		const typed = this.#insert.end(state);
		if (this.#last && isRepeatable) this.#last.typed = typed;
		if (outcome === "end") this.#leaveInsert();
		else {
			state.mode = "normal";
			this.#returns = true;
			this.#finish();
			this.#cancel();
		}
		return "done";
	}

	/** From insert to normal mode: the cursor moves back onto what was inserted last. */
	#leaveInsert(): void {
		const { state } = this;
		const { line, col } = state.cursor;
		state.insertedAt = state.cursor;
		state.mode = "normal";
		this.#returns = false;
		if (col > 0) moveTo(state, { line, col: col - 1 });
		this.#finish();
		this.#cancel();
	}

	/** Inserts again after the one command of Ctrl+O. */
	#continueInsert(): void {
		const { state } = this;
		if (!this.#returns || state.mode !== "normal") return;
		this.#returns = false;
		this.#before = state.lines;
		this.#insert.begin(state, { isRepeatable: false });
	}
}
