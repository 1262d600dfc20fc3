import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { parseGlob } from "./glob.js";
import { typeArguments } from "./grep.js";
import { count, dropControls } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, listResult, textResult } from "./result.js";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "./ripgrep.js";
import { defineTool, type FindToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 1000;
/** Maximum number of names kept in memory for sorting. */
const MAX_COLLECTED = 100_000;

const parameters = Type.Object({
	pattern: Type.String({
		description:
			"Glob for files: *.ts (matches names at any depth), or a pattern with / for paths relative to the searched directory, such as src/**/*.{ts,tsx}",
	}),
	path: Type.Optional(Type.String({ description: "Directory to search; default: the working directory" })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Maximum number of files; default ${DEFAULT_LIMIT}` })),
});

export const findTool = defineTool<typeof parameters, FindToolDetails>({
	name: "find",
	description:
		"Find files by name or path. Returns their paths, sorted. Files ignored by .gitignore are excluded, hidden files are included. Finds only files; use ls for directories.",
	parameters,
	readOnly: true,
	promptLine: "find files by name",
	async run({ pattern, path = ".", limit = DEFAULT_LIMIT }, { cwd, signal }) {
		const root = resolvePath(cwd, path);
		const shownRoot = displayPath(cwd, root);
		try {
			if (!(await stat(root)).isDirectory()) return failed(`${shownRoot} is a file. Give a directory as path.`);
		} catch (thrown) {
			return failedOnFile(cwd, root, thrown);
		}
		const glob = parseGlob(pattern);
		const files: string[] = [];
		const end = await search([...COMMON_ARGUMENTS, "--files", ...typeArguments(glob), ...NOT_GIT, "--", "./"], {
			cwd: root,
			signal,
			separator: "\0",
			onRecord: (record) => {
				const inside = record.startsWith("./") ? record.slice(2) : record;
				const shown = displayPath(cwd, join(root, inside));
				if (glob.matches(inside) || glob.matches(shown)) files.push(shown);
				return files.length < MAX_COLLECTED;
			},
		});
		if (end.status === "aborted") return failed("Aborted by the user.");
		if (end.status === "failed") return failed(end.problem);
		if (files.length === 0) return textResult([`No matching files in ${shownRoot}.`], { files: 0 });
		files.sort();
		const all = `${end.complete ? "" : "more than "}${count(files.length, "file")}`;
		const note = files.length > limit ? `[First ${limit} of ${all}. Narrow the pattern, or raise limit.]` : "";
		const lines = files.slice(0, limit).map(dropControls);
		return listResult(lines, note, "Narrow the search with pattern or path.", { files: files.length });
	},
});
