import { errnoCode } from "../util/fs.js";
import type { SearchRequest, SearchResult, ToolHost } from "./host/tool-host.js";
import { displayPath } from "./path.js";
import { failed, failedOnFile } from "./result.js";
import type { ToolResult } from "./tool.js";

/** Searches a host. @returns how the search ended, or an error result for the model */
export async function searchHost(
	host: ToolHost,
	request: SearchRequest,
): Promise<Extract<SearchResult, { status: "done" }> | ToolResult<never>> {
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

const ABORTED = "Aborted by the user.";
