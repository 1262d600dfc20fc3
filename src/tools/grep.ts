import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Type } from "typebox";
import { type Glob, parseGlob } from "./glob.js";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "./host/ripgrep.js";
import { count, dropControls } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, listResult, textResult } from "./result.js";
import { defineTool, type GrepToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 100;
const MAX_LINE = 500;
/** Maximum length of all lines collected for sorting, in characters: far more than fits a result. */
const MAX_COLLECTED = 4_000_000;

const parameters = Type.Object({
	pattern: Type.String({ description: "Regular expression, or the text itself when literal is true" }),
	path: Type.Optional(Type.String({ description: "Directory or file to search; default: the working directory" })),
	glob: Type.Optional(
		Type.String({
			description:
				"Only matching files, such as *.ts (matches names at any depth), src/**/*.{ts,tsx} (paths relative to the searched directory) or !*.test.ts (excludes files)",
		}),
	),
	ignoreCase: Type.Optional(Type.Boolean({ description: "Ignore case; default false" })),
	literal: Type.Optional(
		Type.Boolean({ description: "Treat pattern as plain text, not as a regular expression; default false" }),
	),
	context: Type.Optional(
		Type.Integer({ minimum: 0, maximum: 50, description: "Lines to show before and after each match; default 0" }),
	),
	limit: Type.Optional(
		Type.Integer({ minimum: 1, description: `Maximum number of matching lines; default ${DEFAULT_LIMIT}` }),
	),
});

export const grepTool = defineTool<typeof parameters, GrepToolDetails>({
	name: "grep",
	description:
		"Search the contents of files with ripgrep. Returns path:line: text for matches and path-line- text for context lines. Files ignored by .gitignore and binary files are excluded, hidden files are included; long lines are cut after 500 characters.",
	parameters,
	readOnly: true,
	promptLine: "search file contents",
	async run({ pattern, path = ".", glob, ignoreCase, literal, context = 0, limit = DEFAULT_LIMIT }, { cwd, signal }) {
		const target = resolvePath(cwd, path);
		let isFile: boolean;
		try {
			isFile = !(await stat(target)).isDirectory();
		} catch (thrown) {
			return failedOnFile(cwd, target, thrown);
		}
		const root = isFile ? dirname(target) : target;
		/** Ripgrep only filters by the name of a file; `onRecord` filters by the complete path. */
		const wanted = glob === undefined || glob.startsWith("!") ? undefined : parseGlob(glob);
		/** Path of a file → its lines in the result, in order. */
		const found = new Map<string, string[]>();
		let matches = 0;
		let collected = 0;
		const end = await search(
			[
				...COMMON_ARGUMENTS,
				"--line-number",
				"--no-heading",
				"--with-filename",
				"--engine=auto",
				`--max-columns=${MAX_LINE}`,
				"--max-columns-preview",
				...(ignoreCase ? ["--ignore-case"] : []),
				...(literal ? ["--fixed-strings"] : []),
				...(pattern.includes("\n") || (!literal && pattern.includes("\\n")) ? ["--multiline"] : []),
				...(context > 0 ? [`--context=${context}`] : []),
				...(glob?.startsWith("!") ? ["--glob", glob] : typeArguments(wanted)),
				...NOT_GIT,
				`--regexp=${pattern}`,
				"--",
				isFile ? join(".", basename(target)) : "./",
			],
			{
				cwd: root,
				signal,
				separator: "\n",
				onRecord: (record) => {
					const line = parseLine(record);
					if (line === undefined) return true;
					const absolute = join(root, line.path);
					const shown = displayPath(cwd, absolute);
					if (wanted && !isFile && !wanted.matches(line.path) && !wanted.matches(shown)) return true;
					if (line.isMatch && (matches === limit || collected > MAX_COLLECTED)) return false;
					if (line.isMatch) matches++;
					const lines = found.get(shown) ?? [];
					const text = formatLine(shown, line);
					collected += text.length;
					lines.push(text);
					found.set(shown, lines);
					return true;
				},
			},
		);
		if (end.status === "aborted") return failed("Aborted by the user.");
		if (end.status === "failed") return failed(end.problem);
		if (matches === 0) {
			const files = glob === undefined ? "" : ` (files ${glob})`;
			return textResult([`No matches in ${displayPath(cwd, target)}${files}.`], { matches: 0, files: 0 });
		}
		const advice = matches === limit ? "Narrow the search, or raise limit." : "Narrow the search.";
		const note = end.complete ? "" : `[First ${count(matches, "match")} found; there are more. ${advice}]`;
		// Ripgrep searches files in parallel, in no particular order.
		const lines = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, fileLines]) => fileLines);
		return listResult(lines, note, "Narrow the search with pattern, path or glob.", { matches, files: found.size });
	},
});

/** Arguments that limit a search to names. Unlike `--glob`, a type does not include files that .gitignore excludes. */
export function typeArguments(glob: Glob | undefined): string[] {
	if (!glob?.namePatterns) return [];
	return [...glob.namePatterns.flatMap((name) => ["--type-add", `wanted:${name}`]), "--type", "wanted"];
}

interface MatchedLine {
	/** Relative to the searched directory. */
	path: string;
	number: number;
	isMatch: boolean;
	text: string;
}

/** `path NUL number : text`, with `-` instead of `:` for a context line. Other lines are separators and messages. */
function parseLine(record: string): MatchedLine | undefined {
	const parsed = /^(?:\.\/)?([^\0]+)\0(\d+)([:-])(.*)$/s.exec(record);
	if (parsed === null) return undefined;
	const [, path = "", number, separator, text = ""] = parsed;
	return { path, number: Number(number), isMatch: separator === ":", text };
}

function formatLine(shown: string, { number, isMatch, text }: MatchedLine): string {
	const cut = text.length > MAX_LINE * 1.5 ? `${text.slice(0, MAX_LINE)}…` : text;
	const mark = isMatch ? ":" : "-";
	return `${shown}${mark}${number}${mark} ${dropControls(cut).trimEnd()}`;
}
