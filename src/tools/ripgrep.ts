import { setImmediate as nextTick } from "node:timers/promises";
import { linkSignals } from "../util/abort.js";
import { spawnGroup } from "../util/process.js";

/** How ripgrep ended. */
export type SearchEnd =
	/** `complete` is false when `onRecord` wanted no more. */
	{ status: "done"; complete: boolean } | { status: "aborted" } | { status: "failed"; problem: string };

/** What ripgrep is run on. */
export interface SearchOptions {
	/** Directory in which it runs. */
	cwd: string;
	signal: AbortSignal;
	/** What ends a record of its output. */
	separator: "\n" | "\0";
	/** Gets each record; false ends the search. */
	onRecord(record: string): boolean;
	/** Keys and frames have their turn after each piece of output: it takes longer and holds up nothing. */
	givesWay?: boolean;
}

/**
 * Arguments of every search: nothing from the user's configuration; hidden files but not git's own; ignore files hold
 * outside of repositories too.
 */
export const COMMON_ARGUMENTS: readonly string[] = [
	"--no-config",
	"--color=never",
	"--hidden",
	"--no-require-git",
	"--no-messages",
	"--null",
];

/** Comes after all other globs, so that none of them lets git's own files in again. */
export const NOT_GIT: readonly string[] = ["--glob", "!.git"];

const MAX_STDERR = 4000;

let located: Promise<string> | undefined;

/** Runs ripgrep and hands out its output record by record. */
export async function search(args: readonly string[], options: SearchOptions): Promise<SearchEnd> {
	const stop = new AbortController();
	const linked = linkSignals(options.signal, stop.signal);
	const decoder = new TextDecoder();
	let rest = "";
	let records = 0;
	let complete = true;
	let stderr = "";
	const take = (text: string): void => {
		const parts = (rest + text).split(options.separator);
		rest = parts.pop() ?? "";
		for (const part of parts) {
			if (!complete) return;
			records++;
			complete = options.onRecord(part);
		}
		if (!complete) stop.abort();
	};
	located ??= locate();
	const outcome = await spawnGroup(await located, args, {
		cwd: options.cwd,
		signal: linked.signal,
		onOutput: (chunk, stream) => {
			if (stream === "stdout") take(decoder.decode(chunk, { stream: true }));
			else if (stderr.length < MAX_STDERR) stderr += chunk.toString();
			return options.givesWay ? nextTick() : undefined;
		},
	});
	linked.unlink();
	if (rest !== "" && complete) take(options.separator);

	if (options.signal.aborted) return { status: "aborted" };
	if (outcome.failure !== undefined) return { status: "failed", problem: describeStart(outcome.failure) };
	// An error with results is about single files, such as one that may not be read.
	if (outcome.exitCode === 2 && records === 0 && stderr !== "") return { status: "failed", problem: describe(stderr) };
	return { status: "done", complete };
}

/** The binary that comes with pi, else whatever `rg` is on the PATH. */
async function locate(): Promise<string> {
	try {
		return (await import("@vscode/ripgrep")).rgPath;
	} catch {
		return "rg";
	}
}

function describeStart(failure: string): string {
	return `The tools grep and find need ripgrep, which cannot be started (${failure}). Use grep or find with bash; the user can install the package "ripgrep".`;
}

/** What is wrong with a pattern, out of an explanation for terminals. */
function describe(stderr: string): string {
	const pcre = /PCRE2: error compiling pattern at offset \d+: (.+)/.exec(stderr)?.[1];
	const plain = /^error: (.+)$/m.exec(stderr)?.[1];
	const reason = pcre ?? plain;
	if (reason === undefined)
		return `ripgrep: ${stderr
			.replace(/^rg: /, "")
			.replace(/\s*\n\s*/g, " ")
			.trim()}`;
	return `The pattern is no valid regular expression: ${reason}. Escape special characters with \\, or set literal to true.`;
}
