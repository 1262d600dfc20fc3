import type { Component, Focusable } from "@mariozechner/pi-tui";
import { type Look, SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import { themeSample } from "./theme-sample.js";

/** The themes to choose from, and what happens on the way. */
export interface ThemePickerOptions {
	themes: readonly SelectItem<string>[];
	/** Index of the theme in use. */
	selected: number;
	/** Another one is selected: the screen is to show it. */
	onMove(name: string): void;
	onSelect(name: string): void;
	onCancel(): void;
}

/** Rows of the screen below which there is no room for a sample: what stands above the picker has to do. */
const MIN_ROWS = 28;

/** Chooses a theme; a sample of everything that it colours stands above the list. */
export class ThemePicker implements Component, Focusable {
	readonly #dialog: SelectDialog<string>;
	#shown: string | undefined;

	constructor(
		private readonly look: Look,
		private readonly options: ThemePickerOptions,
	) {
		const { themes: items, selected, onSelect, onCancel } = options;
		this.#dialog = new SelectDialog(look, { title: "Which colours?", items, selected, onSelect, onCancel });
		this.#shown = this.#dialog.selected?.value;
	}

	get focused(): boolean {
		return this.#dialog.focused;
	}
	set focused(focused: boolean) {
		this.#dialog.focused = focused;
	}

	render(width: number): string[] {
		const hasRoom = (this.look.rows?.() ?? MIN_ROWS) >= MIN_ROWS;
		return [...(hasRoom ? themeSample(this.look.theme, width) : []), ...this.#dialog.render(width)];
	}

	handleInput(data: string): void {
		this.#dialog.handleInput(data);
		const name = this.#dialog.selected?.value;
		if (name === undefined || name === this.#shown) return;
		this.#shown = name;
		this.options.onMove(name);
	}

	invalidate(): void {
		this.#dialog.invalidate();
	}
}
