import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Type } from "typebox";
import { describeError } from "../errors.js";
import { atomicWriteFile, fileKind, readRegularFile } from "../util/fs.js";
import { diffLines } from "./line-diff.js";
import { count, countLines, formatBytes } from "./output.js";
import { displayPath, resolvePath, warnOfSensitivePath } from "./path.js";
import { failed } from "./result.js";
import { defineTool, type WriteToolDetails } from "./tool.js";

/** Larger files are not compared with what replaces them. */
const MAX_COMPARED_BYTES = 1024 * 1024;

/** Most of a file that is replaced differs, so a search for its shortest diff is seldom worth its time. */
const MAX_DIFF_MS = 100;

const parameters = Type.Object({
	path: Type.String({ description: "File to write: absolute, relative to the working directory, or starting with ~" }),
	content: Type.String({ description: "The complete new content of the file" }),
});

export const writeTool = defineTool<typeof parameters, WriteToolDetails>({
	name: "write",
	description:
		"Create a file or replace its complete content. Missing directories are created. To change parts of a file, use edit.",
	parameters,
	promptLine: "create files or replace them completely",
	guidelines: ["write: use it only for new files and complete rewrites; use edit for everything else."],
	async run({ path, content }, { cwd, signal }) {
		signal.throwIfAborted();
		const file = resolvePath(cwd, path);
		const shown = displayPath(cwd, file);
		const existing = await stat(file).catch(() => undefined); // the write reports the error
		if (existing && !existing.isFile()) return failed(`Cannot write ${shown}: it is ${fileKind(existing)}.`);
		const warning = warnOfSensitivePath(cwd, file);
		const before = existing ? await readBefore(file) : null;
		try {
			await mkdir(dirname(file), { recursive: true });
			await atomicWriteFile(file, content);
		} catch (thrown) {
			return failed(`Cannot write ${shown}: ${describeError(thrown)}.`);
		}
		const lines = countLines(content);
		const size = `${count(lines, "line")}, ${formatBytes(Buffer.byteLength(content))}`;
		const text = `${existing ? "Replaced" : "Created"} ${shown} (${size}).`;
		return {
			content: [{ type: "text", text: warning === undefined ? text : `${text}\n${warning}` }],
			details: {
				...{ created: existing === undefined, lines },
				...(before === null ? {} : await diffLines(before, content, MAX_DIFF_MS)),
			},
		};
	},
});

/** The text that is about to be replaced; null if it is no text, or too long to compare. */
async function readBefore(file: string): Promise<string | null> {
	try {
		const bytes = await readRegularFile(file, { maxBytes: MAX_COMPARED_BYTES });
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return null; // a file that cannot be read can still be replaced
	}
}
