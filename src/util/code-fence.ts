/** The fence of a Markdown code block: longer than every run of backticks in its text. */
export function codeFence(text: string): string {
	const longest = (text.match(/`{3,}/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
	return "`".repeat(longest + 1);
}
