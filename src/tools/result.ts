import { describeError } from "../errors.js";
import { isNotFound } from "../util/fs.js";
import { describeMissing } from "./path.js";
import type { ToolResult } from "./tool.js";

/** A result that tells the model what is wrong and how to mend the call. */
export function failed(text: string): ToolResult<never> {
	return { content: [{ type: "text", text }], isError: true };
}

/** The result for a file that could not be read or written: a missing one is described with the nearest names. */
export async function failedOnFile(cwd: string, path: string, thrown: unknown): Promise<ToolResult<never>> {
	if (isNotFound(thrown)) return failed(await describeMissing(cwd, path));
	return failed(`${describeError(thrown)}.`);
}
