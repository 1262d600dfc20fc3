import { VimEngine } from "../../../src/tui/vim/vim-engine.js";

const segmenter = new Intl.Segmenter();
const WIDE = /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u;

/** A text with its cursor, both numbers from 0, and the keys: characters and names such as `<esc>`; `<lt>` is `<`. */
export interface VimRow {
	text: string;
	line: number;
	col: number;
	keys: string;
}

/** What a row leads to, as record.js notes it. */
export interface VimResult {
	text: string;
	line: number;
	col: number;
	mode: string;
	/** Where the selection starts; the cursor without one. */
	start: number[];
	/** The text in the unnamed register, and whether it is of characters (v) or lines (V). */
	unnamed: string[];
	unnamedType: string;
}

const MODES = { normal: "n", insert: "i", replace: "R", visual: "v", visualLine: "V" };

/** Splits a text into graphemes. */
export function split(text: string): string[] {
	return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** An engine in normal mode, without an editor. */
export function startEngine(text: string): VimEngine {
	const widthOf = (cell: string) => (cell === "\t" ? 3 : WIDE.test(cell) ? 2 : 1);
	const engine = new VimEngine({ split, widthOf }, text.split("\n").map(split));
	engine.feed("<esc>");
	engine.state.insertedAt = null;
	return engine;
}

/** Gives keys to an engine; what they type is inserted, as by the editor. */
export function press(engine: VimEngine, keys: string): void {
	for (const key of keys.match(/<[a-z0-9-]+>|[\s\S]/gu) ?? []) {
		if (engine.feed(key === "<lt>" ? "<" : key) === "insert") type(engine, key);
	}
}

function type(engine: VimEngine, key: string): void {
	const { cursor } = engine.state;
	const lines = engine.state.lines.map((cells) => [...cells]);
	const line = lines[cursor.line] ?? [];
	if (key === "<cr>") {
		lines.splice(cursor.line, 1, line.slice(0, cursor.col), line.slice(cursor.col));
		engine.sync(lines, { line: cursor.line + 1, col: 0 });
	} else if (key === "<bs>" && cursor.col > 0) {
		line.splice(cursor.col - 1, 1);
		engine.sync(lines, { line: cursor.line, col: cursor.col - 1 });
	} else if (!key.startsWith("<") || key.length === 1) {
		line.splice(cursor.col, 0, key);
		engine.sync(lines, { line: cursor.line, col: cursor.col + 1 });
	}
}

/** The result of a row. */
export function play({ text, line, col, keys }: VimRow): VimResult {
	const engine = startEngine(text);
	engine.sync(null, { line, col });
	press(engine, keys);
	const { lines, cursor, mode, start, registers } = engine.state;
	const register = registers.read("");
	const isSelecting = mode === "visual" || mode === "visualLine";
	return {
		text: lines.map((cells) => cells.join("")).join("\n"),
		line: cursor.line,
		col: cursor.col,
		mode: MODES[mode],
		start: isSelecting ? [start.line, start.col] : [cursor.line, cursor.col],
		unnamed: (register?.lines ?? []).map((cells) => cells.join("")),
		unnamedType: register ? (register.isLines ? "V" : "v") : "",
	};
}
