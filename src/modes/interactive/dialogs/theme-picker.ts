import type { Component, Focusable } from "@mariozechner/pi-tui";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { drawMarkdown } from "../../../tui/draw-markdown.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import type { Theme } from "../../../tui/theme.js";
import { clipLine, spread } from "../lines.js";
import type { ThemeController } from "../theme-controller.js";

/** Lets the user choose a theme, each on the screen as it is selected. @returns null when cancelled, as before then */
export async function chooseTheme(
	themes: ThemeController,
	{ overlays, style }: { overlays: Pick<OverlayStack, "open">; style: DialogStyle },
	signal: AbortSignal,
): Promise<string | null> {
	const before = themes.current;
	const list = themes.list();
	const items = list.map(({ name, description }) => ({ label: name, value: name, description }));
	const chosen = await overlays.open<string | null>(
		(settle) =>
			new ThemePicker(style, {
				themes: items,
				selected: Math.max(
					0,
					list.findIndex(({ name }) => name === before),
				),
				onMove: (name) => {
					try {
						themes.show(name);
					} catch {
						// Its file is gone since the list was made: the colours stay.
					}
				},
				onSelect: settle,
				onCancel: () => settle(null),
			}),
		{ signal, cancelled: null },
	);
	if (chosen === null && themes.current !== before) themes.show(before);
	return chosen;
}

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
		private readonly style: DialogStyle,
		private readonly options: ThemePickerOptions,
	) {
		const { themes: items, selected, onSelect, onCancel } = options;
		this.#dialog = new SelectDialog(style, { title: "Which colours?", items, selected, onSelect, onCancel });
		this.#shown = this.#dialog.selected?.value;
	}

	get focused(): boolean {
		return this.#dialog.focused;
	}
	set focused(focused: boolean) {
		this.#dialog.focused = focused;
	}

	render(width: number): string[] {
		const hasRoom = (this.style.rows?.() ?? MIN_ROWS) >= MIN_ROWS;
		return [...(hasRoom ? themeSample(this.style.theme, width) : []), ...this.#dialog.render(width)];
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

const SUMMARY = "Fixed rounding in `price.ts`; see **AGENTS.md**";
const CODE = '```ts\nconst total = round(cents, "half-up"); // 10.13\n```';

/** A few lines of a session with everything that a theme colours. @returns lines of at most `width` columns */
function themeSample(theme: Theme, width: number): string[] {
	const { addedWord, removedWord, dim } = theme;
	const room = Math.max(1, width - 2);
	const shown = theme.gutterIn("▎ ");
	const rail = shown + dim("│ ");
	return [
		theme.gutterOut("┆ ") + dim("… 9 messages, 14.2k tokens, hidden by stack"),
		...drawMarkdown(SUMMARY, room, theme).map((line) => theme.gutterSummary("◆ ") + line),
		shown + theme.userText("why does checkout round down?"),
		shown + theme.thinking("∴ The price code, then its test"),
		shown + spread(`${theme.bold("edit")}  src/price.ts`, dim("+1 −1"), room),
		rail + dim("14 ") + theme.removed(`− return Math.${removedWord("floor")}(cents) / 100`),
		rail + dim("14 ") + theme.added(`+ return Math.${addedWord("round")}(cents) / 100`),
		...drawMarkdown(CODE, room, theme).map((line) => shown + line),
		shown + [theme.success("exit 0"), theme.warning("! retry 2/3"), theme.error("✗ overloaded")].join(dim(" · ")),
		theme.thinkingBorder("medium")("─".repeat(width)),
		` ${theme.accent("/pop")} ${theme.muted("Pop to a previous turn")}`,
	].map((line) => clipLine(line, width));
}
