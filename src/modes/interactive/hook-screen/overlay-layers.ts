import { type Component, compositeTuiLine, type Focusable, visibleWidth } from "@mariozechner/pi-tui";
import type { OverlayHandle, OverlayPlacement } from "../../../hooks/types.js";
import { filledRow } from "../../../tui/safe-line.js";
import { hasImage } from "../../../tui/terminal-images.js";
import { type OverlayBounds, overlayBounds, overlaySize } from "./overlay-layout.js";

/** A component that is drawn over the screen. Its lines are safe, and it does not throw. */
export type LayerComponent = Component & Focusable & { readonly wantsKeyRelease?: boolean };

/** The screen below the layers. */
export interface LayersHost {
	/** Size of the terminal. */
	rows(): number;
	columns(): number;
	render(width: number): string[];
	dim(text: string): string;
	requestFrame(): void;
	/** Passes a key to what has the focus without the layers. */
	type(key: string): void;
	/** Shows the layers, or the screen without them. */
	show(isShown: boolean): void;
}

/** How a layer is placed; null: over the full width, in the middle, with a rule below. */
export type LayerPlacement = (() => OverlayPlacement) | null;

interface Layer {
	component: LayerComponent;
	placement: LayerPlacement;
	/** Whether it gets the focus when it is shown. */
	isCapturing: boolean;
	isHidden: boolean;
	/** Later ones are drawn over earlier ones. */
	order: number;
	bounds: OverlayBounds | null;
}

/** Components of one hook over the screen, one over the other. One of them has the focus. */
export class OverlayLayers implements Component, Focusable {
	#layers: Layer[] = [];
	#focus: Layer | null = null;
	#isFocused = false;
	#orders = 0;
	#isShown = true;

	constructor(private readonly host: LayersHost) {}

	/** Adds a layer. @returns what controls it; `hide` removes it */
	add(component: LayerComponent, placement: LayerPlacement, isCapturing: boolean): OverlayHandle {
		const order = ++this.#orders;
		const layer: Layer = { component, placement, isCapturing, isHidden: false, order, bounds: null };
		this.#layers.push(layer);
		if (isCapturing) this.#focusOn(layer);
		this.#changed();
		const isThere = () => this.#layers.includes(layer);
		return {
			hide: () => {
				this.#layers = this.#layers.filter((other) => other !== layer);
				if (this.#focus === layer) this.#focusOn(this.#topmost());
				this.#changed();
			},
			setHidden: (isHidden) => {
				if (layer.isHidden === isHidden || !isThere()) return;
				layer.isHidden = isHidden;
				if (!isHidden && isCapturing) this.#focusOn(layer);
				else if (isHidden && this.#focus === layer) this.#focusOn(this.#topmost());
				this.#changed();
			},
			isHidden: () => layer.isHidden,
			focus: () => {
				if (!isThere() || !this.#isVisible(layer)) return;
				this.#focusOn(layer);
				this.#changed();
			},
			unfocus: () => {
				if (this.#focus !== layer) return;
				this.#focusOn(this.#topmost(layer));
				this.#changed();
			},
			isFocused: () => this.#focus === layer,
			getBounds: () => (isThere() && layer.bounds ? { ...layer.bounds } : undefined),
		};
	}

	/** Shows the layers, or the screen below, after a change of the terminal's size. */
	update(): void {
		const isShown = this.#layers.some((layer) => this.#isVisible(layer));
		if (isShown === this.#isShown) return;
		this.#isShown = isShown;
		if (isShown && (this.#focus === null || !this.#isVisible(this.#focus))) this.#focusOn(this.#topmost());
		this.host.show(isShown);
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		this.#isFocused = isFocused;
		if (this.#focus) this.#focus.component.focused = isFocused;
	}

	get wantsKeyRelease(): boolean {
		return this.#focus?.component.wantsKeyRelease ?? false;
	}

	render(width: number): string[] {
		const rows = this.host.rows();
		// Images cannot be drawn on the alternate screen.
		const below = this.host
			.render(width)
			.slice(-rows)
			.map((line) => (hasImage(line) ? "" : line));
		const lines = [...below, ...Array.from({ length: rows - below.length }, () => "")];
		for (const layer of this.#visible()) this.#draw(layer, lines, width);
		if (!this.#layers.some((layer) => this.#isVisible(layer))) queueMicrotask(() => this.update());
		return lines.slice(0, rows);
	}

	handleInput(data: string): void {
		// The terminal may have another size by now.
		this.update();
		if (this.#isShown) this.#focus?.component.handleInput?.(data);
		else this.host.type(data);
	}

	invalidate(): void {
		for (const { component } of this.#layers) component.invalidate();
	}

	#draw(layer: Layer, lines: string[], columns: number): void {
		const rows = lines.length;
		const placement = layer.placement?.();
		if (!placement) {
			const over = layer.component.render(columns);
			// A rule separates its end from the screen below.
			const block = over.length < rows ? [...over, this.host.dim("─".repeat(columns))] : over.slice(0, rows);
			const top = Math.max(0, Math.floor((rows - block.length) / 2));
			lines.splice(top, block.length, ...block);
			layer.bounds = { row: top, col: 0, width: columns, height: block.length };
			return;
		}
		const { width, maxHeight } = overlaySize(placement, columns, rows);
		const block = layer.component.render(width).slice(0, maxHeight);
		const bounds = overlayBounds(placement, { width, height: block.length }, columns, rows);
		for (const [at, line] of block.entries()) {
			const row = bounds.row + at;
			const base = filledRow(lines[row] ?? "", columns);
			const padded = base + " ".repeat(Math.max(0, columns - visibleWidth(base)));
			lines[row] = compositeTuiLine(padded, line, bounds.col, width, columns);
		}
		layer.bounds = bounds;
	}

	#changed(): void {
		this.update();
		this.host.requestFrame();
	}

	#focusOn(layer: Layer | null): void {
		if (this.#focus) this.#focus.component.focused = false;
		this.#focus = layer;
		if (!layer) return;
		layer.order = ++this.#orders;
		layer.component.focused = this.#isFocused;
	}

	#visible(): Layer[] {
		return this.#layers.filter((layer) => this.#isVisible(layer)).sort((a, b) => a.order - b.order);
	}

	/** The layer that gets the focus next. */
	#topmost(but?: Layer): Layer | null {
		return this.#visible().findLast((layer) => layer.isCapturing && layer !== but) ?? null;
	}

	#isVisible({ isHidden, placement }: Layer): boolean {
		if (isHidden) return false;
		const isWanted = placement?.().visible;
		return typeof isWanted !== "function" || isWanted(this.host.columns(), this.host.rows()) !== false;
	}
}
