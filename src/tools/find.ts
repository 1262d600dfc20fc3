import { join } from "node:path";
import { plural } from "../util/format-amounts.js";
import { parseGlob } from "./glob.js";
import { dropControls } from "./output.js";
import { directoryWords, displayPath, resolvePath } from "./path.js";
import { joinNotes, listResult, malformedGlob, textResult } from "./result.js";
import { describeIgnored, searchMachine } from "./search-machine.js";
import { defineTool, type FindToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 1000;
/** Maximum number of paths in a result; more would not fit its other limits. */
const MAX_LIMIT = 20_000;

const parameters = {
	type: "object",
	properties: {
		pattern: {
			type: "string",
			description:
				"Glob for files: *.ts (matches names at any depth), or a pattern with / for paths relative to the searched directory, such as src/**/*.{ts,tsx}",
		},
		path: { type: "string", description: "Directory to search; default: the working directory" },
		limit: { type: "integer", minimum: 1, description: `Maximum number of files; default ${DEFAULT_LIMIT}` },
	},
	required: ["pattern"],
} as const;

export const findTool = defineTool<typeof parameters, FindToolDetails>({
	name: "find",
	description:
		"Find files by name or path. Returns their paths, sorted. Files ignored by .gitignore are excluded, hidden files are included. Finds only files; use ls for directories.",
	parameters,
	readOnly: true,
	promptLine: "find files by name",
	async run({ pattern, path = ".", limit = DEFAULT_LIMIT }, { host, signal }) {
		const { cwd } = host;
		const root = await resolvePath(host, path);
		const glob = parseGlob(pattern);
		const files = new FirstPaths(Math.min(limit, MAX_LIMIT));
		const end = await searchMachine(host, {
			path: root,
			...(glob.namePatterns && { names: glob.namePatterns }),
			signal,
			givesWay: true,
			onFile(inside) {
				const shown = displayPath(cwd, join(root, inside));
				if (glob.matches(inside) || glob.matches(shown)) files.add(shown);
				return true;
			},
		});
		if ("content" in end) return end;
		if (files.total === 0)
			return textResult([`No matching files in ${directoryWords(cwd, root)}.`, malformedGlob(pattern)], { files: 0 });
		const lines = files.sorted().map(dropControls);
		const advice = limit < MAX_LIMIT ? "Narrow the pattern, or raise limit." : "Narrow the pattern.";
		const note =
			files.total > lines.length ? `[First ${lines.length} of ${plural(files.total, "file")}. ${advice}]` : "";
		const notes = joinNotes(note, describeIgnored(host, end));
		return listResult(lines, notes, "Narrow the search with pattern or path.", { files: files.total });
	},
});

/** The first paths in sorted order of any number of paths in any order. Keeps at most twice as many in memory. */
class FirstPaths {
	/** Number of paths added. */
	total = 0;
	#paths: string[] = [];
	/** Paths after this one are not among the first. */
	#last: string | undefined;

	constructor(private readonly limit: number) {}

	add(path: string): void {
		this.total++;
		if (this.#last !== undefined && path > this.#last) return;
		this.#paths.push(path);
		if (this.#paths.length < 2 * this.limit) return;
		this.#paths = this.sorted();
		this.#last = this.#paths.at(-1);
	}

	sorted(): string[] {
		return this.#paths.sort().slice(0, this.limit);
	}
}
