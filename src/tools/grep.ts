import { join } from "node:path";
import { plural } from "../util/format-amounts.js";
import { readStart } from "./file-content.js";
import { binaryKind } from "./file-type.js";
import { parseGlob } from "./glob.js";
import type { FoundLine, HostFile, ToolHost } from "./machine/machine.js";
import { dropControls } from "./output.js";
import { directoryWords, displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, joinNotes, listResult, malformedGlob, textResult } from "./result.js";
import { describeIgnored, searchMachine } from "./search-machine.js";
import { defineTool, type GrepToolDetails } from "./tool.js";

const DEFAULT_LIMIT = 100;
const MAX_LINE = 500;
/** Maximum length of all lines collected for sorting, in characters: far more than fits a result. */
const MAX_COLLECTED = 4_000_000;

const AROUND = { type: "integer", minimum: 0, maximum: 50 } as const;

/** Names of languages, as ripgrep has them → globs of their files. */
const FILE_TYPES: Readonly<Record<string, string>> = {
	c: "*.{c,h}",
	cpp: "*.{cc,cpp,cxx,hh,hpp,hxx,h}",
	cs: "*.cs",
	css: "*.{css,scss,sass,less}",
	go: "*.go",
	html: "*.{html,htm,xhtml}",
	java: "*.java",
	js: "*.{js,jsx,mjs,cjs,vue}",
	json: "*.{json,jsonl,jsonc}",
	kotlin: "*.{kt,kts}",
	lua: "*.lua",
	md: "*.{md,mdx,markdown}",
	php: "*.php",
	py: "*.{py,pyi}",
	ruby: "*.{rb,rake,gemspec}",
	rust: "*.rs",
	sh: "*.{sh,bash,zsh,ksh}",
	sql: "*.sql",
	swift: "*.swift",
	toml: "*.toml",
	ts: "*.{ts,tsx,mts,cts}",
	xml: "*.{xml,xsd,xsl,svg}",
	yaml: "*.{yaml,yml}",
	zig: "*.zig",
};

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
		type: { type: "string", description: "Only files of a language, such as ts, py or rust" },
		context: { ...AROUND, description: "Lines to show before and after each match" },
		before: { ...AROUND, description: "Lines before each match" },
		after: { ...AROUND, description: "Lines after each match" },
		output: {
			type: "string",
			enum: ["content", "files", "count"],
			description: "Lines (default), paths of files, or matches per file",
		},
		limit: {
			type: "integer",
			minimum: 1,
			description: `Maximum number of matching lines, or of files; default ${DEFAULT_LIMIT}`,
		},
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
	async run(args, { host, signal }) {
		const { pattern, path = ".", ignoreCase, literal, context = 0, output = "content", limit = DEFAULT_LIMIT } = args;
		const { before = context, after = context, type } = args;
		if (type !== undefined && !Object.hasOwn(FILE_TYPES, type)) {
			return failed(`Unknown type ${JSON.stringify(type)}. Use glob, or one of ${Object.keys(FILE_TYPES).join(", ")}.`);
		}
		if (type !== undefined && args.glob !== undefined) return failed("Give either glob or type, not both.");
		const glob = args.glob ?? (type === undefined ? undefined : FILE_TYPES[type]);
		const listsLines = output === "content";
		const { cwd } = host;
		const target = await resolvePath(host, path);
		/** The search only filters by the name of a file; `onLine` filters by the complete path. */
		const wanted = glob === undefined || glob.startsWith("!") ? undefined : parseGlob(glob);
		/** Path of a file → its lines in the result, in order. */
		const found = new Map<string, string[]>();
		const counts = new Map<string, number>();
		let matches = 0;
		let collected = 0;
		const end = await searchMachine(host, {
			path: target,
			...(glob?.startsWith("!") && { exclude: glob.slice(1) }),
			...(wanted?.namePatterns && { names: wanted.namePatterns }),
			lines: {
				pattern,
				literal: literal === true,
				ignoreCase: ignoreCase === true,
				before: listsLines ? before : 0,
				after: listsLines ? after : 0,
				maxColumns: MAX_LINE,
			},
			signal,
			onLine(line) {
				const absolute = join(target, line.path);
				const shown = displayPath(cwd, absolute);
				if (wanted && line.path !== "" && !wanted.matches(line.path) && !wanted.matches(shown)) return true;
				const isFull = listsLines ? matches === limit : counts.size === limit && !counts.has(shown);
				if (line.isMatch && (isFull || collected > MAX_COLLECTED)) return false;
				if (line.isMatch) {
					matches++;
					counts.set(shown, (counts.get(shown) ?? 0) + 1);
				}
				if (!listsLines) return true;
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
			if (kind instanceof Error) return failedOnFile(host, target, kind);
			if (kind !== undefined) {
				return failed(
					`${shown} is ${kind}, which grep does not search. Use bash with a program that reads such files.`,
				);
			}
			const files = args.glob !== undefined ? ` (files ${args.glob})` : type !== undefined ? ` (${type} files)` : "";
			return textResult(
				[`No matches in ${directoryWords(cwd, target)}${files}.`, malformedGlob(args.glob?.replace(/^!/, ""))],
				{
					matches: 0,
					files: 0,
				},
			);
		}
		const ignored = describeIgnored(host, end);
		if (!listsLines) {
			const paths = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
			const listed = paths.map(([file, count]) => (output === "files" ? file : `${file}: ${count}`));
			const more = end.complete
				? ""
				: `[First ${plural(counts.size, "file")} found; there are more. Narrow the search, or raise limit.]`;
			return listResult(listed, joinNotes(more, ignored), "Narrow the search with pattern, path or glob.", {
				matches,
				files: counts.size,
			});
		}
		const advice = matches === limit ? "Narrow the search, or raise limit." : "Narrow the search.";
		const note = end.complete ? "" : `[First ${plural(matches, "match", "matches")} found; there are more. ${advice}]`;
		// Ripgrep searches files in parallel, in no particular order.
		const lines = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, fileLines]) => fileLines);
		return listResult(lines, joinNotes(note, ignored), "Narrow the search with pattern, path or glob.", {
			matches,
			files: found.size,
		});
	},
});

/** Describes a binary file; undefined for text and for a directory; an error for a file that cannot be read. */
async function binaryKindOf(host: ToolHost, path: string, signal: AbortSignal): Promise<string | Error | undefined> {
	let file: HostFile | undefined;
	try {
		if ((await host.stat(path, { signal })).kind === "directory") return undefined;
		file = await host.openFile(path, { signal });
		return binaryKind(await readStart(file));
	} catch (error) {
		return error instanceof Error ? error : new Error(String(error));
	} finally {
		await file?.close();
	}
}

function formatLine(shown: string, { number, isMatch, text }: FoundLine): string {
	const cut = text.length > MAX_LINE * 1.5 ? `${text.slice(0, MAX_LINE)}…` : text;
	const mark = isMatch ? ":" : "-";
	return `${shown}${mark}${number}${mark} ${dropControls(cut).trimEnd()}`;
}
