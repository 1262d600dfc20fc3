import type { FileContent } from "../../log/entry.js";
import { UNKNOWN_CONTENT } from "../../log/file-changes.js";
import { type FileContents, MAX_KEPT_FILE_BYTES } from "../../log/file-contents.js";
import { readFile } from "../../tools/file-content.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import { isNotFound } from "../../util/fs.js";

/** Where contents are kept. */
export type KeptContents = Pick<FileContents, "put" | "get">;

/** Keeps what a file contains now. Rejects only when the signal aborts. */
export async function keepContent(
	host: Pick<ToolHost, "openFile">,
	path: string,
	contents: Pick<KeptContents, "put">,
	signal: AbortSignal = new AbortController().signal,
): Promise<FileContent> {
	let bytes: Buffer;
	try {
		bytes = await readFile(host as ToolHost, path, { signal, maxBytes: MAX_KEPT_FILE_BYTES });
	} catch (error) {
		signal.throwIfAborted();
		return isNotFound(error) ? null : UNKNOWN_CONTENT;
	}
	return contents.put(bytes);
}
