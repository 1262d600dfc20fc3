/** A function that is called now and then, however often it is wanted. */
export interface Throttled {
	/** Calls it at once, or later together with other notes. */
	note(): void;
	/** Calls it now if a note waits, and never again. */
	finish(): void;
	/** Never calls it again. */
	stop(): void;
}

/** Calls `update` at most once per interval, for the first note at once. */
export function throttle(update: () => void, intervalMs: number): Throttled {
	let timer: NodeJS.Timeout | undefined;
	let isPending = false;
	let isStopped = false;
	const tick = () => {
		timer = undefined;
		if (!isPending) return;
		isPending = false;
		timer = setTimeout(tick, intervalMs);
		update();
	};
	const stop = () => {
		clearTimeout(timer);
		isPending = false;
		isStopped = true;
	};
	return {
		note() {
			if (isStopped) return;
			isPending = true;
			if (timer === undefined) tick();
		},
		finish() {
			const isWanted = isPending;
			stop();
			if (isWanted) update();
		},
		stop,
	};
}
