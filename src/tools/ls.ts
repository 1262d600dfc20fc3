import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { dropControls } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, listResult, textResult } from "./result.js";
import { defineTool, type LsToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 500;

const parameters = Type.Object({
	path: Type.Optional(Type.String({ description: "Directory to list; default: the working directory" })),
	limit: Type.Optional(
		Type.Integer({ minimum: 1, description: `Maximum number of entries; default ${DEFAULT_LIMIT}` }),
	),
});

export const lsTool = defineTool<typeof parameters, LsToolDetails>({
	name: "ls",
	description:
		"List a directory, one name per line, sorted, including hidden entries. Directories end with /, links show their target.",
	parameters,
	readOnly: true,
	promptLine: "list a directory",
	async run({ path = ".", limit = DEFAULT_LIMIT }, { cwd, signal }) {
		signal.throwIfAborted();
		const directory = resolvePath(cwd, path);
		const shown = displayPath(cwd, directory);
		try {
			if (!(await stat(directory)).isDirectory()) return failed(`${shown} is a file. Use read to see its content.`);
			const entries = await readdir(directory, { withFileTypes: true });
			if (entries.length === 0) return textResult(["(empty directory)"], { entries: 0 });
			entries.sort((a, b) => (a.name < b.name ? -1 : 1));
			const names = entries.slice(0, limit).map(async (entry) => {
				const name = dropControls(entry.name);
				if (entry.isDirectory()) return `${name}/`;
				if (!entry.isSymbolicLink()) return name;
				const target = await readlink(join(directory, entry.name)).catch(() => "?"); // deleted in the meantime
				return `${name} -> ${dropControls(target)}`;
			});
			const all = entries.length;
			const note = all > limit ? `[First ${limit} of ${all} entries. Raise limit, or use find.]` : "";
			return listResult(await Promise.all(names), note, "Use find with a pattern.", { entries: all });
		} catch (thrown) {
			return failedOnFile(cwd, directory, thrown);
		}
	},
});
