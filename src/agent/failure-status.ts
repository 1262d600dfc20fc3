/** HTTP status that a client's message starts with; null without one. */
export function leadingStatus(text: string): number | null {
	const match = /^(?:[\w -]{1,80} API error \(|[\w -]{1,80}: (?=\d{3}: [[{]))?(\d{3})\b/.exec(text.trimStart());
	return match ? Number(match[1]) : null;
}

/** HTTP status in a described failure; null without one. */
export function httpStatusOf(text: string): number | null {
	const page = /^the server(?: \S+)? answered (\d{3})\b/.exec(text);
	return page ? Number(page[1]) : leadingStatus(text);
}
