import type { Component, Container } from "@mariozechner/pi-tui";

/** The screen as an `OverlayStack` uses it. */
export interface FocusHost {
	setFocus(component: Component | null): void;
	requestRender(): void;
	/** Shows a component on the alternate screen, or the main screen again (null). */
	showFullScreen(component: Component | null): void;
	/** Gives the rows of a closed overlay back to what is above it. */
	fillScreen(): void;
}

/** How an overlay closes without an answer. */
export interface OverlayOptions<T> {
	/** Cancels the overlay. */
	signal?: AbortSignal;
	/** Cancels the overlay this long after `open`, including the time in the queue. */
	timeoutMs?: number;
	/** The result of a canceled overlay. */
	canceled: T;
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

interface QueuedOverlay {
	/** Whether it has been shown; another one may cover it now. */
	readonly isShown: boolean;
	/** Whether it shows the editor instead of itself. */
	readonly isAway: boolean;
	/** Whose overlays open over it now. */
	readonly coveredBy: string | undefined;
	/** Whether it leaves the keys of the app alone: a dialog does, a full screen or a component of a hook uses them. */
	readonly isDialog: boolean;
	show(): void;
	cancel(): void;
}

/**
 * Dialogs that replace the editor, one at a time; the others wait in order. Each one settles exactly once. When the last
 * one closes, the editor returns with its draft and the focus.
 */
export class OverlayStack {
	#open: QueuedOverlay[] = [];

	constructor(
		private readonly host: FocusHost,
		private readonly slot: Container,
		private readonly editor: Component,
		/** Called when an overlay replaces the editor and when the editor returns. */
		private readonly onChange: (isOpen: boolean) => void = () => {},
	) {
		if (slot.children.length === 0) slot.addChild(editor);
	}

	/** Whether an overlay has the focus. */
	get isOpen(): boolean {
		return this.#open[0]?.isAway === false;
	}

	/** Whether the overlay with the focus is a dialog, not a full screen or a component of a hook. */
	get isDialog(): boolean {
		return this.#open[0]?.isDialog ?? false;
	}

	/** Number of overlays that have not been shown yet. */
	get waiting(): number {
		return this.#open.filter(({ isShown }) => !isShown).length;
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
		return new Promise((resolve, reject) => {
			const { signal, timeoutMs, canceled, isFullScreen = false, isOnTop = false, owner, coveredBy } = options;
			let component: Component | null = null;
			let isShown = false;
			let isAway = false;
			let coverer: string | undefined;
			let settled = false;
			let timer: NodeJS.Timeout | undefined;
			const close = (finish: () => void) => {
				if (settled) return;
				settled = true;
				clearTimeout(timer);
				signal?.removeEventListener("abort", cancel);
				this.#remove(entry);
				finish();
			};
			const cancel = () => close(() => resolve(canceled));
			const buildOnce = () => {
				// Queued before `build`, so that it is done before code that `build` continues later.
				queueMicrotask(() => {
					coverer = coveredBy;
				});
				coverer = coveredBy;
				const built = build(
					(value) => close(() => resolve(value)),
					(wanted) => {
						if (isAway === wanted) return;
						isAway = wanted;
						if (component && this.#open[0] === entry)
							this.#put(isAway ? this.editor : component, !isAway && isFullScreen);
					},
				);
				coverer = undefined;
				return built;
			};
			const entry: QueuedOverlay = {
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
				cancel,
				show: () => {
					try {
						isShown = true;
						component ??= buildOnce();
						// `build` may have settled synchronously, or opened a dialog over it.
						if (!settled && this.#open[0] === entry)
							this.#put(isAway ? this.editor : component, !isAway && isFullScreen);
					} catch (thrown) {
						close(() => reject(thrown));
					}
				},
			};
			if (signal?.aborted) {
				resolve(canceled);
				return;
			}
			signal?.addEventListener("abort", cancel, { once: true });
			if (timeoutMs !== undefined) timer = setTimeout(cancel, timeoutMs);
			const covered = isOnTop ? 0 : this.#open.findIndex((other) => owner !== undefined && other.coveredBy === owner);
			this.#open.splice(covered < 0 ? this.#open.length : covered, 0, entry);
			if (this.#open[0] === entry) entry.show();
			else this.host.requestRender(); // the open overlay may show how many wait
		});
	}

	/** Cancels all open and queued overlays. */
	closeAll(): void {
		// Backwards, so that no other overlay is shown in between.
		for (const entry of [...this.#open].reverse()) entry.cancel();
	}

	#remove(entry: QueuedOverlay): void {
		const wasShown = this.#open[0] === entry;
		this.#open = this.#open.filter((other) => other !== entry);
		if (!wasShown) return;
		const next = this.#open[0];
		if (next) next.show();
		else this.#put(this.editor);
	}

	#put(component: Component, isFullScreen = false): void {
		this.host.showFullScreen(isFullScreen ? component : null);
		if (!isFullScreen) {
			this.slot.clear();
			this.slot.addChild(component);
		}
		this.host.setFocus(component);
		this.onChange(!isFullScreen && component !== this.editor);
		this.host.requestRender();
		if (component === this.editor) this.host.fillScreen();
	}
}
