import { editWords, readWords, writeWords } from "./describe-files.js";
import { findWords, grepWords, lsWords } from "./describe-search.js";
import { bashWords, jobsWords } from "./describe-shell.js";
import { tasksWords } from "./describe-tasks.js";
import {
	argumentWords,
	type CallDescription,
	type DescribableCall,
	oneLine,
	type ToolWords,
	type Wording,
} from "./description.js";

const WORDS: ReadonlyMap<string, ToolWords> = new Map([
	["read", readWords],
	["bash", bashWords],
	["edit", editWords],
	["write", writeWords],
	["grep", grepWords],
	["find", findWords],
	["ls", lsWords],
	["jobs", jobsWords],
	["tasks", tasksWords],
]);

/**
 * A tool call in words, for everything that shows calls: the screen, the plain and print modes, ACP, the HTML export. Tools of
 * hooks, of MCP servers and unknown ones are described by their arguments. Never throws for arguments that are JSON.
 */
export function describeCall(call: DescribableCall, wording: Wording = {}): CallDescription {
	const words = WORDS.get(call.name) ?? anyWords(call.name);
	const { kind, verb } = words;
	const { path } = call.args;
	const worksOnPath = kind === "read" || kind === "search" || kind === "edit";
	const line = words.line?.(call);
	// Only a command has words for its failure.
	const hasStatus = call.result !== undefined && (call.result.isError !== true || kind === "execute");
	return {
		kind,
		verb,
		subject: words.subject(call, wording),
		brief: (words.brief ?? words.subject)(call, wording),
		paths:
			worksOnPath && typeof path === "string" && path !== "" ? [{ path, ...(line !== undefined && { line }) }] : [],
		status: hasStatus ? (words.status?.(call) ?? []) : [],
	};
}

/** `target=production count=2` */
function anyWords(name: string): ToolWords {
	return {
		kind: "other",
		verb: oneLine(name, 100),
		subject: (call, wording) => argumentWords(call, 400, wording),
	};
}
