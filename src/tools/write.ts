import { Type } from "typebox";
import type { WrittenFile } from "./host/tool-host.js";
import { count, countLines, formatBytes } from "./output.js";
import { displayPath, resolvePath, warnOfSensitivePath } from "./path.js";
import { failedToWrite } from "./result.js";
import { defineTool, type WriteToolDetails } from "./tool.js";

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
	async run({ path, content }, { host, signal }) {
		signal.throwIfAborted();
		const file = await resolvePath(host, path);
		const shown = displayPath(host.cwd, file);
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
		const size = `${count(lines, "line")}, ${formatBytes(Buffer.byteLength(content))}`;
		const text = `${created ? "Created" : "Replaced"} ${shown} (${size}).`;
		return {
			content: [{ type: "text", text: warning === undefined ? text : `${text}\n${warning}` }],
			details: { created, lines },
		};
	},
});
