import { join } from "node:path";
import { plural } from "../util/format-amounts.js";
import { readStart } from "./file-content.js";
import { binaryKind } from "./file-type.js";
import { parseGlob } from "./glob.js";
import type { FoundLine, HostFile, ToolHost } from "./host/tool-host.js";
import { dropControls } from "./output.js";
import { directoryWords, displayPath, resolvePath } from "./path.js";
import { failed, listResult, malformedGlob, textResult } from "./result.js";
import { searchHost } from "./search-host.js";
import { defineTool, type GrepToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 100;
const MAX_LINE = 500;
/** Maximum length of all lines collected for sorting, in characters: far more than fits a result. */
const MAX_COLLECTED = 4_000_000;

const parameters = {
	type: "object",
	properties: {
		pattern: { type: "string", description: "Regular expression, or the text itself when literal is true" },
		path: { type: "string", description: "Directory or file to search; default: the working directory" },
		glob: {
			type: "string",
			description:
				"Only matching files, such as *.ts (matches names at any depth), src/**/*.{ts,tsx} (paths relative to the searched directory) or !*.test.ts (excludes files)",
		},
		ignoreCase: { type: "boolean", description: "Ignore case; default false" },
		literal: {
			type: "boolean",
			description: "Treat pattern as plain text, not as a regular expression; default false",
		},
		context: {
			type: "integer",
			minimum: 0,
			maximum: 50,
			description: "Lines to show before and after each match; default 0",
		},
		limit: { type: "integer", minimum: 1, description: `Maximum number of matching lines; default ${DEFAULT_LIMIT}` },
	},
	required: ["pattern"],
} as const;

export const grepTool = defineTool<typeof parameters, GrepToolDetails>({
	name: "grep",
	description:
		"Search the contents of files with ripgrep. Returns path:line: text for matches and path-line- text for context lines. Files ignored by .gitignore and binary files are excluded, hidden files are included; long lines are cut after 500 characters.",
	parameters,
	readOnly: true,
	promptLine: "search file contents",
	async run({ pattern, path = ".", glob, ignoreCase, literal, context = 0, limit = DEFAULT_LIMIT }, { host, signal }) {
		const { cwd } = host;
		const target = await resolvePath(host, path);
		/** The search only filters by the name of a file; `onLine` filters by the complete path. */
		const wanted = glob === undefined || glob.startsWith("!") ? undefined : parseGlob(glob);
		/** Path of a file → its lines in the result, in order. */
		const found = new Map<string, string[]>();
		let matches = 0;
		let collected = 0;
		const end = await searchHost(host, {
			path: target,
			...(glob?.startsWith("!") && { exclude: glob.slice(1) }),
			...(wanted?.namePatterns && { names: wanted.namePatterns }),
			lines: { pattern, literal: literal === true, ignoreCase: ignoreCase === true, context, maxColumns: MAX_LINE },
			signal,
			onLine(line) {
				const absolute = join(target, line.path);
				const shown = displayPath(cwd, absolute);
				if (wanted && line.path !== "" && !wanted.matches(line.path) && !wanted.matches(shown)) return true;
				if (line.isMatch && (matches === limit || collected > MAX_COLLECTED)) return false;
				if (line.isMatch) matches++;
				const lines = found.get(shown) ?? [];
				const text = formatLine(shown, line);
				collected += text.length;
				lines.push(text);
				found.set(shown, lines);
				return true;
			},
		});
		if ("content" in end) return end;
		if (matches === 0) {
			const shown = displayPath(cwd, target);
			const kind = await binaryKindOf(host, target, signal);
			if (kind !== undefined) {
				return failed(
					`${shown} is ${kind}, which grep does not search. Use bash with a program that reads such files.`,
				);
			}
			const files = glob === undefined ? "" : ` (files ${glob})`;
			return textResult(
				[`No matches in ${directoryWords(cwd, target)}${files}.`, malformedGlob(glob?.replace(/^!/, ""))],
				{
					matches: 0,
					files: 0,
				},
			);
		}
		const advice = matches === limit ? "Narrow the search, or raise limit." : "Narrow the search.";
		const note = end.complete ? "" : `[First ${plural(matches, "match", "matches")} found; there are more. ${advice}]`;
		// Ripgrep searches files in parallel, in no particular order.
		const lines = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, fileLines]) => fileLines);
		return listResult(lines, note, "Narrow the search with pattern, path or glob.", { matches, files: found.size });
	},
});

/** Describes a binary file; undefined for text and for a directory. */
async function binaryKindOf(host: ToolHost, path: string, signal: AbortSignal): Promise<string | undefined> {
	let file: HostFile | undefined;
	try {
		file = await host.openFile(path, { signal });
		return binaryKind(await readStart(file));
	} catch {
		return undefined; // a directory
	} finally {
		await file?.close();
	}
}

function formatLine(shown: string, { number, isMatch, text }: FoundLine): string {
	const cut = text.length > MAX_LINE * 1.5 ? `${text.slice(0, MAX_LINE)}…` : text;
	const mark = isMatch ? ":" : "-";
	return `${shown}${mark}${number}${mark} ${dropControls(cut).trimEnd()}`;
}
