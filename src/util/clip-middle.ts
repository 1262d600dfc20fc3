/**
 * Shortens a text from the middle, where names of models differ least: `openrouter/moonsh…kimi-k2.6:free`.
 * @param width the maximum width of the result
 * @param widthOf default: one for each character
 */
export function clipMiddle(
	text: string,
	width: number,
	widthOf: (text: string) => number = (part) => [...part].length,
): string {
	if (widthOf(text) <= width) return text;
	const start = [...text];
	const end = start.splice(Math.floor(start.length / 3));
	const result = () => `${start.join("")}…${end.join("")}`;
	while (widthOf(result()) > width && start.length + end.length > 0) {
		// The end tells more than the start.
		if (end.length > start.length * 1.5 || start.length === 0) end.shift();
		else start.pop();
	}
	return width > 0 ? result() : "";
}
