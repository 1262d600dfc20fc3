import type { Component } from "@mariozechner/pi-tui";
import type { CustomScreenOptions, ScreenOwner } from "../../../hooks/session-ui.js";
import { isComponent } from "../../../hooks/tool-drawing.js";
import type { CustomFactory, HookKeybindings, OverlayHandle, OverlayPlacement } from "../../../hooks/types.js";
import { ContainedComponent } from "../../../tui/contained.js";
import { isRecord } from "../../../util/is-record.js";
import { guardTyping } from "../dialogs/typing-guard.js";
import { CustomView } from "./custom-view.js";
import type { HookScreenTarget } from "./hook-screen-target.js";
import { OverlayLayers } from "./overlay-layers.js";
import { overlaySize } from "./overlay-layout.js";

/** Rows of an overlay's rules. */
const OVERLAY_ROWS = 2;
/** Rows that stay above and below a component in the editor's place: a blank line, its rule and the footer. */
const OTHER_ROWS = 6;
/** Rows of a component, however small the screen is. */
const MIN_ROWS = 3;

interface CustomComponentsOptions extends HookScreenTarget {
	keybindings: HookKeybindings;
	/** Rows that the widgets use. */
	widgetRows(): number;
}

/** The overlays of one hook, and how many of them its `ui.custom` waits for. */
interface OpenLayers {
	owner: string;
	layers: OverlayLayers;
	open: number;
	close(): void;
}

/** Components that hooks show with `ui.custom`, instead of the editor or over the screen. */
export class CustomComponents {
	#open: OpenLayers | null = null;

	constructor(private readonly options: CustomComponentsOptions) {
		const update = () => {
			this.#open?.layers.update();
			return [];
		};
		// Without rows: called in each frame of the main screen, whose size decides which overlays are shown.
		options.screen.aboveEditor.addChild({ render: update, invalidate() {} });
	}

	/** Never rejects: a failure is reported to the owner. @returns null if the signal was aborted or nothing was shown */
	show<T>(owner: ScreenOwner, factory: CustomFactory<T>, options: CustomScreenOptions): Promise<T | null> {
		return options.overlay ? this.#showOver(owner, factory, options) : this.#showInstead(owner, factory, options);
	}

	async #showInstead<T>(
		owner: ScreenOwner,
		factory: CustomFactory<T>,
		{ signal }: CustomScreenOptions,
	): Promise<T | null> {
		const { overlays, widgetRows } = this.options;
		let view: CustomView | undefined;
		const closed = overlays.open<T | null>(
			(settle) => {
				view = this.#start(owner, factory, settle, () => Math.max(MIN_ROWS, this.#rows() - OTHER_ROWS - widgetRows()));
				return this.#guarded(view);
			},
			{ signal, canceled: null, owner: owner.name, coveredBy: owner.name },
		);
		return closed.finally(() => view?.dispose());
	}

	/** Overlays that a hook opens while one of its own is shown join it, so that all of them are seen. */
	#showOver<T>(owner: ScreenOwner, factory: CustomFactory<T>, options: CustomScreenOptions): Promise<T | null> {
		return new Promise<T | null>((resolve) => {
			const begin = (shown: OpenLayers) => this.#addLayer(shown, owner, factory, options, resolve);
			if (this.#open?.owner === owner.path) begin(this.#open);
			else this.#openLayers(owner, begin, () => resolve(null), options.signal);
		});
	}

	#openLayers(owner: ScreenOwner, begin: (shown: OpenLayers) => void, cancel: () => void, signal: AbortSignal): void {
		const { overlays, screen } = this.options;
		const { tui } = screen;
		const { showOverlay } = tui;
		let shown: OpenLayers | null = null;
		const closed = overlays.open<null>(
			(settle, setAway) => {
				const layers = new OverlayLayers({
					rows: () => this.#rows(),
					columns: () => tui.terminal.columns,
					render: (width) => tui.render(width),
					dim: screen.style.theme.dim,
					requestFrame: () => tui.requestRender(),
					type: (key) => tui.type(key),
					show: (isShown) => setAway(!isShown),
				});
				shown = { owner: owner.path, layers, open: 0, close: () => settle(null) };
				this.#open = shown;
				// What the components show next to themselves joins them.
				tui.showOverlay = (component, placement = {}) => this.#addPlain(layers, owner, component, placement);
				begin(shown);
				return this.#guarded(layers);
			},
			{ signal, canceled: null, isFullScreen: true, owner: owner.name, coveredBy: owner.name },
		);
		void closed.finally(() => {
			if (shown !== null && this.#open === shown) {
				this.#open = null;
				tui.showOverlay = showOverlay;
			}
			cancel();
		});
	}

	#addLayer<T>(
		shown: OpenLayers,
		owner: ScreenOwner,
		factory: CustomFactory<T>,
		{ placement, onHandle, signal }: CustomScreenOptions,
		resolve: (result: T | null) => void,
	): void {
		const { tui } = this.options.screen;
		const place = placement === undefined ? null : () => readPlacement(owner, placement);
		let handle: OverlayHandle | null = null;
		let isSettled = false;
		let view: CustomView | null = null;
		shown.open++;
		const settle = (result: T | null) => {
			if (isSettled) return;
			isSettled = true;
			signal.removeEventListener("abort", cancel);
			handle?.hide();
			view?.dispose();
			resolve(result);
			if (--shown.open === 0) shown.close();
		};
		const cancel = () => settle(null);
		signal.addEventListener("abort", cancel, { once: true });
		const maxRows = () => {
			const rows = this.#rows();
			if (place) return Math.max(1, overlaySize(place(), tui.terminal.columns, rows).maxHeight - 1);
			return Math.max(MIN_ROWS, rows - OVERLAY_ROWS);
		};
		view = this.#start(owner, factory, settle, maxRows);
		if (isSettled) {
			view.dispose();
			return;
		}
		handle = shown.layers.add(view, place, place?.().nonCapturing !== true);
		try {
			onHandle?.({ ...handle, hide: cancel });
		} catch (error) {
			owner.failed("ui.custom", error);
		}
	}

	/** A component that an overlay shows next to itself, with the screen's `showOverlay`. */
	#addPlain(
		layers: OverlayLayers,
		owner: ScreenOwner,
		component: Component,
		placement: OverlayPlacement,
	): OverlayHandle {
		if (!isComponent(component)) throw new TypeError("showOverlay expects a component");
		const place = () => readPlacement(owner, placement);
		const view = new ContainedComponent(component, {
			name: owner.name,
			errorStyle: (text) => this.options.screen.style.theme.error(text),
			maxRows: () => overlaySize(place(), this.options.screen.tui.terminal.columns, this.#rows()).maxHeight,
			onError: (error) => owner.failed("ui.custom", error),
			onDraw: (ms) => owner.drew(ms),
		});
		return layers.add(view, place, placement.nonCapturing !== true);
	}

	/** Creates the component, and closes it if it fails. */
	#start<T>(
		owner: ScreenOwner,
		factory: CustomFactory<T>,
		settle: (result: T | null) => void,
		maxRows: () => number,
	): CustomView {
		const { screen, theme, keybindings } = this.options;
		const fail = (error: unknown) => {
			owner.failed("ui.custom", error);
			settle(null);
		};
		const view = new CustomView({
			name: owner.name,
			theme: screen.style.theme,
			maxRows,
			onDraw: (ms) => owner.drew(ms),
			onCancel: () => settle(null),
			onFailed: fail,
			requestFrame: () => screen.tui.requestRender(),
		});
		try {
			view.show(factory(screen.tui, theme, keybindings, settle)).catch(fail);
		} catch (error) {
			fail(error);
		}
		return view;
	}

	#guarded(component: Component): Component {
		const { draft, keymap } = this.options;
		return guardTyping(component, { draft, keymap, keepsText: true });
	}

	#rows(): number {
		return this.options.screen.tui.terminal.rows;
	}
}

/** The placement of an overlay; the default one if the hook's function fails. */
function readPlacement(owner: ScreenOwner, placement: OverlayPlacement | (() => OverlayPlacement)): OverlayPlacement {
	const guarded = <R>(call: () => R, otherwise: R): R => {
		try {
			return call();
		} catch (error) {
			owner.failed("ui.custom", error);
			return otherwise;
		}
	};
	const given: unknown = typeof placement === "function" ? guarded(placement, {}) : placement;
	if (!isRecord(given)) return {};
	const { visible, ...rest }: OverlayPlacement = given;
	if (typeof visible !== "function") return rest;
	return { ...rest, visible: (columns, rows) => guarded(() => visible(columns, rows), true) };
}
