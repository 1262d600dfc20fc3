import { setImmediate as nextTick } from "node:timers/promises";
import { linkSignals } from "../util/abort.js";
import { spawnGroup } from "../util/process.js";

/** The result of a search; `complete` is false if `onRecord` stopped it. */
export type SearchResult =
	| { status: "done"; complete: boolean }
	| { status: "aborted" }
	| { status: "failed"; problem: string };

/** Options of a search. */
export interface SearchOptions {
	/** Working directory of ripgrep. */
	cwd: string;
	signal: AbortSignal;
	/** Terminates each record of the output. */
	separator: "\n" | "\0";
	/** Receives each record; returning false stops the search. */
	onRecord(record: string): boolean;
	/** Yields to the event loop after each chunk of output: slower, but does not block keys and frames. */
	givesWay?: boolean;
}

/** Arguments of every search: the user's configuration is ignored, ignore files also apply outside repositories. */
export const COMMON_ARGUMENTS: readonly string[] = [
	"--no-config",
	"--color=never",
	"--hidden",
	"--no-require-git",
	"--no-messages",
	"--null",
];

/** Excludes git's own files. Must follow all other globs, which could include them again. */
export const NOT_GIT: readonly string[] = ["--glob", "!.git"];

const MAX_STDERR = 4000;

let located: Promise<string> | undefined;

/** Runs ripgrep and passes on its output record by record. */
export async function search(args: readonly string[], options: SearchOptions): Promise<SearchResult> {
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
	located ??= locate();
	const outcome = await spawnGroup(await located, args, {
		cwd: options.cwd,
		signal: linked.signal,
		announcedByShell: true,
		onOutput: (chunk, stream) => {
			if (stream === "stdout") addOutput(decoder.decode(chunk, { stream: true }));
			else if (stderr.length < MAX_STDERR) stderr += chunk.toString();
			return options.givesWay ? nextTick() : undefined;
		},
	});
	linked.unlink();
	if (rest !== "" && complete) addOutput(options.separator);

	if (options.signal.aborted) return { status: "aborted" };
	if (outcome.failure !== undefined) {
		const problem = `The tools grep and find need ripgrep, which failed to start (${outcome.failure}). Use grep or find with bash; the user can install the package "ripgrep".`;
		return { status: "failed", problem };
	}
	// An error along with results concerns single files, such as an unreadable one.
	if (outcome.exitCode === 2 && records === 0 && stderr !== "") return { status: "failed", problem: describe(stderr) };
	return { status: "done", complete };
}

/** The ripgrep installed with pi, else `rg` on the PATH. */
async function locate(): Promise<string> {
	try {
		return (await import("@vscode/ripgrep")).rgPath;
	} catch {
		return "rg";
	}
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
