import { CURSOR_MARKER, matchesKey, visibleWidth } from "@mariozechner/pi-tui";
import type { EditorKeys } from "../editor-keys.js";
import { drawTabs } from "../internals/editor.js";
import { type EditorLayout, editorLayout } from "../internals/editor-layout.js";
import type { KeyAction } from "../key-table.js";
import { type Keymap, typedText } from "../keymap.js";
import { withoutBlankEnd } from "../line.js";
import { PasteMarks, unfold } from "../paste-marks.js";
import type { PromptEditor } from "../prompt-editor.js";
import { CURSOR_CELL } from "../suggestion.js";
import type { CursorShape } from "../terminal-window.js";
import type { Style, Theme } from "../theme.js";
import { VimEngine } from "./vim-engine.js";
import type { VimRegister } from "./vim-registers.js";
import { isBefore, type Lines, type Spot } from "./vim-text.js";
import { selectedRange } from "./vim-visual.js";

/** What the keys of vim need. */
export interface VimEditorOptions {
	keymap: Keymap;
	theme: Theme;
	/** Copies a text to the clipboard. */
	copy(text: string): void;
	/** Shows the cursor of the terminal in a shape; null: the cursor is drawn as a block. */
	onCursor(shape: CursorShape | null): void;
	/** Whether the terminal has shapes of the cursor. */
	hasShapes: boolean;
}

const NAMES = {
	normal: "NORMAL",
	insert: "INSERT",
	replace: "REPLACE",
	visual: "VISUAL",
	visualLine: "V-LINE",
} as const;
/** How paste marks begin. */
const MARK = "[paste #";
const REVERSE = "\x1b[7m";
const UNDERLINE = "\x1b[4m";
const RESET = "\x1b[0m";
/** Keys by their names in the engine, where an action has them. */
const ACTIONS: readonly [KeyAction, string][] = [
	["vim.redo", "<c-r>"],
	["vim.oneCommand", "<c-o>"],
	["vim.deleteWord", "<c-w>"],
	["vim.deleteLine", "<c-u>"],
];
const CURSOR_KEYS = ["backspace", "delete", "left", "right", "up", "down", "home", "end"] as const;
const CURSOR_NAMES: Readonly<Record<(typeof CURSOR_KEYS)[number], string>> = {
	backspace: "<bs>",
	delete: "<del>",
	left: "<left>",
	right: "<right>",
	up: "<up>",
	down: "<down>",
	home: "<home>",
	end: "<end>",
};

/** The keys of vim in a prompt editor: gives keys to the engine, and its text and cursor to the editor. */
export class VimEditor implements EditorKeys {
	readonly #engine: VimEngine;
	readonly #layout: EditorLayout;
	readonly #marks: PasteMarks;
	/** The text of the editor that the engine has. */
	#text = "";

	constructor(
		private readonly editor: PromptEditor,
		private readonly options: VimEditorOptions,
	) {
		this.#layout = editorLayout(editor);
		this.#marks = new PasteMarks(editor);
		this.#engine = new VimEngine(
			{
				split: (text) => this.#layout.cells(text),
				widthOf: (cell) => (cell === "\t" ? 3 : visibleWidth(cell)),
				onCopy: (register) => options.copy(unfold(this.#marks.snapshot(textOf(register)))),
			},
			this.#lines(editor.getText()),
		);
		this.#text = editor.getText();
		this.#sync();
		this.#showCursor();
	}

	get isInserting(): boolean {
		return this.#engine.state.mode === "insert";
	}

	handleInput(data: string): boolean {
		this.#sync();
		const key = this.#keyOf(data);
		if (key !== null) return this.#feed(key) !== "insert";
		const typed = typedText(data);
		if (this.isInserting) return false;
		// Completions are for text that is being typed.
		if (typed === "") return this.#text !== "" && this.options.keymap.matches(data, "tui.input.tab");
		if (typed === "?" && this.#text === "" && this.#engine.pending === "") return false;
		for (const cell of this.#layout.cells(typed)) {
			// A key of several that arrived at once may have begun an insert.
			if (this.isInserting) this.editor.handleInput(cell);
			else this.#command(cell);
		}
		return true;
	}

	settle(): void {
		this.#sync();
		this.#apply();
	}

	restart(): void {
		this.#sync();
		// The editor forgets its folded pastes.
		this.#engine.state.registers.map((register) => {
			const text = textOf(register);
			return text.includes(MARK) ? { ...register, lines: this.#lines(unfold(this.#marks.snapshot(text))) } : register;
		});
		this.#engine.restart();
		this.#text = "";
		this.#showCursor();
	}

	decorate(lines: string[], { width, style }: { width: number; style: Style }): string[] {
		const { state, pending, searchLine } = this.#engine;
		const isSelecting = state.mode === "visual" || state.mode === "visualLine";
		const selected = isSelecting ? this.#withSelection(lines) : lines;
		const body =
			state.mode !== "normal" && !isSelecting && this.options.hasShapes ? selected.map(withoutCell) : selected;
		const label = ` ${pending && searchLine === null ? `${pending} ` : ""}${NAMES[state.mode]} `;
		const framed = [...body.slice(0, -1), style(withLabel(plainBorder(lines.at(-1) ?? ""), label, width))];
		if (searchLine === null) return framed;
		const room = Math.max(1, width - 3);
		const cells = this.#layout.cells(searchLine);
		return [...framed, ` ${cells.slice(-room).join("")}${CURSOR_CELL} ${RESET}`];
	}

	/** The name of a key in the engine; null if it types text or is not for the engine. */
	#keyOf(data: string): string | null {
		const { keymap } = this.options;
		const engine = this.#engine;
		const { mode } = engine.state;
		if (keymap.matches(data, "vim.normal")) return engine.isBusy ? "<esc>" : null;
		const isTyping = mode === "insert" || mode === "replace" || engine.searchLine !== null;
		for (const [action, key] of ACTIONS) {
			if (!keymap.matches(data, action)) continue;
			const isUsed = key === "<c-r>" ? !isTyping : key === "<c-o>" ? mode === "insert" : isTyping;
			if (isUsed) return key;
		}
		if (isTyping && matchesKey(data, "ctrl+h")) return "<c-h>";
		if (mode === "insert") return null;
		if (mode === "replace" && matchesKey(data, "backspace")) return "<bs>";
		if (mode === "replace") return keymap.matches(data, "tui.input.newLine") ? "<cr>" : null;
		const isPending = engine.pending !== "";
		if (isPending && keymap.matches(data, "tui.input.submit")) return "<cr>";
		if (this.#text === "" && !isPending) return null;
		const cursorKey = CURSOR_KEYS.find((name) => matchesKey(data, name));
		const isVertical = cursorKey === "up" || cursorKey === "down";
		// The arrows step through the rows of a line and through the history, as without vim.
		if (cursorKey === undefined || (isVertical && mode === "normal" && !isPending)) return null;
		return CURSOR_NAMES[cursorKey];
	}

	#command(key: string): void {
		const isStep = (key === "j" || key === "k") && this.#engine.state.mode === "normal" && this.#engine.pending === "";
		if (isStep && this.editor.isRecalled && (key === "k" ? this.editor.goBack() : this.editor.goForward())) return;
		this.#feed(key);
	}

	#feed(key: string): "done" | "insert" {
		const { mode } = this.#engine.state;
		const effect = this.#engine.feed(key);
		this.#apply();
		if (effect === "older") this.editor.goBack();
		if (effect === "newer") this.editor.goForward();
		if (this.#engine.state.mode !== mode) this.#showCursor();
		return effect === "insert" ? "insert" : "done";
	}

	#showCursor(): void {
		const { mode } = this.#engine.state;
		const shape = mode === "insert" ? "bar" : mode === "replace" ? "underline" : null;
		this.options.onCursor(this.options.hasShapes ? shape : null);
	}

	#lines(text: string): Lines {
		return text.split("\n").map((line) => this.#layout.cells(line));
	}

	/** Tells the engine what else has changed the text or moved the cursor. */
	#sync(): void {
		const text = this.editor.getText();
		const lines = text === this.#text ? null : this.#lines(text);
		this.#text = text;
		this.#engine.sync(lines, this.#layout.cursor(lines ?? this.#engine.state.lines));
	}

	/** Gives the editor the text and the cursor of the engine. */
	#apply(): void {
		const { lines, cursor } = this.#engine.state;
		const text = lines.map((cells) => cells.join("")).join("\n");
		if (text !== this.#text) {
			this.#text = text;
			this.editor.setText(text);
		}
		const col = (lines[cursor.line] ?? []).slice(0, cursor.col).join("").length;
		this.#layout.placeCursor(cursor.line, col);
	}

	/** Draws the rows with selected text; the cursor is underlined there. */
	#withSelection(drawn: readonly string[]): string[] {
		const { state } = this.#engine;
		const { from, to, isLines } = selectedRange(state);
		const isSelected = (spot: Spot) =>
			isLines ? spot.line >= from.line && spot.line <= to.line : !isBefore(spot, from) && isBefore(spot, to);
		const rows = this.#layout.rows();
		return drawn.map((line, index) => {
			const row = rows[index - 1];
			if (
				index === 0 ||
				index === drawn.length - 1 ||
				!row ||
				row.logicalLine < from.line ||
				row.logicalLine > to.line
			) {
				return line;
			}
			let at = 0;
			let shown = " ";
			const cells = state.lines[row.logicalLine] ?? [];
			const end = row.startCol + row.length;
			for (const [col, cell] of cells.entries()) {
				const spot = { line: row.logicalLine, col };
				if (at >= row.startCol && at < end) shown += this.#cell(cell, spot, isSelected(spot));
				at += cell.length;
			}
			// The end of a line is selected along with the cells around it.
			const last = { line: row.logicalLine, col: cells.length };
			const isCursor = state.cursor.line === last.line && state.cursor.col === last.col;
			if (end >= at && (isCursor || (cells.length === 0 && isSelected(last)))) shown += this.#cell(" ", last, true);
			return withoutBlankEnd(shown);
		});
	}

	#cell(cell: string, { line, col }: Spot, isSelected: boolean): string {
		const { cursor } = this.#engine.state;
		const isCursor = cursor.line === line && cursor.col === col;
		const text = cell === "\t" ? drawTabs(cell) : cell;
		const mark = isCursor && this.editor.focused ? CURSOR_MARKER : "";
		if (isCursor) return `${mark}${REVERSE}${UNDERLINE}${text}${RESET}`;
		return isSelected ? `${REVERSE}${text}${RESET}` : text;
	}
}

function textOf({ lines }: VimRegister): string {
	return lines.map((cells) => cells.join("")).join("\n");
}

/** The cursor's cell without its style: the cursor of the terminal shows it. */
function withoutCell(line: string): string {
	const at = line.indexOf(CURSOR_CELL);
	if (at < 0) return line;
	return line.slice(0, at) + line.slice(at + CURSOR_CELL.length).replace(RESET, "");
}

function plainBorder(line: string): string {
	return line.replace(/\x1b\[[\d;:]*m/g, "");
}

/** Puts a label at the end of a border, if it fits. */
function withLabel(border: string, label: string, width: number): string {
	const at = width - visibleWidth(label) - 2;
	return at < 2 ? border : `${border.slice(0, at)}${label}──`;
}
