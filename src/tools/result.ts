import { describeError, PiError, systemReason } from "../errors.js";
import { isNotFound } from "../util/fs.js";
import { describeGlobProblem } from "./glob.js";
import type { ToolHost } from "./machine/machine.js";
import { announceCut, type TruncationResult, truncateHead } from "./output.js";
import { describeMissing, displayPath } from "./path.js";
import type { ToolResult } from "./tool.js";

/** A result of paragraphs; empty ones are omitted. */
export function textResult<T>(paragraphs: readonly string[], details: T): ToolResult<T> {
	return { content: [{ type: "text", text: paragraphs.filter((text) => text !== "").join("\n\n") }], details };
}

/**
 * A result of as many lines as fit.
 * @param note follows the lines
 * @param hint tells the model how to get fewer lines, if they were cut
 */
export function listResult<T extends object>(
	lines: readonly string[],
	note: string,
	hint: string,
	details: T,
): ToolResult<T & { truncation?: TruncationResult }> {
	const cut = truncateHead(lines.join("\n"));
	const { truncation } = cut;
	if (!truncation.truncated) return textResult([cut.text, note], details);
	return textResult([cut.text, note, announceCut("first", cut, hint)], { ...details, truncation });
}

/** Notes that follow a list, one per line; empty ones are omitted. */
export function joinNotes(...notes: readonly string[]): string {
	return notes.filter((note) => note !== "").join("\n");
}

/** A paragraph for a search without results whose glob is malformed; empty if it is not. */
export function malformedGlob(glob: string | undefined): string {
	const problem = glob === undefined ? undefined : describeGlobProblem(glob);
	return problem === undefined ? "" : `[Malformed glob: ${problem}.]`;
}

/** An error result that tells the model what is wrong and how to correct the call. */
export function failed(text: string): ToolResult<never> {
	return { content: [{ type: "text", text }], isError: true };
}

/** The error result for a file that could not be read. For a missing file it suggests similar names. */
export async function failedOnFile(host: ToolHost, path: string, thrown: unknown): Promise<ToolResult<never>> {
	if (isNotFound(thrown)) return failed(await describeMissing(host, path));
	return failed(`${describeError(thrown)}.`);
}

/** The error result for a file that could not be written. */
export function failedToWrite({ cwd }: ToolHost, path: string, thrown: unknown): ToolResult<never> {
	const start = `Cannot write ${displayPath(cwd, path)}: `;
	const reason = thrown instanceof PiError ? describeError(thrown) : systemReason(thrown);
	const repeated = `Cannot write ${path}: `;
	return failed(`${start}${reason.startsWith(repeated) ? reason.slice(repeated.length) : reason}.`);
}
