/** Formats the time between two times (ms since the epoch): `now`, `12 min`, `5 h`, `3 days`, `2 years`. */
export function formatAge(since: number, now: number): string {
	const minutes = Math.max(0, Math.floor((now - since) / 60_000));
	if (minutes < 1) return "now";
	if (minutes < 60) return `${minutes} min`;
	const hours = Math.floor(minutes / 60);
	if (hours < 48) return `${hours} h`;
	const days = Math.floor(hours / 24);
	return days < 730 ? `${days} days` : `${Math.floor(days / 365)} years`;
}
