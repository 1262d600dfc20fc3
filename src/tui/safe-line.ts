import { CURSOR_MARKER, truncateToWidth, visibleWidth } from "@mariozechner/pi-tui";
import { showCharacter } from "../util/sanitize.js";
import { IMAGE_MARK } from "./terminal-images.js";

/** A control character that does not start a style. */
const FOREIGN = /[\x00-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[\d;:]*m)/;
/** What components may write besides text: styles, links, and marks that the renderer takes out: of the cursor, of images. */
const OWN = new RegExp(
	`\\x1b\\[[\\d;:]*m|\\x1b\\]8;[^\\x00-\\x1f\\x7f-\\x9f]*(?:\\x07|\\x1b\\\\)|${CURSOR_MARKER}|${IMAGE_MARK}|[\\x00-\\x1f\\x7f-\\x9f]`,
	"g",
);

/**
 * A line as it may go to the terminal: one row of at most `width` columns. Whatever a component let through, no control
 * sequence leaves here but styles and links: others become visible characters.
 */
export function safeLine(line: string, width: number): string {
	const safe = FOREIGN.test(line) ? line.replace(/[\r\n]+/g, " ").replace(OWN, showForeign) : line;
	return visibleWidth(safe) > width ? truncateToWidth(safe, width, "…") : safe;
}

function showForeign(found: string): string {
	if (found.length > 1) return found;
	return found === "\t" ? "   " : showCharacter(found);
}

/** Text with every control character but line ends and tabs as a visible one. */
export function visibleControls(text: string): string {
	return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, showCharacter);
}
