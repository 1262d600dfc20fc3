/** Longest delay of a Node timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A signal that follows several others until it is unlinked. */
export interface LinkedSignal {
	readonly signal: AbortSignal;
	/** Removes the listeners from the sources; the signal no longer changes. */
	unlink(): void;
}

/**
 * Creates a signal that aborts with the first of `sources`, and with its reason. Ignores undefined sources. Call
 * `unlink` when the work is done, so that a long-lived source does not retain the listeners of the signal.
 */
export function linkSignals(...sources: (AbortSignal | undefined)[]): LinkedSignal {
	const controller = new AbortController();
	const unlinkers: (() => void)[] = [];
	const unlink = () => {
		for (const each of unlinkers.splice(0)) each();
	};
	for (const source of sources) {
		if (source === undefined) continue;
		unlinkers.push(
			onAbort(source, () => {
				unlink();
				controller.abort(source.reason);
			}),
		);
	}
	if (controller.signal.aborted) unlink();
	return { signal: controller.signal, unlink };
}

/**
 * Calls a function with a signal that aborts with the first of `sources`, or with a `TimeoutError` after `ms` milliseconds. The
 * timer holds the limit until the function is done: Node 20 collects a signal of `AbortSignal.timeout` that only
 * `AbortSignal.any` refers to, and then nothing ever aborts.
 */
export async function withTimeLimit<T>(
	ms: number,
	sources: readonly (AbortSignal | undefined)[],
	action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const late = new AbortController();
	const timer = setTimeout(() => late.abort(new DOMException("timed out", "TimeoutError")), ms);
	const { signal, unlink } = linkSignals(...sources, late.signal);
	try {
		return await action(signal);
	} finally {
		clearTimeout(timer);
		unlink();
	}
}

/**
 * Calls `listener` once: now if the signal is already aborted, else when it aborts.
 * @returns a function that removes the listener
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
	if (signal.aborted) {
		listener();
		return () => {};
	}
	signal.addEventListener("abort", listener, { once: true });
	return () => signal.removeEventListener("abort", listener);
}

/**
 * Settles like `promise`, or rejects with the reason of `signal` as soon as it aborts. The work behind the promise
 * continues; its result is ignored.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise<T>((resolve, reject) => {
		const release = onAbort(signal, () => reject(signal.reason));
		promise.then(resolve, reject).finally(() => release());
	});
}

/** Resolves after `ms` milliseconds; rejects with the reason of `signal` if it aborts first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
	return new Promise<void>((resolve, reject) => {
		let release = () => {};
		const elapsed = () => {
			release();
			resolve();
		};
		const timer = setTimeout(elapsed, Math.min(ms, MAX_TIMER_MS));
		if (signal === undefined) return;
		release = onAbort(signal, () => {
			clearTimeout(timer);
			reject(signal.reason);
		});
	});
}
