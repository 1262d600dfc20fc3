import { errnoCode } from "../util/fs.js";
import type { SearchRequest, SearchResult, ToolHost } from "./machine/machine.js";
import { displayPath } from "./path.js";
import { failed, failedOnFile } from "./result.js";
import type { ToolResult } from "./tool.js";

/** How a search ended that did. */
export type FinishedSearch = Extract<SearchResult, { status: "done" }>;

/** Searches a host. @returns how the search ended, or an error result for the model */
export async function searchMachine(
	host: ToolHost,
	request: SearchRequest,
): Promise<FinishedSearch | ToolResult<never>> {
	const { path, signal, lines } = request;
	let end: SearchResult;
	try {
		end = await host.search(request);
	} catch (thrown) {
		if (signal.aborted) return failed(ABORTED);
		// Also the code of a path below a file.
		if (errnoCode(thrown) === "ENOTDIR" && !lines && (await host.stat(path).catch(() => undefined))) {
			return failed(`${displayPath(host.cwd, path)} is a file. Give a directory as path.`);
		}
		return failedOnFile(host, path, thrown);
	}
	if (end.status === "done") return end;
	return failed(end.status === "aborted" ? ABORTED : end.problem);
}

/** Tells the model that results may be files which the tools promise to leave out; empty if they are not. */
export function describeIgnored({ name }: Pick<ToolHost, "name">, { includesIgnored }: FinishedSearch): string {
	if (!includesIgnored) return "";
	return `[Includes files that .gitignore excludes, because ripgrep is not installed on ${name} and this is no work tree of git.]`;
}

const ABORTED = "Aborted by the user.";
