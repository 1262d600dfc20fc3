import { Editor, type TUI } from "@mariozechner/pi-tui";
import type { Completion, CompletionSource } from "./completion.js";
import { CompletionPopup } from "./completion-popup.js";
import type { EditorKeys } from "./editor-keys.js";
import { drawTabs, keepTabs, Redo } from "./internals/editor.js";
import { graphemes } from "./internals/measure-text.js";
import type { Keymap } from "./keymap.js";
import { withoutBlankEnd } from "./line.js";
import { type FoldedText, isLongPaste, isTooLongToShow, PasteMarks, plainText, unfold } from "./paste-marks.js";
import { PromptHistory } from "./prompt-history.js";
import { readPaste, visibleControls } from "./safe-line.js";
import { CURSOR_CELL, drawGhostText, suggestionUse } from "./suggestion.js";
import type { Style, Theme, ThinkingShade } from "./theme.js";

/** Settings of a `PromptEditor`. */
export interface PromptEditorOptions {
	theme: Theme;
	keymap: Keymap;
	completion?: CompletionSource;
	/** Prompts of earlier sessions, newest first; called once, when the history is first used. null: not available yet. */
	earlierPrompts?: () => Promise<readonly string[] | null>;
}

/** Deletes backwards regardless of the user's key bindings. */
const BACKSPACE = "\x1b[127;2u";

/**
 * The prompt's editor, with the completion popup below it. Keys go first to the popup, then to `onKey`, then to pi-tui's
 * editor. `onSubmit` receives the trimmed text with pastes in full, even if it is empty. Control characters become visible
 * when they are inserted, so that the text shown is the text sent.
 */
export class PromptEditor extends Editor {
	/** Called before a paste is inserted. @returns the text to insert instead; null for the paste itself */
	onPaste?: (text: string) => string | null;
	/** Called with the text when the follow-up key is pressed; the editor is then empty. */
	onFollowUp?: (text: string) => void;
	/** Called with each key that the popup did not handle. @returns true when it has handled the key */
	onKey?: (data: string) => boolean;
	/** The keys of vim, which come before those of the app; null: the setting is off. */
	vim: EditorKeys | null = null;
	/** Shown dim while the editor is empty and suggests nothing, if it fits; it is never sent. */
	placeholder = "";
	/** A prompt that the user did not write, shown dim while the editor is empty; see `suggest`. */
	#suggestion = "";
	readonly #theme: Theme;
	readonly #keymap: Keymap;
	readonly #completion: CompletionSource | undefined;
	#level: ThinkingShade = "off";
	#popup: CompletionPopup | undefined;
	/** The text of the line before the part that the popup's rows replace. */
	#fixed = "";
	#request: AbortController | undefined;
	/** The state for which completions were last requested; empty if the user has closed them. */
	#completed = "";
	readonly #marks: PasteMarks;
	readonly #redo: Redo;
	readonly #history: PromptHistory;
	/** The last submitted text, with its marks. */
	#sent: FoldedText | undefined;
	/** The state after the last step in the history: until it changes, the arrows take the next step. */
	#recalled = "";
	#width = 80;

	constructor(tui: TUI, options: PromptEditorOptions) {
		super(tui, options.theme.editor, { paddingX: 1 });
		// `render` styles the border per line: styled cell by cell it would be most of the output of a frame.
		this.borderColor = (text) => text;
		this.#theme = options.theme;
		this.#keymap = options.keymap;
		this.#completion = options.completion;
		this.#history = new PromptHistory(options.earlierPrompts);
		this.#marks = new PasteMarks(this);
		this.#redo = new Redo(this);
		keepTabs(this);
	}

	/** Call when there are other completions: updates those of the text, unless the user has closed them. */
	refreshCompletions(): void {
		if (this.#completed !== this.#state()) return;
		this.#complete(false);
		this.tui.requestRender();
	}

	/** Sets the level that the border shows. */
	setThinkingLevel(level: ThinkingShade): void {
		this.#level = level;
		this.tui.requestRender();
	}

	/**
	 * Suggests a prompt: the empty editor shows it as dim text. Enter sends it, Tab or → makes it the editor's text, typing
	 * hides it. It is gone once a prompt is sent or the editor is cleared.
	 */
	suggest(text: string): void {
		this.#suggestion = text;
		this.tui.requestRender();
	}

	/** Empties the editor. @returns its text, trimmed and with pastes in full */
	takeText(): string {
		this.#suggestion = "";
		this.#sent = this.#marks.snapshot(this.getText());
		const text = this.getExpandedText().trim();
		this.setText("");
		this.vim?.restart();
		this.#closePopup();
		return text;
	}

	/** Inserts text before the draft, separated by a blank line. */
	putBack(text: string): void {
		const draft = this.getText();
		this.setText(draft.trim() ? `${text}\n\n${draft}` : text);
	}

	override getExpandedText(): string {
		return unfold(this.#marks.snapshot(this.getText()));
	}

	/** Replaces the text. A text too long to edit is folded into a mark, like a paste. */
	override setText(text: string): void {
		const shown = isTooLongToShow(text) ? this.#marks.fold(unfold(this.#marks.snapshot(text))) : text;
		this.#marks.keepDuring(() => super.setText(visibleControls(shown)));
		this.tui.requestRender();
	}

	override insertTextAtCursor(text: string): void {
		super.insertTextAtCursor(visibleControls(text));
	}

	override addToHistory(text: string): void {
		const sent = this.#sent && { ...this.#sent, text: this.#sent.text.trim() };
		this.#sent = undefined;
		this.#history.add(sent && unfold(sent) === text ? sent : plainText(text));
	}

	/** Adds prompts older than all in the history, newest first. */
	addOlderPrompts(texts: readonly string[]): void {
		this.#history.addOlder(texts);
	}

	/** @returns all prompts of the history, including earlier sessions, newest first */
	async historyTexts(): Promise<string[]> {
		await this.#history.loadEarlier();
		return this.#history.texts;
	}

	override handleInput(data: string): void {
		const pasted = readPaste(data);
		if (pasted !== null) {
			this.#paste(visibleControls(pasted));
			return;
		}
		if (this.#popup && this.#popupKey(this.#popup, data)) return;
		const before = this.#state();
		if (this.vim?.handleInput(data)) {
			this.#follow(before);
			return;
		}
		if (this.onKey?.(data)) return;
		if (this.#suggestion && this.getText() === "" && this.#suggestionKey(data)) return;
		if (this.#keymap.matches(data, "app.followUp") && this.onFollowUp) {
			this.onFollowUp(this.takeText());
			return;
		}
		if (this.#keymap.matches(data, "tui.input.tab")) {
			this.#complete(true);
			return;
		}
		if (this.#keymap.matches(data, "tui.editor.cursorUp") && this.#isOnRow("first") && this.goBack()) return;
		if (this.#keymap.matches(data, "tui.editor.cursorDown") && this.#isOnRow("last") && this.goForward()) return;
		this.#pass(data);
		this.#follow(before);
	}

	/** Updates the completions after a key. @param before the state before it */
	#follow(before: string): void {
		if (this.#state() === before) return;
		if (this.vim?.isInserting === false) this.#closePopup();
		else {
			this.#narrowPopup();
			this.#complete(false);
		}
	}

	override render(width: number): string[] {
		this.#width = width;
		const drawn = super.render(width);
		const ghost = { placeholder: this.placeholder, suggestion: this.#suggestion, width, dim: this.#theme.dim };
		const lines = this.getText() === "" ? drawGhostText(drawn, ghost, this.#keymap) : drawn;
		const style = this.borderStyle;
		const last = lines.length - 1;
		const framed = lines.map((line, index) =>
			index === 0 || index === last ? style(line) : withoutBlankEnd(drawTabs(line)),
		);
		const shown = this.vim?.decorate(framed, { width, style }) ?? framed;
		return this.#popup ? [...shown, ...this.#popup.render(width, this.tui.terminal.rows, this.#theme)] : shown;
	}

	get borderStyle(): Style {
		return this.getText().startsWith("!") ? this.#theme.bashBorder : this.#theme.thinkingBorder(this.#level);
	}

	override isShowingAutocomplete(): boolean {
		return this.#popup !== undefined;
	}

	/** @returns true when the key was for the suggestion */
	#suggestionKey(data: string): boolean {
		const use = suggestionUse(data, this.#keymap);
		const text = this.#suggestion;
		if (use === "tui.input.submit" || use === "app.followUp") {
			this.#suggestion = "";
			this.vim?.restart();
			(use === "app.followUp" ? this.onFollowUp : this.onSubmit)?.(text);
		} else if (use) this.setText(text);
		return use !== undefined;
	}

	/** Call when the commands have changed: completes the command that is being typed again, unless the popup was closed. */
	refreshCommands(): void {
		if (!this.#before().startsWith("/") || this.#request?.signal.aborted) return;
		this.#complete(false);
		this.tui.requestRender();
	}

	/** @returns true when the popup has handled the key */
	#popupKey(popup: CompletionPopup, data: string): boolean {
		if (!popup.hasRows) return false;
		if (this.#keymap.matches(data, "tui.select.cancel") && !this.#keymap.matches(data, "app.interrupt")) {
			this.#closePopup();
			this.#completion?.cancel();
		} else if (this.#keymap.matches(data, "tui.select.up")) popup.move(-1);
		else if (this.#keymap.matches(data, "tui.select.down")) popup.move(1);
		else if (this.#keymap.matches(data, "tui.input.tab")) this.#accept(popup);
		else if (this.#keymap.matches(data, "tui.select.confirm")) {
			const { accepts, submits } = popup.onEnter(this.#typed());
			if (accepts) this.#accept(popup);
			if (submits) {
				this.#closePopup();
				this.#pass(data);
			}
		} else return false;
		return true;
	}

	/** Passes a key to the base class, which empties the editor before it calls `onSubmit`. */
	#pass(data: string): void {
		if (this.#keymap.matches(data, "tui.input.submit")) {
			this.#sent = this.#marks.snapshot(this.getText());
			this.#suggestion = "";
			this.vim?.restart();
		}
		if (this.#keymap.matches(data, "app.redo")) this.#redo.redo();
		else if (this.#keymap.matches(data, "tui.editor.undo")) this.#redo.undo(() => super.handleInput(data));
		else super.handleInput(data);
	}

	#paste(text: string): void {
		const inserted = this.onPaste?.(text) ?? text;
		super.insertTextAtCursor(isLongPaste(inserted) ? this.#marks.fold(inserted) : inserted);
		this.#closePopup();
	}

	/** Shows the previous prompt. @returns false when none exists */
	goBack(): boolean {
		this.#history.stopIfEdited(this.getText());
		const isShown = this.#recall(this.#history.older(() => this.#marks.snapshot(this.getText())));
		const state = this.#state();
		const { isLoading } = this.#history;
		void this.#history.loadEarlier().then((found) => {
			if (!isShown && found && this.#state() === state) this.goBack();
		});
		return isShown || isLoading;
	}

	/** Shows the next prompt, or the draft after the last. @returns false when none exists */
	goForward(): boolean {
		this.#history.stopIfEdited(this.getText());
		return this.#recall(this.#history.newer());
	}

	/** @returns false without a prompt */
	#recall(prompt: FoldedText | undefined): boolean {
		if (!prompt) return false;
		this.setText(this.#marks.adopt(prompt));
		this.vim?.settle();
		this.#history.shown = this.getText();
		this.#recalled = this.#state();
		this.#closePopup();
		return true;
	}

	/** Whether the editor shows a prompt of the history, as it was. */
	get isRecalled(): boolean {
		return this.#state() === this.#recalled;
	}

	/** Whether the cursor is on the first or the last row of the wrapped text. On both behind a text from the history. */
	#isOnRow(which: "first" | "last"): boolean {
		const lines = super.render(this.#width);
		const row = lines.findIndex((line) => line.includes(CURSOR_CELL));
		return which === "first"
			? this.isRecalled || (row === 1 && !lines[0]?.includes("↑"))
			: row === lines.length - 2 && !lines.at(-1)?.includes("↓");
	}

	#accept(popup: CompletionPopup): void {
		const row = popup.offered;
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
		// Continue with the command's arguments or the folder's entries.
		this.#complete(row.insert.endsWith("/"), false);
	}

	/**
	 * Requests completions of the text before the cursor.
	 * @param forced also completes paths without a marker such as `@`
	 * @param acceptsOnly accepts the only row at once
	 */
	#complete(forced: boolean, acceptsOnly = forced): void {
		this.#request?.abort();
		const request = new AbortController();
		this.#request = request;
		const before = this.#before();
		const state = this.#state();
		this.#completed = state;
		const isCurrent = () => !request.signal.aborted && this.#state() === state;
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
			if (acceptsOnly && completion?.rows.length === 1 && this.#popup) this.#accept(this.#popup);
		};
		if (!(found instanceof Promise)) show(found ?? null);
		else
			found
				// A source that fails offers nothing; the user can type the text.
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

	/** Until new completions arrive, keeps the rows that still match the text. */
	#narrowPopup(): void {
		if (!this.#before().startsWith(this.#fixed) || !this.#popup?.narrow(this.#typed())) this.#popup = undefined;
	}

	#closePopup(): void {
		this.#request?.abort();
		this.#popup = undefined;
		this.#completed = "";
	}

	#before(): string {
		const { line, col } = this.getCursor();
		return this.getLines()[line]?.slice(0, col) ?? "";
	}

	/** The text that a row would replace, including text typed since the rows were found. */
	#typed(): string {
		const before = this.#before();
		return before.startsWith(this.#fixed) ? before.slice(this.#fixed.length) : "";
	}

	/** The text and the cursor position as one comparable value. */
	#state(): string {
		const { line, col } = this.getCursor();
		return `${line}:${col}:${this.getText()}`;
	}
}
