import type { Component, Container } from "@mariozechner/pi-tui";
import { type DialogLimits, DialogQueue, type QueuedDialog } from "../util/dialog-queue.js";

/** The screen as an `OverlayStack` uses it. */
export interface FocusHost {
	setFocus(component: Component | null): void;
	requestRender(): void;
	/** Shows a component on the alternate screen, or the main screen again (null). */
	showFullScreen(component: Component | null): void;
	/** Gives the rows of a closed overlay back to what is above it. */
	fillScreen(): void;
}

/** How an overlay is opened, and how it closes without an answer. */
export interface OverlayOptions<T> extends Omit<DialogLimits<T>, "position"> {
	/** Shows the overlay on the alternate screen, which leaves the main screen as it is. */
	isFullScreen?: boolean;
	/** Opens it over the open overlay instead of after it. */
	isOnTop?: boolean;
	/** Who opens it. */
	owner?: string;
	/**
	 * Overlays that this owner opens while it is shown open over it, instead of waiting until it closes: a component that
	 * waits for the answer of a dialog would never close. Those that the same code opens at the same time still wait.
	 */
	coveredBy?: string;
}

interface QueuedOverlay extends QueuedDialog {
	/** Whether it has been shown; another one may cover it now. */
	readonly isShown: boolean;
	/** Whether it shows the editor instead of itself. */
	readonly isAway: boolean;
	/** Whose overlays open over it now. */
	readonly coveredBy: string | undefined;
	/** Whether it leaves the keys of the app alone: a dialog does, a full screen or a component of a hook uses them. */
	readonly isDialog: boolean;
}

/**
 * Dialogs that replace the editor, one at a time; the others wait in order. Each one settles exactly once. When the last
 * one closes, the editor returns with its draft and the focus.
 */
export class OverlayStack {
	readonly #queue = new DialogQueue<QueuedOverlay>(() => this.#put(this.editor));

	constructor(
		private readonly host: FocusHost,
		private readonly slot: Container,
		private readonly editor: Component,
		/** Called with what has the focus now. */
		private readonly onChange: (shown: "editor" | "dialog" | "fullScreen") => void = () => {},
	) {
		if (slot.children.length === 0) slot.addChild(editor);
	}

	/** Whether an overlay has the focus. */
	get isOpen(): boolean {
		return this.#queue.current?.isAway === false;
	}

	/** Whether the overlay with the focus is a dialog, not a full screen or a component of a hook. */
	get isDialog(): boolean {
		return this.#queue.current?.isDialog ?? false;
	}

	/** Number of overlays that have not been shown yet. */
	get waiting(): number {
		return this.#queue.dialogs.filter(({ isShown }) => !isShown).length;
	}

	/**
	 * Opens an overlay, or queues it if another one is open. `build` is called when the overlay is shown for the first time.
	 * It may show the editor for a while instead of what it returns, with `setAway`.
	 * @returns the first value passed to `settle`, or `canceled`
	 * @throws any error that `build` throws
	 */
	open<T>(
		build: (settle: (value: T) => void, setAway: (isAway: boolean) => void) => Component,
		options: OverlayOptions<T>,
	): Promise<T> {
		const { isFullScreen = false, isOnTop = false, owner, coveredBy } = options;
		const create = (settle: (value: T) => void): QueuedOverlay => {
			let component: Component | null = null;
			let isShown = false;
			let isAway = false;
			let coverer: string | undefined;
			const put = () => {
				// `build` may have settled synchronously, or opened a dialog over it.
				if (component && this.#queue.current === overlay)
					this.#put(isAway ? this.editor : component, !isAway && isFullScreen);
			};
			const buildOnce = () => {
				// Queued before `build`, so that it is done before code that `build` continues later.
				queueMicrotask(() => {
					coverer = coveredBy;
				});
				coverer = coveredBy;
				const built = build(settle, (wanted) => {
					if (isAway === wanted) return;
					isAway = wanted;
					put();
				});
				coverer = undefined;
				return built;
			};
			const overlay: QueuedOverlay = {
				get isShown() {
					return isShown;
				},
				get isAway() {
					return isAway;
				},
				get coveredBy() {
					return coverer;
				},
				isDialog: !isFullScreen && coveredBy === undefined,
				show() {
					isShown = true;
					component ??= buildOnce();
					put();
				},
			};
			return overlay;
		};
		const { dialogs } = this.#queue;
		const covered = isOnTop ? 0 : dialogs.findIndex((other) => owner !== undefined && other.coveredBy === owner);
		const position = covered < 0 ? dialogs.length : covered;
		const result = this.#queue.open(create, { ...options, position });
		if (position > 0) this.host.requestRender(); // the open overlay may show how many wait
		return result;
	}

	/** Draws the open overlay again, after it has changed by something else than a key. */
	redraw(): void {
		this.host.requestRender();
	}

	/** Cancels all open and queued overlays. */
	closeAll(): void {
		this.#queue.cancelAll();
	}

	#put(component: Component, isFullScreen = false): void {
		this.host.showFullScreen(isFullScreen ? component : null);
		if (!isFullScreen) {
			this.slot.clear();
			this.slot.addChild(component);
		}
		this.host.setFocus(component);
		this.onChange(component === this.editor ? "editor" : isFullScreen ? "fullScreen" : "dialog");
		this.host.requestRender();
		if (component === this.editor) this.host.fillScreen();
	}
}
