import { loadHighlighter } from "../../tui/highlight.js";
import { loadWordDiff } from "./views/tools/word-diff.js";

/**
 * Loads what drawing needs and a start does not wait for: colours for code, the comparison of words. What was drawn
 * without it would be drawn anew later, above the screen too.
 */
export async function loadDrawingParts(): Promise<void> {
	await Promise.all([loadHighlighter(), loadWordDiff()]);
}
