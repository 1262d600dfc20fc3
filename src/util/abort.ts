/** Longest delay a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A signal that follows several others until it is unlinked. */
export interface LinkedSignal {
	readonly signal: AbortSignal;
	/** Lets go of the sources; the signal no longer changes. */
	unlink(): void;
}

/**
 * One signal that is aborted as soon as any of `sources` is, with its reason. Absent sources are passed over.
 * Call `unlink` when the work is done, so that a long-lived source does not keep what hangs on the signal.
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
 * Calls `listener` once: now when the signal is already aborted, else when it becomes so.
 * @returns a function that takes the listener away
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
 * Settles as `promise` does, or rejects with the reason of `signal` the moment it is aborted. The work behind the
 * promise goes on; what becomes of it is ignored.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise<T>((resolve, reject) => {
		const release = onAbort(signal, () => reject(signal.reason));
		promise.then(resolve, reject).finally(() => release());
	});
}

/** Resolves after `ms` milliseconds; rejects with the reason of `signal` when that comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
	return new Promise<void>((resolve, reject) => {
		if (signal?.aborted) {
			reject(signal.reason);
			return;
		}
		let release = () => {};
		const timer = setTimeout(
			() => {
				release();
				resolve();
			},
			Math.min(ms, MAX_TIMER_MS),
		);
		if (signal === undefined) return;
		release = onAbort(signal, () => {
			clearTimeout(timer);
			reject(signal.reason);
		});
	});
}
