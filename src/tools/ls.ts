import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { announceCut, truncateHead } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { dropControls } from "./plain-text.js";
import { failed, failedOnFile } from "./result.js";
import { defineTool, type LsToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 500;

const parameters = Type.Object({
	path: Type.Optional(Type.String({ description: "Directory to list; default: the working directory" })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Most entries to return; default ${DEFAULT_LIMIT}` })),
});

export const lsTool = defineTool<typeof parameters, LsToolDetails>({
	name: "ls",
	description:
		"List a directory, one name per line, sorted, hidden ones included. Directories end with /, links show what they point at.",
	parameters,
	readOnly: true,
	promptLine: "list a directory",
	async run({ path = ".", limit = DEFAULT_LIMIT }, { cwd, signal }) {
		signal.throwIfAborted();
		const directory = resolvePath(cwd, path);
		const shown = displayPath(cwd, directory);
		try {
			if (!(await stat(directory)).isDirectory()) return failed(`${shown} is a file. Use read to see what is in it.`);
			const entries = await readdir(directory, { withFileTypes: true });
			if (entries.length === 0)
				return { content: [{ type: "text", text: "(empty directory)" }], details: { entries: 0 } };
			entries.sort((a, b) => (a.name < b.name ? -1 : 1));
			const names = entries.slice(0, limit).map(async (entry) => {
				const name = dropControls(entry.name);
				if (entry.isDirectory()) return `${name}/`;
				if (!entry.isSymbolicLink()) return name;
				const target = await readlink(join(directory, entry.name)).catch(() => "?"); // gone since it was listed
				return `${name} -> ${dropControls(target)}`;
			});
			const cut = truncateHead((await Promise.all(names)).join("\n"));
			const { truncated } = cut.truncation;
			const notes = [
				entries.length > limit ? `[The first ${limit} of ${entries.length} entries. Raise limit, or use find.]` : "",
				truncated ? announceCut("first", cut, "Use find with a pattern.") : "",
			];
			return {
				content: [{ type: "text", text: [cut.text, ...notes].filter((part) => part !== "").join("\n\n") }],
				details: { entries: entries.length, ...(truncated && { truncation: cut.truncation }) },
			};
		} catch (thrown) {
			return failedOnFile(cwd, directory, thrown);
		}
	},
});
