import type { Component, Container } from "@mariozechner/pi-tui";

/** What an `OverlayStack` needs of the screen. */
export interface FocusHost {
	setFocus(component: Component | null): void;
	requestRender(): void;
}

/** When an overlay closes by itself, and with what. */
export interface OverlayOptions<T> {
	/** Closes the overlay as cancelled. */
	signal?: AbortSignal;
	/** ms from `open`, also while it waits for its turn. */
	timeoutMs?: number;
	/** What the promise resolves to when the overlay is cancelled. */
	cancelled: T;
}

interface Waiting {
	show(): void;
	cancel(): void;
}

/**
 * Dialogs and pickers. They stand in the editor's place, one at a time, the others wait in order; each settles exactly
 * once. When the last closes, the editor is back with its draft and the focus.
 */
export class OverlayStack {
	#open: Waiting[] = [];

	constructor(
		private readonly host: FocusHost,
		private readonly slot: Container,
		private readonly editor: Component,
		/** Told when the editor is covered and when it is back. */
		private readonly onChange: (isOpen: boolean) => void = () => {},
	) {
		if (slot.children.length === 0) slot.addChild(editor);
	}

	/** True while an overlay has the focus. */
	get isOpen(): boolean {
		return this.#open.length > 0;
	}

	/**
	 * Opens an overlay, or queues it behind those that are open. `build` is called when its turn comes.
	 * @returns what `settle` was called with first, or `cancelled`
	 * @throws what `build` throws
	 */
	open<T>(build: (settle: (value: T) => void) => Component, options: OverlayOptions<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const { signal, timeoutMs, cancelled } = options;
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
			const cancel = () => close(() => resolve(cancelled));
			const entry: Waiting = {
				cancel,
				show: () => {
					try {
						const component = build((value) => close(() => resolve(value)));
						// `build` may have settled at once.
						if (!settled) this.#put(component);
					} catch (thrown) {
						close(() => reject(thrown));
					}
				},
			};
			if (signal?.aborted) {
				resolve(cancelled);
				return;
			}
			signal?.addEventListener("abort", cancel, { once: true });
			if (timeoutMs !== undefined) timer = setTimeout(cancel, timeoutMs);
			this.#open.push(entry);
			if (this.#open.length === 1) entry.show();
		});
	}

	/** Cancels what is open and what waits. */
	closeAll(): void {
		// Backwards, so that none of those that wait comes up in between.
		for (const entry of [...this.#open].reverse()) entry.cancel();
	}

	#remove(entry: Waiting): void {
		const wasShown = this.#open[0] === entry;
		this.#open = this.#open.filter((other) => other !== entry);
		if (!wasShown) return;
		const next = this.#open[0];
		if (next) next.show();
		else this.#put(this.editor);
	}

	#put(component: Component): void {
		this.slot.clear();
		this.slot.addChild(component);
		this.host.setFocus(component);
		this.onChange(component !== this.editor);
		this.host.requestRender();
	}
}
