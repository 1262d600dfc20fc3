import type { Component } from "@mariozechner/pi-tui";
import type { WidgetPlacement } from "../../../hooks/types.js";
import { clipLine, moreLines } from "../../../tui/line.js";
import { fairShares } from "./fair-shares.js";

/** A widget of a hook. */
export interface Widget {
	/** Position of its hook in load order. */
	rank: number;
	placement: WidgetPlacement;
	view: Component & { dispose?(): void };
}

/** The look of the widgets' rows. */
export interface WidgetAreaStyle {
	/** Rows of the screen. */
	rows(): number;
	dim(text: string): string;
}

/** All widgets together use at most this share of the screen's rows. */
const SHARE = 1 / 3;

/** The widgets of all hooks, above and below the editor, by load order of their hooks. */
export class WidgetArea {
	readonly #widgets = new Map<string, Widget>();
	#below: string[] = [];
	/** Number of rows in the last frame. */
	rows = 0;

	constructor(private readonly style: WidgetAreaStyle) {}

	/** Replaces a widget, or removes it. */
	set(id: string, widget: Widget | undefined): void {
		this.#widgets.get(id)?.view.dispose?.();
		if (widget) this.#widgets.set(id, widget);
		else this.#widgets.delete(id);
	}

	/** The rows above the editor. */
	readonly above: Component = {
		// Drawn first in each frame, so it divides the rows between both places.
		render: (width) => {
			const above = this.#lines("aboveEditor", width);
			const below = this.#lines("belowEditor", width);
			const shown = this.#fit([...above, ...below], width);
			this.#below = shown.slice(above.length).flat();
			const lines = shown.slice(0, above.length).flat();
			this.rows = lines.length + this.#below.length;
			return lines;
		},
		invalidate: () => this.#invalidate("aboveEditor"),
	};

	/** The rows below the editor. */
	readonly below: Component = {
		render: () => this.#below,
		invalidate: () => this.#invalidate("belowEditor"),
	};

	#ordered(placement: WidgetPlacement): Widget[] {
		return [...this.#widgets.values()]
			.filter((widget) => widget.placement === placement)
			.sort((a, b) => a.rank - b.rank);
	}

	#lines(placement: WidgetPlacement, width: number): string[][] {
		return this.#ordered(placement).map(({ view }) => view.render(width));
	}

	/** Cuts each widget to its share. The last one that is shown also counts the lines of those that are not. */
	#fit(widgets: readonly string[][], width: number): string[][] {
		const limit = Math.max(1, Math.floor(this.style.rows() * SHARE));
		const shares = fairShares(
			widgets.map(({ length }) => length),
			limit,
		);
		const last = shares.findLastIndex((share) => share > 0);
		const unseen = widgets.reduce((sum, { length }, at) => sum + (shares[at] === 0 ? length : 0), 0);
		return widgets.map((lines, at) => {
			const share = shares[at] ?? 0;
			const others = at === last ? unseen : 0;
			if (share === 0 || (share >= lines.length && others === 0)) return lines.slice(0, share);
			const kept = lines.slice(0, share - 1);
			return [...kept, this.style.dim(clipLine(moreLines(lines.length - kept.length + others), width))];
		});
	}

	#invalidate(placement: WidgetPlacement): void {
		for (const { view } of this.#ordered(placement)) view.invalidate();
	}
}
