import { onAbort } from "./abort.js";
import { monotonicMs } from "./clock.js";

/** A dialog as a `DialogQueue` uses it. */
export interface QueuedDialog {
	/** Shows it, also again after another one has covered it. @param waitedMs ms since it was opened */
	show(waitedMs: number): void;
	/** Called before it closes without an answer while it is the first. */
	onCancel?(): void;
}

/** How a dialog closes without an answer, and its place in the queue. */
export interface DialogLimits<T> {
	/** The result of a canceled dialog. */
	canceled: T;
	/** Cancels the dialog. */
	signal?: AbortSignal | undefined;
	/** Cancels the dialog this long after it was opened, including the time in the queue. */
	timeoutMs?: number | undefined;
	/** Number of dialogs before it; default: all. The first is shown, over the one that was first. */
	position?: number;
}

/** Dialogs that are open one at a time; the others wait in order. Each one settles exactly once. */
export class DialogQueue<D extends QueuedDialog> {
	readonly #open: { readonly dialog: D; show(): void; cancel(): void }[] = [];

	/** @param onEmpty called when the last dialog has closed */
	constructor(private readonly onEmpty: () => void) {}

	/** The dialog that is shown. */
	get current(): D | undefined {
		return this.#open[0]?.dialog;
	}

	/** All open dialogs, the shown one first. */
	get dialogs(): readonly D[] {
		return this.#open.map(({ dialog }) => dialog);
	}

	/**
	 * Opens a dialog, which is shown when those before it have closed.
	 * @param create makes the dialog; it calls `settle` with the answer, but not before it is shown
	 * @returns the first answer, or `canceled`
	 * @throws what showing the dialog throws
	 */
	open<T>(create: (settle: (answer: T) => void) => D, limits: DialogLimits<T>): Promise<T> {
		const { canceled, signal, timeoutMs, position = this.#open.length } = limits;
		if (signal?.aborted) return Promise.resolve(canceled);
		const openedAt = monotonicMs();
		return new Promise((resolve, reject) => {
			const close = (finish: () => void) => {
				const at = this.#open.indexOf(entry);
				if (at < 0) return;
				this.#open.splice(at, 1);
				clearTimeout(timer);
				release();
				finish();
				if (at === 0) this.#showNext();
			};
			const dialog = create((answer) => close(() => resolve(answer)));
			const entry = {
				dialog,
				show: () => {
					try {
						dialog.show(monotonicMs() - openedAt);
					} catch (thrown) {
						close(() => reject(thrown));
					}
				},
				cancel: () => {
					if (this.current === dialog) dialog.onCancel?.();
					close(() => resolve(canceled));
				},
			};
			const release = signal ? onAbort(signal, entry.cancel) : () => {};
			const timer = timeoutMs === undefined ? undefined : setTimeout(entry.cancel, timeoutMs);
			this.#open.splice(position, 0, entry);
			if (position === 0) entry.show();
		});
	}

	/** Cancels the dialog that is shown. */
	cancel(): void {
		this.#open[0]?.cancel();
	}

	/** Cancels all dialogs. */
	cancelAll(): void {
		// Backwards, so that no other one is shown in between.
		for (const entry of [...this.#open].reverse()) entry.cancel();
	}

	#showNext(): void {
		const [next] = this.#open;
		if (next) next.show();
		else this.onEmpty();
	}
}
