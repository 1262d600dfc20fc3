import { errnoCode } from "../util/fs.js";
import { dropControls } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, listResult, textResult } from "./result.js";
import { defineTool, type LsToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 500;

const parameters = {
	type: "object",
	properties: {
		path: { type: "string", description: "Directory to list; default: the working directory" },
		limit: { type: "integer", minimum: 1, description: `Maximum number of entries; default ${DEFAULT_LIMIT}` },
	},
} as const;

export const lsTool = defineTool<typeof parameters, LsToolDetails>({
	name: "ls",
	description:
		"List a directory, one name per line, sorted, including hidden entries. Directories end with /, links show their target.",
	parameters,
	readOnly: true,
	promptLine: "list a directory",
	async run({ path = ".", limit = DEFAULT_LIMIT }, { host, signal }) {
		signal.throwIfAborted();
		const directory = await resolvePath(host, path);
		try {
			const entries = await host.list(directory, { signal });
			if (entries.length === 0) return textResult(["(empty directory)"], { entries: 0 });
			entries.sort((a, b) => (a.name < b.name ? -1 : 1));
			const names = entries.slice(0, limit).map(({ name, kind, target = "?" }) => {
				if (kind === "directory") return `${dropControls(name)}/`;
				return dropControls(kind === "link" ? `${name} -> ${target}` : name);
			});
			const all = entries.length;
			const note = all > limit ? `[First ${limit} of ${all} entries. Raise limit, or use find.]` : "";
			return listResult(names, note, "Use find with a pattern.", { entries: all });
		} catch (thrown) {
			signal.throwIfAborted();
			// Also the code of a path below a file.
			if (errnoCode(thrown) === "ENOTDIR" && (await host.stat(directory).catch(() => undefined))) {
				return failed(`${displayPath(host.cwd, directory)} is a file. Use read to see its content.`);
			}
			return failedOnFile(host, directory, thrown);
		}
	},
});
