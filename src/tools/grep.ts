import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Type } from "typebox";
import { type Glob, parseGlob } from "./glob.js";
import { announceCut, count, truncateHead } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { dropControls } from "./plain-text.js";
import { failed, failedOnFile } from "./result.js";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "./ripgrep.js";
import { defineTool, type GrepToolDetails, type ToolResult } from "./tool.js";

const DEFAULT_LIMIT = 100;
const MAX_LINE = 500;

const parameters = Type.Object({
	pattern: Type.String({ description: "Regular expression, or the text itself when literal is true" }),
	path: Type.Optional(Type.String({ description: "Directory or file to search; default: the working directory" })),
	glob: Type.Optional(
		Type.String({
			description:
				"Only files that fit, such as *.ts (names, at any depth), src/**/*.{ts,tsx} (paths from the searched directory) or !*.test.ts (all but these)",
		}),
	),
	ignoreCase: Type.Optional(Type.Boolean({ description: "Upper and lower case are the same; default false" })),
	literal: Type.Optional(Type.Boolean({ description: "Take pattern as text, not as an expression; default false" })),
	context: Type.Optional(
		Type.Integer({ minimum: 0, maximum: 50, description: "Lines to show before and after each match; default 0" }),
	),
	limit: Type.Optional(
		Type.Integer({ minimum: 1, description: `Most matching lines to return; default ${DEFAULT_LIMIT}` }),
	),
});

/** The lines of one file, in order. */
interface FileLines {
	path: string;
	lines: string[];
}

export const grepTool = defineTool<typeof parameters, GrepToolDetails>({
	name: "grep",
	description:
		"Search the contents of files with ripgrep. Returns path:line: text for matches and path-line- text around them. Files ignored by .gitignore and binary files are left out, hidden files are searched; long lines are cut after 500 characters.",
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
		const wanted = glob === undefined || glob.startsWith("!") ? undefined : parseGlob(glob);
		const found = new Map<string, FileLines>();
		let matches = 0;
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
				...globArguments(glob, wanted),
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
					if (line.isMatch && matches === limit) return false;
					if (line.isMatch) matches++;
					let file = found.get(shown);
					if (file === undefined) {
						file = { path: shown, lines: [] };
						found.set(shown, file);
					}
					file.lines.push(formatLine(shown, line));
					return true;
				},
			},
		);
		if (end.status === "aborted") return failed("Aborted by the user.");
		if (end.status === "failed") return failed(end.problem);
		return report([...found.values()], {
			matches,
			complete: end.complete,
			limit,
			shown: displayPath(cwd, target),
			glob,
		});
	},
});

/** Names are sorted out by ripgrep, where no glob can bring back what .gitignore hides; the rest of a path by us. */
function globArguments(glob: string | undefined, wanted: Glob | undefined): string[] {
	if (glob?.startsWith("!")) return ["--glob", glob];
	return typeArguments(wanted);
}

/** Limits a search to names, in a way that never brings back an ignored file as `--glob` would. */
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

/** `path NUL number : text`, or `-` for `:` around a match. Other lines are separators and remarks. */
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

function report(
	files: FileLines[],
	search: { matches: number; complete: boolean; limit: number; shown: string; glob: string | undefined },
): ToolResult<GrepToolDetails> {
	const { matches, complete, limit, shown, glob } = search;
	if (matches === 0) {
		const where = glob === undefined ? shown : `${shown} (files ${glob})`;
		return { content: [{ type: "text", text: `No matches in ${where}.` }], details: { matches: 0, files: 0 } };
	}
	// Ripgrep searches files side by side; what it finds is put in order here.
	files.sort((a, b) => (a.path < b.path ? -1 : 1));
	const cut = truncateHead(files.flatMap(({ lines }) => lines).join("\n"));
	const { truncated } = cut.truncation;
	const notes = [
		complete ? "" : `[The first ${count(limit, "match")} found, there are more. Narrow the search, or raise limit.]`,
		truncated ? announceCut("first", cut, "Narrow the search with pattern, path or glob.") : "",
	];
	return {
		content: [{ type: "text", text: [cut.text, ...notes].filter((part) => part !== "").join("\n\n") }],
		details: { matches, files: files.length, ...(truncated && { truncation: cut.truncation }) },
	};
}
