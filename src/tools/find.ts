import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { parseGlob } from "./glob.js";
import { typeArguments } from "./grep.js";
import { announceCut, count, truncateHead } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { dropControls } from "./plain-text.js";
import { failed, failedOnFile } from "./result.js";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "./ripgrep.js";
import { defineTool, type FindToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 1000;
/** Names kept in memory to be sorted. */
const MAX_COLLECTED = 100_000;

const parameters = Type.Object({
	pattern: Type.String({
		description:
			"Glob for files: *.ts (names, at any depth), or with a / in it a path from the searched directory, such as src/**/*.{ts,tsx}",
	}),
	path: Type.Optional(Type.String({ description: "Directory to search; default: the working directory" })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Most files to return; default ${DEFAULT_LIMIT}` })),
});

export const findTool = defineTool<typeof parameters, FindToolDetails>({
	name: "find",
	description:
		"Find files by name or path. Returns their paths, sorted. Files ignored by .gitignore are left out, hidden ones are not. Finds files only; ls shows directories.",
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
		if (files.length === 0) {
			return { content: [{ type: "text", text: `No files fit in ${shownRoot}.` }], details: { files: 0 } };
		}
		files.sort();
		const cut = truncateHead(files.slice(0, limit).map(dropControls).join("\n"));
		const { truncated } = cut.truncation;
		const all = `${end.complete ? "" : "more than "}${count(files.length, "file")}`;
		const notes = [
			files.length > limit ? `[The first ${limit} of ${all}. Narrow the pattern, or raise limit.]` : "",
			truncated ? announceCut("first", cut, "Narrow the search with pattern or path.") : "",
		];
		return {
			content: [{ type: "text", text: [cut.text, ...notes].filter((part) => part !== "").join("\n\n") }],
			details: { files: files.length, ...(truncated && { truncation: cut.truncation }) },
		};
	},
});
