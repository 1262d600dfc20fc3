/** A number of tokens: `41`, `1.2k`, `200k`, `1.5M`. */
export function formatTokens(tokens: number): string {
	if (tokens < 1000) return String(Math.max(0, Math.round(tokens)));
	if (tokens < 999_500) return `${short(tokens / 1000)}k`;
	return `${short(tokens / 1_000_000)}M`;
}

/** A number with its noun: `1 line`, `80 lines`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
	return `${count} ${count === 1 ? noun : nouns}`;
}

/** US dollars with two decimals, or four for less than a cent. */
export function formatCost(dollars: number): string {
	return `$${dollars > 0 && dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

/** US dollars without the digits that only come from adding binary fractions. */
export function roundCost(dollars: number): number {
	return Number(dollars.toFixed(8));
}

/** A change: `−34 %`; `–` if one of the amounts is unknown, or if there was nothing. */
export function formatChange(amount: number | null, base: number | null): string {
	if (amount === null || base === null || base === 0) return "–";
	const change = 100 * (amount / base - 1);
	const digits = Math.abs(change).toFixed(Math.abs(change) < 0.95 ? 1 : 0);
	return digits === "0.0" ? "±0 %" : `${change > 0 ? "+" : "−"}${digits} %`;
}

/** A share in percent: 100 only if it is exactly that, and one digit more below it, because a loss must show. */
export function formatShare(percent: number): string {
	return percent === 100 ? "100" : (Math.floor(percent * 10) / 10).toFixed(1);
}

/** A duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. Integer seconds from 10 s. */
export function formatDuration(ms: number): string {
	const seconds = Math.max(0, ms) / 1000;
	if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
	const whole = Math.round(seconds);
	if (whole < 60) return `${whole} s`;
	if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
	return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

function short(value: number): string {
	return value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}

function two(value: number): string {
	return String(value).padStart(2, "0");
}
