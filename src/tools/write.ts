import { plural } from "../util/format-amounts.js";
import { readFile } from "./file-content.js";
import type { ToolHost, WrittenFile } from "./host/tool-host.js";
import { diffLines } from "./line-diff.js";
import { countLines, formatBytes } from "./output.js";
import { displayPath, resolvePath, warnOfSensitivePath } from "./path.js";
import { failedToWrite } from "./result.js";
import { defineTool, type WriteToolDetails } from "./tool.js";

/** Larger files are not compared with what replaces them. */
const MAX_COMPARED_BYTES = 1024 * 1024;

/** Most of a file that is replaced differs, so a search for its shortest diff is seldom worth its time. */
const MAX_DIFF_MS = 100;

const parameters = {
	type: "object",
	properties: {
		path: {
			type: "string",
			description: "File to write: absolute, relative to the working directory, or starting with ~",
		},
		content: { type: "string", description: "The complete new content of the file" },
	},
	required: ["path", "content"],
} as const;

export const writeTool = defineTool<typeof parameters, WriteToolDetails>({
	name: "write",
	description:
		"Create a file or replace its complete content. Missing directories are created. To change parts of a file, use edit.",
	parameters,
	promptLine: "create files or replace them completely",
	guidelines: ["write: use it only for new files and complete rewrites; use edit for everything else."],
	async run({ path, content }, { host, signal }) {
		signal.throwIfAborted();
		const file = await resolvePath(host, path);
		const shown = displayPath(host.cwd, file);
		const before = await readBefore(host, file, signal);
		let written: WrittenFile;
		try {
			written = await host.writeFile(file, content, { signal });
		} catch (thrown) {
			signal.throwIfAborted();
			return failedToWrite(host, file, thrown);
		}
		const { created, realPath } = written;
		const warning = await warnOfSensitivePath(host, file, realPath);
		const lines = countLines(content);
		const size = `${plural(lines, "line")}, ${formatBytes(Buffer.byteLength(content))}`;
		const text = `${created ? "Created" : "Replaced"} ${shown} (${size}).`;
		return {
			content: [{ type: "text", text: warning === undefined ? text : `${text}\n${warning}` }],
			details: { created, lines, ...(before === null ? {} : await diffLines(before, content, MAX_DIFF_MS)) },
		};
	},
});

/**
 * The text that is about to be replaced; null if it is no text, too long to compare, or on another machine, where reading it
 * would double the time of a write.
 */
async function readBefore(host: ToolHost, path: string, signal: AbortSignal): Promise<string | null> {
	if (host.name !== "") return null;
	try {
		const bytes = await readFile(host, path, { signal, maxBytes: MAX_COMPARED_BYTES });
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return null; // a file that cannot be read can still be replaced
	}
}
