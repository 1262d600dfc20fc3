/** A number of tokens: `41`, `1.2k`, `200k`, `1.5M`. */
export function formatTokens(tokens: number): string {
	if (tokens < 1000) return String(Math.max(0, Math.round(tokens)));
	if (tokens < 999_500) return `${short(tokens / 1000)}k`;
	return `${short(tokens / 1_000_000)}M`;
}

/** US dollars with two decimals, or four for less than a cent. */
export function formatCost(dollars: number): string {
	return `$${dollars > 0 && dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

function short(value: number): string {
	return value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
