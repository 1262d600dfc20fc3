import type { Component, Focusable } from "@mariozechner/pi-tui";
import { describeError } from "../../../errors.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { drawMarkdown } from "../../../tui/draw-markdown.js";
import { clipLine, spread } from "../../../tui/line.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import type { Theme } from "../../../tui/theme.js";
import type { ThemeController } from "../theme-controller.js";

/** Lets the user choose a theme; the screen shows the selected one. @returns null when canceled, with the old theme restored */
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
						return themes.preview(name);
					} catch (error) {
						// The theme's file was deleted after it was listed: keep the current colors.
						return [describeError(error)];
					}
				},
				onSelect: settle,
				onCancel: () => settle(null),
			}),
		{ signal, canceled: null },
	);
	// Its problems are reported already.
	if (chosen === null && themes.current !== before) themes.preview(before);
	return chosen;
}

/** Data and callbacks of a `ThemePicker`. */
export interface ThemePickerOptions {
	themes: readonly SelectItem<string>[];
	/** Index of the theme in use. */
	selected: number;
	/** Called when another theme is selected. @returns its problems */
	onMove(name: string): readonly string[];
	onSelect(name: string): void;
	onCancel(): void;
}

/** On a screen with fewer rows the sample is omitted; the transcript above the picker shows the theme. */
const MIN_ROWS = 28;

/** Lets the user choose a theme, with a sample of everything that a theme colors above the list. */
class ThemePicker implements Component, Focusable {
	readonly #dialog: SelectDialog<string>;
	#shown: string | undefined;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: ThemePickerOptions,
	) {
		const { themes: items, selected, onSelect, onCancel } = options;
		this.#dialog = new SelectDialog(style, { title: "Which theme?", items, selected, onSelect, onCancel });
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
		const problems = this.options.onMove(name);
		this.#dialog.note = problems.length === 0 ? null : { text: problems.join(" · "), isProblem: true };
	}

	invalidate(): void {
		this.#dialog.invalidate();
	}
}

const SUMMARY = "Fixed rounding in `price.ts`; see **AGENTS.md**";
const CODE = '```ts\nconst total = round(cents, "half-up"); // 10.13\n```';

/** Draws a few lines of a session with everything that a theme colors. @returns lines of at most `width` columns */
function themeSample(theme: Theme, width: number): string[] {
	const { addedWord, removedWord, dim } = theme;
	const room = Math.max(1, width - 2);
	const shown = theme.gutterIn("▎ ");
	const rail = shown + dim("│ ");
	return [
		theme.gutterOut("┆ ") + dim("… 9 messages, 14.2k tokens, hidden by stack"),
		...drawMarkdown(SUMMARY, room, theme).map((line) => theme.gutterSummary("◆ ") + line),
		shown + theme.userBand(theme.userText("why does checkout round down?")),
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
