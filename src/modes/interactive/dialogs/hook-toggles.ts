import type { Component } from "@mariozechner/pi-tui";
import { clickable } from "../../../tui/clicks.js";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { clipLine } from "../../../tui/line.js";
import { ScrollList } from "../../../tui/scroll.js";
import { cleanLine } from "../clean-text.js";
import { listRows, titleLine } from "./panel-lines.js";

/** Data and callbacks of `HookToggles`. The data is read in each frame. */
export interface HookTogglesOptions {
	hooks(): readonly { path: string; name: string }[];
	/** Paths of the omitted hooks. */
	without(): ReadonlySet<string>;
	/** Shown at the right of the title. */
	facts(): readonly string[];
	onToggle(path: string): void;
	onClose(): void;
}

const TOGGLES = ["dialog.accept", "dialog.toggle", "contextPanel.toggleHook"] as const;
const KEYS = [hint("move", ...UP_DOWN), hint("toggle", "dialog.accept"), hint("back", "dialog.cancel")];

/** Lets the user omit hooks from a request to see their effect. */
export class HookToggles implements Component {
	readonly #list: ScrollList;

	/** @param selected path of the initially selected hook */
	constructor(
		private readonly style: DialogStyle,
		private readonly options: HookTogglesOptions,
		selected: string | null,
	) {
		this.#list = new ScrollList(() => listRows(style.rows?.() ?? 30));
		const hooks = options.hooks();
		const at = hooks.findIndex(({ path }) => path === selected);
		if (at >= 0) this.#list.select(at, hooks.length);
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const hooks = this.options.hooks();
		const without = this.options.without();
		const { from, to } = this.#list.window(hooks.length);
		const lines = hooks.slice(from, to).map(({ path, name }, at) => {
			const pointer = from + at === this.#list.selected ? theme.accent("→") : " ";
			const box = without.has(path) ? theme.warning("off") : theme.success("on ");
			const row = ` ${pointer} ${box} ${cleanLine(name)}  ${theme.dim(cleanLine(path))}`;
			return clickable(clipLine(row, width), from + at, this.style);
		});
		const title = titleLine(` ${theme.bold("The request without")}`, this.options.facts().slice(0, 3), width);
		return [title, ...lines, ...keyLines(KEYS, this.style, width)];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const hooks = this.options.hooks();
		if (this.#list.handle(data, keymap, hooks.length)) return;
		const hook = hooks[this.#list.selected];
		if (keymap.matches(data, "dialog.cancel")) this.options.onClose();
		else if (hook && TOGGLES.some((action) => keymap.matches(data, action))) this.options.onToggle(hook.path);
	}

	invalidate(): void {} // nothing cached
}
