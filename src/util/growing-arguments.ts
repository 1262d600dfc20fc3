/** Share of the time that may go into reading arguments that are not whole yet: one part in so many. */
const PARTS = 10;

interface Reading {
	/** When the last one ended, ms. */
	at: number;
	/** How long it took, ms. */
	tookMs: number;
}

const readings = new WeakMap<object, Reading>();

/**
 * Reads the arguments of a tool call while they stream in, for those who look on; whoever runs the call reads them once
 * more when they are whole. Each reading goes through all of the text, so with long arguments, such as a file that is
 * written, most pieces are let pass without one: reading takes a tenth of the time at most.
 * @param block the tool call
 */
export function readGrowingArguments(block: object, read: () => void): void {
	const startedAt = performance.now();
	const last = readings.get(block);
	if (last && startedAt - last.at < last.tookMs * (PARTS - 1)) return;
	read();
	const at = performance.now();
	readings.set(block, { at, tookMs: at - startedAt });
}
