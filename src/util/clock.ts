/**
 * Time of a clock that is never set, in ms, from a point that only the process knows. The first use of `performance` takes
 * Node a millisecond, in which it loads what measures programs.
 */
export function monotonicMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1000 + nanoseconds / 1e6;
}

/** The day of a time in the local time zone, such as `2026-11-23`. @param at ms since 1970 */
export function localDate(at: number): string {
	const date = new Date(at);
	const two = (number: number) => String(number).padStart(2, "0");
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
