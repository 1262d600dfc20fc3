import { type Component, CURSOR_MARKER, type Focusable, visibleWidth } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import { clickable, clickedRow, isOfMouse, wheelRows } from "../../../tui/clicks.js";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import type { KeyAction } from "../../../tui/key-table.js";
import { typedText } from "../../../tui/keymap.js";
import { clipLine } from "../../../tui/line.js";
import { formatTokens, plural } from "../../format.js";
import { cleanLine } from "../clean-text.js";
import { titleLine } from "../dialogs/panel-lines.js";
import { isFoldable, itemLines } from "./item-lines.js";
import type { PagerItem, PagerItems } from "./pager-items.js";
import { PagerWindow, type WindowItems } from "./pager-window.js";
import { TranscriptSearch } from "./transcript-search.js";

/** What a `TranscriptPager` shows and calls. */
export interface TranscriptPagerOptions {
	items: PagerItems;
	/** Tokens in the context, and its window; 0 if unknown. */
	usage(): { tokens: number; contextWindow: number };
	/** Number of dialogs that wait for the pager to close. */
	waiting(): number;
	/** What is selected first: the last item, or the last prompt. */
	startsAt: "end" | "prompt";
	gutter(): boolean;
	copy(text: string): Promise<void>;
	/** Opens a copy of a text in the user's editor. @returns a hint when that is impossible, else null */
	view(text: string): Promise<string | null>;
	requestRender(): void;
	/** @param branchFrom index of the prompt from which to branch; null to only close */
	onClose(branchFrom: number | null): void;
}

/** Shows every entry of a session as items that expand, with search. Fills the screen. */
export class TranscriptPager implements Component, Focusable {
	focused = false;
	readonly #window: PagerWindow;
	readonly #lines = new Map<PagerItem, { key: string; lines: readonly string[] }>();
	/** Whether the first item to select was. */
	#hasStarted = false;
	/** Whether items are expanded unless they are in `#exceptions`. */
	#isAllOpen = false;
	#exceptions = new Set<string>();
	#width = 80;
	/** Rows of the last frame between title and keys. */
	#height = 20;
	/** Text being typed after `/`; null when no search is being typed. */
	#typed: string | null = null;
	#search: TranscriptSearch | null = null;
	/** Whether the current search has selected its first match. */
	#hasJumped = false;
	/** The item of each row of the last frame. */
	#shown: readonly PagerItem[] = [];
	/** Index of the prompt that the user is asked to branch from. */
	#question: number | null = null;
	/** Shown until the next key. */
	#notice: string | null = null;
	readonly #actions: Readonly<Partial<Record<KeyAction, () => void>>> = {
		"dialog.cancel": () => this.#close(null),
		"app.transcript": () => this.#close(null),
		"pager.close": () => this.#close(null),
		"dialog.up": () => this.#window.step(-1),
		"dialog.down": () => this.#window.step(1),
		"pager.up": () => this.#window.step(-1),
		"pager.down": () => this.#window.step(1),
		"dialog.pageUp": () => this.#window.page(-1),
		"dialog.pageDown": () => this.#window.page(1),
		"pager.pageDown": () => this.#window.page(1),
		"dialog.top": () => this.#window.toFirst(),
		"pager.top": () => this.#window.toFirst(),
		"dialog.bottom": () => this.#window.toLast(),
		"pager.bottom": () => this.#window.toLast(),
		"dialog.accept": () => this.#toggle(),
		"transcript.expandAll": () => this.#toggleAll(),
		"transcript.previousPrompt": () => this.#goToPrompt(-1),
		"transcript.nextPrompt": () => this.#goToPrompt(1),
		"transcript.search": () => {
			this.#typed = "";
		},
		"transcript.nextMatch": () => this.#goToMatch(1),
		"transcript.previousMatch": () => this.#goToMatch(-1),
		"pager.copy": () => this.#copy(),
		"transcript.branch": () => this.#askBranch(),
		"transcript.editor": () => this.#view(),
	};

	constructor(
		private readonly style: DialogStyle,
		private readonly options: TranscriptPagerOptions,
	) {
		const { items } = options;
		const shown: WindowItems = {
			at: (ref) => items.at(ref),
			after: (ref) => items.after(ref),
			before: (ref) => items.before(ref),
			first: () => items.first(),
			last: () => items.last(),
			lines: (item) => this.#linesOf(item),
		};
		this.#window = new PagerWindow(shown, () => this.#height);
	}

	/** Ends the search. */
	dispose(): void {
		this.#search?.stop();
	}

	/** @returns as many lines as the screen has rows, each at most `width` columns */
	render(width: number): string[] {
		const screen = Math.max(3, this.style.rows?.() ?? 24);
		const isNew = !this.#hasStarted;
		this.#hasStarted = true;
		const below = this.#below(width).slice(0, Math.max(1, Math.floor(screen / 3)));
		const isResized = this.#width !== width || this.#height !== screen - 1 - below.length;
		this.#width = width;
		this.#height = Math.max(1, screen - 1 - below.length);
		const follows = !isNew && this.#window.isAtEnd;
		const hasGrown = this.options.items.refresh();
		if (hasGrown) this.#lines.clear();
		if (isNew || (hasGrown && follows)) this.#window.toLast();
		if (isNew && this.options.startsAt === "prompt" && this.#window.selected?.kind !== "user") this.#goToPrompt(-1);
		else if (isResized && this.#window.selected) this.#window.select(this.#window.selected);
		const shown = this.#window.rows();
		const rows = shown.map(({ item, line, text }) => {
			const isSelected = line === 0 && this.#window.isSelected(item);
			const found = this.#search ? highlightMatches(text, this.#search.pattern) : text;
			return clipLine(`${isSelected ? this.style.theme.accent("→") : " "}${found}`, width);
		});
		this.#shown = shown.map(({ item }) => item);
		if (rows.length === 0) rows.push(this.style.theme.dim("  no entries yet"));
		const blank = Array.from({ length: Math.max(0, this.#height - rows.length) }, () => "");
		const marked = rows.map((row, at) => clickable(row, at, this.style));
		return [this.#title(width), ...marked, ...blank, ...below];
	}

	handleInput(data: string): void {
		this.#notice = null;
		if (isOfMouse(data)) this.#handleMouse(data);
		else if (this.#typed !== null) this.#type(data, this.#typed);
		else if (this.#question !== null) this.#answer(data, this.#question);
		else {
			const action = this.style.keymap.actionOf(data, this.#actions);
			if (action) this.#actions[action]?.();
		}
		this.options.requestRender();
	}

	invalidate(): void {
		this.options.items.redraw();
		this.#lines.clear();
	}

	/** The wheel scrolls; a click selects an item, or expands the selected one. */
	#handleMouse(data: string): void {
		const rows = wheelRows(data);
		if (rows !== 0) this.#window.page(rows < 0 ? -1 : 1, Math.abs(rows));
		const item = this.#shown[clickedRow(data) ?? -1];
		if (!item) return;
		if (this.#window.isSelected(item)) this.#toggle();
		else this.#window.select(item);
	}

	#title(width: number): string {
		const { theme, keymap } = this.style;
		const { tokens, contextWindow } = this.options.usage();
		const of = contextWindow > 0 ? ` of ${formatTokens(contextWindow)}` : "";
		const count = plural(this.options.items.count, "entry", "entries");
		const facts = [`${count} · ${formatTokens(tokens)}${of} in the context`, count];
		const key = keymap.keyOf("transcript.search");
		const right = this.#search ? this.#searchState(this.#search) : key ? `${key} search` : "";
		const title = theme.bold(" Transcript");
		for (const text of facts) {
			const left = `${title} · ${text}`;
			if (visibleWidth(left) + visibleWidth(right) + 3 <= width) return titleLine(left, [theme.dim(right)], width);
		}
		return titleLine(title, [theme.dim(right)], width);
	}

	#searchState(search: TranscriptSearch): string {
		const { found, isDone, progress, text } = search;
		const term = clipLine(cleanLine(text, 40), Math.max(8, Math.floor(this.#width / 3)));
		if (!isDone) return `"${term}" ${found.length} · searching ${Math.floor(progress * 100)} %`;
		if (found.length === 0) return `"${term}" not found`;
		const at = found.findIndex((ref) => this.#window.isSelected(ref));
		return at === -1
			? `"${term}" ${plural(found.length, "match", "matches")}`
			: `"${term}" ${at + 1} of ${found.length}`;
	}

	/** The rows below the items: a question, an input or a notice, and the keys. */
	#below(width: number): string[] {
		const { theme } = this.style;
		const line = (text: string) => clipLine(` ${text}`, width);
		if (this.#typed !== null) {
			const cursor = this.focused ? `${CURSOR_MARKER}\x1b[7m \x1b[27m` : "";
			const keys = [hint("search", "dialog.accept"), hint("cancel", "dialog.cancel")];
			return [line(`/ ${theme.accent(cleanLine(this.#typed))}${cursor}`), ...keyLines(keys, this.style, width)];
		}
		if (this.#question !== null) {
			const text = cleanLine(this.options.items.of(this.#question)[0]?.text ?? "", 200);
			const keys = [hint("branch", "question.yes", "dialog.accept"), hint("stay", "question.no", "dialog.cancel")];
			return [line(theme.warning(`Start a new session before “${text}”?`)), ...keyLines(keys, this.style, width)];
		}
		const waiting = this.options.waiting();
		const question =
			waiting > 0 ? [line(theme.warning(`${plural(waiting, "question")} waiting · close to answer`))] : [];
		const notice = this.#notice === null ? [] : [line(theme.accent(cleanLine(this.#notice)))];
		return [...question, ...notice, ...keyLines(KEYS, this.style, width)];
	}

	#linesOf(item: PagerItem): readonly string[] {
		const look = { ...this.style, width: this.#width - 1, gutter: this.options.gutter(), isOpen: this.#isOpen(item) };
		const key = `${look.width} ${look.gutter} ${look.isOpen}`;
		const known = this.#lines.get(item);
		if (known?.key === key) return known.lines;
		const lines = itemLines(item, look);
		if (this.#lines.size >= MAX_DRAWN) this.#lines.clear();
		this.#lines.set(item, { key, lines });
		return lines;
	}

	#isOpen({ entry, part }: PagerItem): boolean {
		return this.#isAllOpen !== this.#exceptions.has(`${entry}.${part}`);
	}

	#toggle(): void {
		const item = this.#window.selected;
		if (!item || !isFoldable(item, this.#width)) return;
		this.#flip(item);
		this.#window.select(item);
	}

	#flip({ entry, part }: PagerItem): void {
		const name = `${entry}.${part}`;
		if (!this.#exceptions.delete(name)) this.#exceptions.add(name);
	}

	#toggleAll(): void {
		this.#isAllOpen = !this.#isAllOpen;
		this.#exceptions = new Set();
		const item = this.#window.selected;
		if (item) this.#window.select(item);
	}

	#goToPrompt(direction: 1 | -1): void {
		const from = this.#window.selected;
		const prompt = from && this.options.items.prompt(from, direction);
		if (prompt) this.#window.selectAtTop(prompt);
		else this.#notice = direction < 0 ? "This is the first prompt" : "This is the last prompt";
	}

	#type(data: string, typed: string): void {
		const { keymap } = this.style;
		if (keymap.matches(data, "dialog.cancel")) this.#typed = null;
		else if (keymap.matches(data, "dialog.accept")) this.#startSearch(typed);
		else if (keymap.matches(data, "tui.editor.deleteCharBackward")) this.#typed = [...typed].slice(0, -1).join("");
		else this.#typed = typed + typedText(data);
	}

	/** Starts a search; an empty text ends the current one. */
	#startSearch(text: string): void {
		this.#typed = null;
		this.#search?.stop();
		this.#search = null;
		if (text === "") return;
		const search = new TranscriptSearch(text, this.options.items, this.#window.selected?.entry ?? 0);
		this.#search = search;
		this.#hasJumped = false;
		const look = () => {
			if (this.#search !== search) return;
			if (search.first && !this.#hasJumped) {
				this.#hasJumped = true;
				this.#showMatch(search, search.first);
			}
			this.options.requestRender();
		};
		search.run(look).catch((error: unknown) => this.#notify(errorText(error)));
	}

	#goToMatch(direction: 1 | -1): void {
		const search = this.#search;
		const from = this.#window.selected;
		if (!search || !from) {
			this.#notice = `Search first: ${this.style.keymap.keyOf("transcript.search")}`;
			return;
		}
		const { found } = search;
		const order = (ref: { entry: number; part: number }) => ref.entry - from.entry || ref.part - from.part;
		const next =
			direction > 0
				? (found.find((ref) => order(ref) > 0) ?? found[0])
				: (found.findLast((ref) => order(ref) < 0) ?? found.at(-1));
		if (next) this.#showMatch(search, next);
	}

	/** Selects an item with a match, expanded if the match is not in its first row. */
	#showMatch({ pattern }: TranscriptSearch, ref: { entry: number; part: number }): void {
		const item = this.options.items.at(ref);
		if (!item) return;
		const find = () => this.#linesOf(item).findIndex((line) => highlightMatches(line, pattern) !== line);
		let line = find();
		if (line === -1 && isFoldable(item, this.#width) && !this.#isOpen(item)) {
			this.#flip(item);
			line = find();
		}
		this.#window.select(item);
		if (line > 0) this.#window.select(item, line);
	}

	#copy(): void {
		const item = this.#window.selected;
		if (!item) return;
		this.options.copy(item.text).then(
			() => this.#notify("Copied the item"),
			(error: unknown) => this.#notify(errorText(error)),
		);
	}

	#view(): void {
		const item = this.#window.selected;
		if (!item) return;
		this.options.view(item.text).then(
			(text) => this.#notify(text),
			(error: unknown) => this.#notify(errorText(error)),
		);
	}

	#askBranch(): void {
		const item = this.#window.selected;
		const prompt = item ? this.options.items.promptOf(item) : -1;
		if (prompt < 1) this.#notice = "No prompt to branch from";
		else this.#question = prompt;
	}

	#answer(data: string, prompt: number): void {
		const { keymap } = this.style;
		const isYes = keymap.matches(data, "question.yes") || keymap.matches(data, "dialog.accept");
		if (isYes) this.#close(prompt);
		else if (keymap.matches(data, "question.no") || keymap.matches(data, "dialog.cancel")) this.#question = null;
	}

	#close(branchFrom: number | null): void {
		this.dispose();
		this.options.onClose(branchFrom);
	}

	#notify(text: string | null): void {
		this.#notice = text;
		this.options.requestRender();
	}
}

/** Maximum number of items whose lines are kept. */
const MAX_DRAWN = 400;
const KEYS = [
	hint("move", ...UP_DOWN),
	hint("expand", "dialog.accept"),
	hint("all", "transcript.expandAll"),
	hint("prompts", "transcript.previousPrompt", "transcript.nextPrompt"),
	hint("search", "transcript.search"),
	hint("copy", "pager.copy"),
	hint("branch here", "transcript.branch"),
	hint("editor", "transcript.editor"),
	hint("close", "dialog.cancel"),
];

const ANSI = /\x1b\[[\d;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;
const INVERSE = "\x1b[7m";
const NOT_INVERSE = "\x1b[27m";

/** Shows all matches of a global pattern in a styled line in reverse video. */
function highlightMatches(line: string, pattern: RegExp): string {
	const ranges = [...line.replace(ANSI, "").matchAll(pattern)].map(({ index, 0: text }) => ({
		from: index,
		to: index + text.length,
	}));
	if (ranges.length === 0) return line;
	let out = "";
	let visible = 0;
	const copy = (text: string) => {
		for (let at = 0; at < text.length; ) {
			const range = ranges.find(({ to }) => to > visible);
			const isInside = range !== undefined && range.from <= visible;
			const end = range === undefined ? text.length : (isInside ? range.to : range.from) - visible + at;
			const piece = text.slice(at, end);
			out += isInside ? INVERSE + piece + NOT_INVERSE : piece;
			visible += piece.length;
			at += piece.length;
		}
	};
	let at = 0;
	for (const code of line.matchAll(ANSI)) {
		copy(line.slice(at, code.index));
		out += code[0];
		at = code.index + code[0].length;
	}
	copy(line.slice(at));
	return out;
}
