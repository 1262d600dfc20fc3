import { Editor, getKeybindings, type TUI } from "@mariozechner/pi-tui";
import type { Completion, CompletionSource } from "./completion.js";
import { CompletionPopup } from "./completion-popup.js";
import type { Keymap } from "./keymap.js";
import { withoutBlankEnd } from "./line.js";
import { visibleControls } from "./safe-line.js";
import type { Theme, ThinkingShade } from "./theme.js";

/** Settings of a `PromptEditor`. */
export interface PromptEditorOptions {
	theme: Theme;
	keymap: Keymap;
	completion?: CompletionSource;
}

/** Deletes backwards whatever the user's key bindings are. */
const BACKSPACE = "\x1b[127;2u";
const PASTE = "\x1b[200~";
const EIGHT_BIT = /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
const MAX_ROWS = 8;
const graphemes = new Intl.Segmenter();

/**
 * The prompt's editor: app keys first, then the completion popup, then pi-tui's editor. The popup stands below it, in
 * place. `onSubmit` gets the text trimmed, with pastes in full; it is also called for an empty text. Control characters
 * become visible ones where they come in: what is shown is what is sent.
 */
export class PromptEditor extends Editor {
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

	constructor(tui: TUI, options: PromptEditorOptions) {
		super(tui, options.theme.editor, { paddingX: 1 });
		// The border is styled as a whole line below: cell by cell it would be most of what a frame writes.
		this.borderColor = (text) => text;
		this.#theme = options.theme;
		this.#keymap = options.keymap;
		this.#completion = options.completion;
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
		const text = this.getExpandedText().trim();
		this.setText("");
		this.#closePopup();
		return text;
	}

	/** Puts text before what is there, on lines of its own. */
	putBack(text: string): void {
		const draft = this.getExpandedText();
		this.setText(draft.trim() ? `${text}\n\n${draft}` : text);
		this.tui.requestRender();
	}

	override setText(text: string): void {
		super.setText(visibleControls(text));
	}

	override insertTextAtCursor(text: string): void {
		super.insertTextAtCursor(visibleControls(text));
	}

	override addToHistory(text: string): void {
		super.addToHistory(visibleControls(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ")));
	}

	override handleInput(data: string): void {
		if (data.startsWith(PASTE)) {
			// Some terminals send control characters in a paste as keys, which the editor knows how to read.
			super.handleInput(data.replace(EIGHT_BIT, visibleControls));
			this.#closePopup();
			return;
		}
		if (this.#popup && this.#popupKey(this.#popup, data)) return;
		if (this.onKey?.(data)) return;
		if (this.#keymap.matches(data, "app.followUp") && this.onFollowUp) {
			this.onFollowUp(this.takeText());
			return;
		}
		if (getKeybindings().matches(data, "tui.input.tab")) {
			this.#complete(true);
			return;
		}
		const before = this.#place();
		super.handleInput(data);
		if (this.#place() === before) return;
		this.#narrowPopup();
		this.#complete(false);
	}

	override render(width: number): string[] {
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
		const keys = getKeybindings();
		if (!popup.selected) return false;
		if (keys.matches(data, "tui.select.cancel") && !this.#keymap.matches(data, "app.interrupt")) this.#closePopup();
		else if (keys.matches(data, "tui.select.up")) popup.move(-1);
		else if (keys.matches(data, "tui.select.down")) popup.move(1);
		else if (keys.matches(data, "tui.input.tab")) this.#accept(popup);
		else if (keys.matches(data, "tui.select.confirm")) {
			// What was typed in full is meant, even where another row stands first.
			const submits = popup.selected.submits;
			if (!submits || !popup.isExact(this.#typed())) this.#accept(popup);
			if (submits) {
				this.#closePopup();
				super.handleInput(data);
			}
		} else return false;
		return true;
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
		this.#complete(row.insert.endsWith("/"));
	}

	/** Looks for completions of what stands before the cursor. */
	#complete(forced: boolean): void {
		this.#request?.abort();
		const request = new AbortController();
		this.#request = request;
		const before = this.#before();
		const found = this.#completion?.complete({
			before,
			firstLine: this.getCursor().line === 0,
			forced,
			signal: request.signal,
		});
		if (!(found instanceof Promise)) {
			this.#show(found ?? null, before, forced);
			return;
		}
		const place = this.#place();
		found
			// A source that fails offers nothing: the text can be typed all the same.
			.catch(() => null)
			.then((completion) => {
				if (request.signal.aborted || this.#place() !== place) return;
				this.#show(completion, before, forced);
				this.tui.requestRender();
			});
	}

	#show(completion: Completion | null, before: string, forced: boolean): void {
		this.#fixed = before.slice(0, before.length - (completion?.prefix.length ?? 0));
		this.#popup = completion ? new CompletionPopup(completion) : undefined;
		// Tab with one answer is that answer.
		if (forced && completion?.rows.length === 1 && this.#popup) this.#accept(this.#popup);
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
