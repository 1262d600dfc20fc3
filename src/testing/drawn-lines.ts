import { loadTerminalLibrary } from "../hooks/host-modules.js";

/**
 * The lines of a text or component of a hook at a width: text is wrapped.
 * @throws TypeError if it is neither, or a component returns something else than lines of at most `width` columns
 */
export async function drawnLines(drawn: unknown, width: number): Promise<string[]> {
	const { visibleWidth, wrapTextWithAnsi } = await loadTerminalLibrary();
	if (typeof drawn === "string") return drawn.split("\n").flatMap((line) => wrapTextWithAnsi(line, width));
	if (typeof drawn !== "object" || drawn === null || !("render" in drawn) || typeof drawn.render !== "function")
		throw new TypeError("expected a text or a component with render(width)");
	const lines: unknown = drawn.render(width);
	if (!Array.isArray(lines)) throw new TypeError("render() did not return an array of lines");
	return lines.map((line: unknown, row) => {
		if (typeof line !== "string") throw new TypeError(`render() returned no text for line ${row}`);
		const columns = visibleWidth(line);
		if (columns > width) throw new TypeError(`render() returned line ${row} with ${columns} columns at width ${width}`);
		return line;
	});
}
