import { Editor, type TUI } from "@mariozechner/pi-tui";
import type { Completion, CompletionSource } from "./completion.js";
import { CompletionPopup } from "./completion-popup.js";
import type { Keymap } from "./keymap.js";
import { withoutBlankEnd } from "./line.js";
import { type FoldedText, isLongPaste, isTooLongToShow, PasteMarks, plainText, unfold } from "./paste-marks.js";
import { PromptHistory } from "./prompt-history.js";
import { Redo } from "./redo.js";
import { visibleControls } from "./safe-line.js";
import type { Theme, ThinkingShade } from "./theme.js";

/** Settings of a `PromptEditor`. */
export interface PromptEditorOptions {
	theme: Theme;
	keymap: Keymap;
	completion?: CompletionSource;
	/** What was sent in earlier sessions, newest first; asked for once, when the history is first looked at. Null: not yet. */
	earlierPrompts?: () => Promise<readonly string[] | null>;
}

/** Deletes backwards whatever the user's key bindings are. */
const BACKSPACE = "\x1b[127;2u";
const PASTE = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** Some terminals send control characters in a paste as keys. */
const CONTROL_KEY = /\x1b\[(\d+);5u/g;
/** The cell that the cursor is on. */
const CURSOR_CELL = "\x1b[7m";
const MAX_ROWS = 8;
const graphemes = new Intl.Segmenter();

/**
 * The prompt's editor: app keys first, then the completion popup, then pi-tui's editor. The popup stands below it, in
 * place. `onSubmit` gets the text trimmed, with pastes in full; it is also called for an empty text. Control characters
 * become visible ones where they come in: what is shown is what is sent.
 */
export class PromptEditor extends Editor {
	/** Told what is pasted. @returns what to insert in its place, null for the paste itself */
	onPaste?: (text: string) => string | null;
	/** Called with the text when the follow-up key is pressed; the editor is then empty. */
	onFollowUp?: (text: string) => void;
	/** Sees every key before the editor does, but not what the popup takes. @returns true when it has dealt with it */
	onKey?: (data: string) => boolean;
	#theme: Theme;
	readonly #keymap: Keymap;
	readonly #completion: CompletionSource | undefined;
	#level: ThinkingShade = "off";
	#popup: CompletionPopup | undefined;
	/** What stands before the text that the popup's rows take the place of. */
	#fixed = "";
	#request: AbortController | undefined;
	readonly #marks: PasteMarks;
	readonly #redo: Redo;
	readonly #history = new PromptHistory();
	#earlierPrompts: PromptEditorOptions["earlierPrompts"];
	/** What was sent last, as it stood in the editor. */
	#sent: FoldedText | undefined;
	/** What the history has put into the editor. */
	#recalled = "";
	#width = 80;

	constructor(tui: TUI, options: PromptEditorOptions) {
		super(tui, options.theme.editor, { paddingX: 1 });
		// The border is styled as a whole line below: cell by cell it would be most of what a frame writes.
		this.borderColor = (text) => text;
		this.#theme = options.theme;
		this.#keymap = options.keymap;
		this.#completion = options.completion;
		this.#earlierPrompts = options.earlierPrompts;
		this.#marks = new PasteMarks(this);
		this.#redo = new Redo(this);
	}

	/** The level that the border shows. */
	setThinkingLevel(level: ThinkingShade): void {
		this.#level = level;
		this.tui.requestRender();
	}

	/** Draws in another theme from here on. */
	setTheme(theme: Theme): void {
		this.#theme = theme;
		this.tui.requestRender();
	}

	/** Takes the text out, trimmed and with pastes in full. */
	takeText(): string {
		this.#sent = this.#marks.snapshot(this.getText());
		const text = this.getExpandedText().trim();
		this.setText("");
		this.#closePopup();
		return text;
	}

	/** Puts text before what is there, on lines of its own. */
	putBack(text: string): void {
		const draft = this.getText();
		this.setText(draft.trim() ? `${text}\n\n${draft}` : text);
		this.tui.requestRender();
	}

	override getExpandedText(): string {
		return unfold(this.#marks.snapshot(this.getText()));
	}

	/** A text too long to be edited here is folded into a mark, as a paste would be. */
	override setText(text: string): void {
		const shown = isTooLongToShow(text) ? this.#marks.fold(unfold(this.#marks.snapshot(text))) : text;
		super.setText(visibleControls(shown));
	}

	override insertTextAtCursor(text: string): void {
		super.insertTextAtCursor(visibleControls(text));
	}

	override addToHistory(text: string): void {
		const sent = this.#sent && { ...this.#sent, text: this.#sent.text.trim() };
		this.#sent = undefined;
		this.#history.add(sent && unfold(sent) === text ? sent : plainText(text));
	}

	/** Adds what was sent before all that the history holds, newest first. */
	addOlderPrompts(texts: readonly string[]): void {
		this.#history.addOlder(texts);
	}

	/** All that the history holds, earlier sessions too, newest first. */
	async historyTexts(): Promise<string[]> {
		await this.#loadEarlier();
		return this.#history.texts;
	}

	override handleInput(data: string): void {
		if (data.startsWith(PASTE) && data.endsWith(PASTE_END)) {
			this.#paste(data.slice(PASTE.length, -PASTE_END.length));
			return;
		}
		if (this.#popup && this.#popupKey(this.#popup, data)) return;
		if (this.onKey?.(data)) return;
		if (this.#keymap.matches(data, "app.followUp") && this.onFollowUp) {
			this.onFollowUp(this.takeText());
			return;
		}
		if (this.#keymap.matches(data, "tui.input.tab")) {
			this.#complete(true);
			return;
		}
		if (this.#keymap.matches(data, "tui.editor.cursorUp") && this.#isOnRow("first") && this.#goBack()) return;
		if (this.#keymap.matches(data, "tui.editor.cursorDown") && this.#isOnRow("last") && this.#goForward()) return;
		const before = this.#place();
		this.#pass(data);
		if (this.#place() === before) return;
		this.#narrowPopup();
		this.#complete(false);
	}

	override render(width: number): string[] {
		this.#width = width;
		const lines = super.render(width);
		const style = this.getText().startsWith("!") ? this.#theme.bashBorder : this.#theme.thinkingBorder(this.#level);
		const last = lines.length - 1;
		const framed = lines.map((line, index) => (index === 0 || index === last ? style(line) : withoutBlankEnd(line)));
		const rows = Math.max(3, Math.min(MAX_ROWS, Math.floor(this.tui.terminal.rows / 3)));
		return this.#popup ? [...framed, ...this.#popup.render(width, rows, this.#theme)] : framed;
	}

	override isShowingAutocomplete(): boolean {
		return this.#popup !== undefined;
	}

	/** @returns true when the popup has dealt with the key */
	#popupKey(popup: CompletionPopup, data: string): boolean {
		if (!popup.selected) return false;
		if (this.#keymap.matches(data, "tui.select.cancel") && !this.#keymap.matches(data, "app.interrupt")) {
			this.#closePopup();
			this.#completion?.cancel();
		} else if (this.#keymap.matches(data, "tui.select.up")) popup.move(-1);
		else if (this.#keymap.matches(data, "tui.select.down")) popup.move(1);
		else if (this.#keymap.matches(data, "tui.input.tab")) this.#accept(popup);
		else if (this.#keymap.matches(data, "tui.select.confirm")) {
			// What was typed in full is meant, even where another row stands first.
			const submits = popup.selected.submits;
			if (!submits || !popup.isExact(this.#typed())) this.#accept(popup);
			if (submits) {
				this.#closePopup();
				this.#pass(data);
			}
		} else return false;
		return true;
	}

	/** Gives a key to the base class, which empties the editor before it tells what is submitted. */
	#pass(data: string): void {
		if (this.#keymap.matches(data, "tui.input.submit")) this.#sent = this.#marks.snapshot(this.getText());
		if (this.#keymap.matches(data, "app.redo")) this.#redo.redo();
		else if (this.#keymap.matches(data, "tui.editor.undo")) this.#redo.undo(() => super.handleInput(data));
		else super.handleInput(data);
	}

	#paste(pasted: string): void {
		const text = visibleControls(pasted.replace(CONTROL_KEY, controlCharacter).replace(/\r\n?/g, "\n"));
		const meant = this.onPaste?.(text) ?? text;
		super.insertTextAtCursor(isLongPaste(meant) ? this.#marks.fold(meant) : meant);
		this.#closePopup();
		this.tui.requestRender();
	}

	/** @returns false when there is nothing to go back to */
	#goBack(): boolean {
		if (this.#history.isBrowsing && this.getText() !== this.#recalled) this.#history.stop();
		const prompt = this.#history.older(() => this.#marks.snapshot(this.getText()));
		if (prompt) this.#recall(prompt);
		const place = this.#place();
		const isLoading = this.#earlierPrompts !== undefined;
		void this.#loadEarlier().then((found) => {
			if (!prompt && found && this.#place() === place) this.#goBack();
		});
		return prompt !== undefined || isLoading;
	}

	/** @returns false when there is nothing to go forward to */
	#goForward(): boolean {
		if (this.#history.isBrowsing && this.getText() !== this.#recalled) this.#history.stop();
		const prompt = this.#history.newer();
		if (prompt) this.#recall(prompt);
		return prompt !== undefined;
	}

	#recall(prompt: FoldedText): void {
		this.setText(this.#marks.adopt(prompt));
		this.#recalled = this.getText();
		this.#closePopup();
		this.tui.requestRender();
	}

	/** @returns whether prompts of earlier sessions have been added */
	async #loadEarlier(): Promise<boolean> {
		const load = this.#earlierPrompts;
		this.#earlierPrompts = undefined;
		// Without them there is what was sent in this session.
		const texts = load ? await load().catch(() => []) : [];
		if (texts === null) this.#earlierPrompts = load;
		else this.#history.addOlder(texts);
		return texts !== null && texts.length > 0;
	}

	/** Whether the cursor is on the first or the last row of the text as it is wrapped. */
	#isOnRow(which: "first" | "last"): boolean {
		const lines = super.render(this.#width);
		const row = lines.findIndex((line) => line.includes(CURSOR_CELL));
		return which === "first"
			? row === 1 && !lines[0]?.includes("↑")
			: row === lines.length - 2 && !lines.at(-1)?.includes("↓");
	}

	#accept(popup: CompletionPopup): void {
		const row = popup.selected;
		if (!row) return;
		const { line, col } = this.getCursor();
		const lines = this.getLines();
		const typed = this.#typed();
		if (line === lines.length - 1 && col === lines[line]?.length) {
			const text = lines.join("\n");
			this.setText(text.slice(0, text.length - typed.length) + row.insert);
		} else {
			for (const _ of graphemes.segment(typed)) super.handleInput(BACKSPACE);
			this.insertTextAtCursor(row.insert);
		}
		this.#closePopup();
		// A command's arguments, or what is in the folder.
		this.#complete(row.insert.endsWith("/"), false);
	}

	/**
	 * Looks for completions of what stands before the cursor.
	 * @param forced also for paths that nothing marks as such
	 * @param takesOnly one answer alone is taken at once
	 */
	#complete(forced: boolean, takesOnly = forced): void {
		this.#request?.abort();
		const request = new AbortController();
		this.#request = request;
		const before = this.#before();
		const place = this.#place();
		const isCurrent = () => !request.signal.aborted && this.#place() === place;
		const found = this.#completion?.complete({
			before,
			firstLine: this.getCursor().line === 0,
			forced,
			signal: request.signal,
			onPartial: (completion) => {
				if (!isCurrent()) return;
				this.#show(completion, before);
				this.tui.requestRender();
			},
		});
		const show = (completion: Completion | null) => {
			this.#show(completion, before);
			// Tab with one answer is that answer.
			if (takesOnly && completion?.rows.length === 1 && this.#popup) this.#accept(this.#popup);
		};
		if (!(found instanceof Promise)) {
			show(found ?? null);
			return;
		}
		found
			// A source that fails offers nothing: the text can be typed all the same.
			.catch(() => null)
			.then((completion) => {
				if (!isCurrent()) return;
				show(completion);
				this.tui.requestRender();
			});
	}

	#show(completion: Completion | null, before: string): void {
		const fixed = before.slice(0, before.length - (completion?.prefix.length ?? 0));
		if (completion && this.#popup && fixed === this.#fixed) this.#popup.replace(completion);
		else this.#popup = completion ? new CompletionPopup(completion) : undefined;
		this.#fixed = fixed;
	}

	/** Completions of the text as it is now may take their time: until then only rows stay that still fit it. */
	#narrowPopup(): void {
		if (!this.#before().startsWith(this.#fixed) || !this.#popup?.narrow(this.#typed())) this.#popup = undefined;
	}

	#closePopup(): void {
		this.#request?.abort();
		this.#popup = undefined;
	}

	#before(): string {
		const { line, col } = this.getCursor();
		return this.getLines()[line]?.slice(0, col) ?? "";
	}

	/** What a row would take the place of; what was typed since the rows were found is part of it. */
	#typed(): string {
		const before = this.#before();
		return before.startsWith(this.#fixed) ? before.slice(this.#fixed.length) : "";
	}

	/** The text and where the cursor stands in it. */
	#place(): string {
		const { line, col } = this.getCursor();
		return `${line}:${col}:${this.getText()}`;
	}
}

/** The character that a key with Ctrl stands for, or the key itself. */
function controlCharacter(key: string, code: string): string {
	return /[a-z]/i.test(String.fromCharCode(Number(code))) ? String.fromCharCode(Number(code) & 0x1f) : key;
}
