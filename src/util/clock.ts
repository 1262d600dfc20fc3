/**
 * Time of a clock that is never set, in ms, from a point that only the process knows. The first use of `performance` takes
 * Node a millisecond, in which it loads what measures programs.
 */
export function monotonicMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1000 + nanoseconds / 1e6;
}
