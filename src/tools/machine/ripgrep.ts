import { setImmediate as nextTick } from "node:timers/promises";
import { linkSignals } from "../../util/abort.js";
import type { ProcessResult } from "../../util/process.js";
import { joinLines } from "../../util/trim.js";
import type { FoundLine, HostExecOptions, SearchRequest, SearchResult } from "./machine.js";

/** Starts a program that searches, and passes its output on. Never rejects. */
export type StartSearch = (
	options: Required<Pick<HostExecOptions, "signal" | "onOutput">>,
) => Promise<Pick<ProcessResult, "exitCode" | "failure">>;

/** Options of `runSearch`. */
export interface RunSearchOptions extends Pick<SearchRequest, "signal" | "givesWay"> {
	/** Terminates each record of the output. */
	separator: "\n" | "\0";
	/** Receives each record; returning false stops the search. */
	onRecord(record: string): boolean;
}

/** Arguments of every search: the user's configuration is ignored, ignore files also apply outside repositories. */
const COMMON_ARGUMENTS: readonly string[] = [
	"--no-config",
	"--color=never",
	"--hidden",
	"--no-require-git",
	"--no-messages",
	"--null",
];

/** Excludes git's own files. Must follow all other globs, which could include them again. */
const NOT_GIT: readonly string[] = ["--glob", "!.git"];

const MAX_STDERR = 4000;

/** Arguments of a search, without the last: `./` in the searched directory, or the name of a file in its directory. */
export function ripgrepArguments({ names, exclude, lines }: SearchRequest): string[] {
	// Unlike `--glob`, a type does not include files that .gitignore excludes.
	const types = names && [...names.flatMap((name) => ["--type-add", `wanted:${name}`]), "--type", "wanted"];
	const globs = [...(types ?? []), ...(exclude === undefined ? [] : ["--glob", `!${exclude}`]), ...NOT_GIT];
	if (lines === undefined) return [...COMMON_ARGUMENTS, "--files", ...globs, "--"];
	const { pattern, literal, ignoreCase, before, after, maxColumns } = lines;
	return [
		...COMMON_ARGUMENTS,
		"--line-number",
		"--no-heading",
		"--with-filename",
		"--engine=auto",
		`--max-columns=${maxColumns}`,
		"--max-columns-preview",
		...(ignoreCase ? ["--ignore-case"] : []),
		// Then a carriage return is part of the line end, and a pattern that names it finds none.
		...(/\r|\\r/.test(pattern) ? [] : ["--crlf"]),
		...(literal ? ["--fixed-strings"] : []),
		...(pattern.includes("\n") || (!literal && pattern.includes("\\n")) ? ["--multiline"] : []),
		...(before > 0 ? [`--before-context=${before}`] : []),
		...(after > 0 ? [`--after-context=${after}`] : []),
		...globs,
		`--regexp=${pattern}`,
		"--",
	];
}

/**
 * How the output of a search becomes results.
 * @param isFile whether the path is that of a file; called once there is output
 */
export function searchOptions(request: SearchRequest, isFile: () => boolean): RunSearchOptions {
	const { signal, givesWay, lines, onFile, onLine } = request;
	return {
		signal,
		...(givesWay === undefined ? {} : { givesWay }),
		separator: lines === undefined ? "\0" : "\n",
		onRecord(record) {
			if (lines === undefined) return onFile?.(withoutDot(record)) ?? true;
			const line = parseLine(record);
			if (line === undefined) return true;
			return onLine?.(isFile() ? { ...line, path: "" } : line) ?? true;
		},
	};
}

/** Runs a program that searches as ripgrep does, and passes on its output record by record. */
export async function runSearch(start: StartSearch, options: RunSearchOptions): Promise<SearchResult> {
	const stop = new AbortController();
	const linked = linkSignals(options.signal, stop.signal);
	const decoder = new TextDecoder();
	let rest = "";
	let records = 0;
	let complete = true;
	let stderr = "";
	const addOutput = (text: string): void => {
		const lines = (rest + text).split(options.separator);
		rest = lines.pop() ?? "";
		for (const line of lines) {
			if (!complete) break;
			records++;
			complete = options.onRecord(line);
		}
		if (!complete) stop.abort();
	};
	const outcome = await start({
		signal: linked.signal,
		onOutput: (chunk, stream) => {
			if (stream === "stdout") addOutput(decoder.decode(chunk, { stream: true }));
			else if (stderr.length < MAX_STDERR) stderr += chunk.toString();
			return options.givesWay ? nextTick() : undefined;
		},
	});
	linked.unlink();
	if (rest !== "" && complete) addOutput(options.separator);

	if (options.signal.aborted) return { status: "aborted" };
	if (outcome.failure !== undefined) return { status: "failed", problem: outcome.failure };
	if (outcome.exitCode === 127 && records === 0) return { status: "failed", problem: stderr.trim() };
	// An error along with results concerns single files, such as an unreadable one.
	if (outcome.exitCode === 2 && records === 0 && stderr !== "") return { status: "failed", problem: describe(stderr) };
	return { status: "done", complete };
}

/** `path NUL number : text` (without ripgrep, \x01 instead of NUL), with `-` instead of `:` for a context line. Other lines are separators and messages. */
function parseLine(record: string): FoundLine | undefined {
	const parsed = /^([^\0\x01]+)[\0\x01](\d+)([:-])(.*)$/s.exec(record);
	if (parsed === null) return undefined;
	const [, path = "", number, separator, text = ""] = parsed;
	return { path: withoutDot(path), number: Number(number), isMatch: separator === ":", text };
}

function withoutDot(path: string): string {
	return path.startsWith("./") ? path.slice(2) : path;
}

/** Extracts the problem with a pattern from ripgrep's messages. */
function describe(stderr: string): string {
	const pcre = /PCRE2: error compiling pattern at offset \d+: (.+)/.exec(stderr)?.[1];
	const reason = pcre ?? /^error: (.+)$/m.exec(stderr)?.[1];
	if (reason === undefined) return `ripgrep: ${joinLines(stderr.replace(/^rg: /, "").trim())}`;
	return `The pattern is not a valid regular expression: ${reason}. Escape special characters with \\, or set literal to true.`;
}
