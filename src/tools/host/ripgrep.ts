import { basename, dirname, join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { linkSignals } from "../../util/abort.js";
import type { ProcessResult } from "../../util/process.js";
import type { FoundLine, HostExecOptions, SearchRequest, SearchResult } from "./tool-host.js";

/** Starts ripgrep with these arguments. Never rejects. */
export type StartRipgrep = (
	args: readonly string[],
	options: Required<Pick<HostExecOptions, "cwd" | "signal" | "onOutput">>,
) => Promise<ProcessResult>;

/** Options of `runRipgrep`. */
export interface RipgrepOptions extends Pick<SearchRequest, "signal" | "givesWay"> {
	/** Working directory of ripgrep. */
	cwd: string;
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

/**
 * Searches with ripgrep. Never rejects.
 * @param isFile whether the path is that of a file
 */
export function searchWithRipgrep(start: StartRipgrep, request: SearchRequest, isFile: boolean): Promise<SearchResult> {
	const { path, signal, givesWay, lines, onFile, onLine } = request;
	const options = { cwd: isFile ? dirname(path) : path, signal, ...(givesWay === undefined ? {} : { givesWay }) };
	if (lines === undefined) {
		return runRipgrep(start, [...COMMON_ARGUMENTS, "--files", ...nameArguments(request), ...NOT_GIT, "--", "./"], {
			...options,
			separator: "\0",
			onRecord: (record) => onFile?.(withoutDot(record)) ?? true,
		});
	}
	const { pattern, literal, ignoreCase, context, maxColumns } = lines;
	return runRipgrep(
		start,
		[
			...COMMON_ARGUMENTS,
			"--line-number",
			"--no-heading",
			"--with-filename",
			"--engine=auto",
			`--max-columns=${maxColumns}`,
			"--max-columns-preview",
			...(ignoreCase ? ["--ignore-case"] : []),
			...(literal ? ["--fixed-strings"] : []),
			...(pattern.includes("\n") || (!literal && pattern.includes("\\n")) ? ["--multiline"] : []),
			...(context > 0 ? [`--context=${context}`] : []),
			...nameArguments(request),
			...NOT_GIT,
			`--regexp=${pattern}`,
			"--",
			isFile ? join(".", basename(path)) : "./",
		],
		{
			...options,
			separator: "\n",
			onRecord(record) {
				const line = parseLine(record);
				if (line === undefined) return true;
				return onLine?.(isFile ? { ...line, path: "" } : line) ?? true;
			},
		},
	);
}

/** Runs ripgrep and passes on its output record by record. */
export async function runRipgrep(
	start: StartRipgrep,
	args: readonly string[],
	options: RipgrepOptions,
): Promise<SearchResult> {
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
	const outcome = await start(args, {
		cwd: options.cwd,
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
	// An error along with results concerns single files, such as an unreadable one.
	if (outcome.exitCode === 2 && records === 0 && stderr !== "") return { status: "failed", problem: describe(stderr) };
	return { status: "done", complete };
}

/** Arguments that limit a search to names. Unlike `--glob`, a type does not include files that .gitignore excludes. */
function nameArguments({ names, exclude }: SearchRequest): string[] {
	const excluded = exclude === undefined ? [] : ["--glob", `!${exclude}`];
	if (names === undefined) return excluded;
	return [...names.flatMap((name) => ["--type-add", `wanted:${name}`]), "--type", "wanted", ...excluded];
}

/** `path NUL number : text`, with `-` instead of `:` for a context line. Other lines are separators and messages. */
function parseLine(record: string): FoundLine | undefined {
	const parsed = /^([^\0]+)\0(\d+)([:-])(.*)$/s.exec(record);
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
	if (reason === undefined)
		return `ripgrep: ${stderr
			.replace(/^rg: /, "")
			.trim()
			.split(/\s*\n\s*/)
			.join(" ")}`;
	return `The pattern is not a valid regular expression: ${reason}. Escape special characters with \\, or set literal to true.`;
}
