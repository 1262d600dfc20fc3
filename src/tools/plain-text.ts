import { collapseCarriageReturns } from "../util/sanitize.js";

/** CSI; OSC, DCS and their like, to their end or the end of the line; other sequences of two or three characters. */
const ESCAPE_SEQUENCES =
	/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * What a command printed as plain text for a model: no colours or other escape sequences, of a line that was written
 * over only its last state, no control characters but newline and tab.
 */
export function plainOutput(text: string): string {
	return dropControls(collapseCarriageReturns(text.replace(ESCAPE_SEQUENCES, "")));
}

/** Text without control characters other than newline and tab. */
export function dropControls(text: string): string {
	return text.replace(CONTROLS, "");
}
