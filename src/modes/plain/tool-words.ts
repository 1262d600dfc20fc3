import { describeCall } from "../../tools/describe-call.js";
import { commandOutput } from "../../tools/describe-shell.js";
import { type CallDescription, type DescribableCall, detail, numberDetail } from "../../tools/description.js";
import type { PathRoots } from "../../tools/path.js";
import type { ToolResult } from "../../tools/tool.js";
import { changesOnly, parseDiff } from "../../util/read-diff.js";
import { formatDuration, plural } from "../format.js";
import { plainLine } from "./plain-output.js";

/** Maximum number of printed lines of a result. */
const MAX_LINES = 10;
const MAX_CHANGES = 20;
/** Maximum characters of a line of tool output. */
const MAX_LINE_LENGTH = 4000;
const INDENT = "  ";

/** A call that has ended. `blockedBy`: name of the hook that blocked it. */
export interface EndedCall {
	result: ToolResult;
	isError: boolean;
	elapsedMs: number;
	blockedBy?: string | undefined;
}

/** A call in the words of plain mode, whose lines are read aloud: without a sign for the end of a line. */
export function plainWords(call: DescribableCall, roots: PathRoots): CallDescription {
	return describeCall(call, { roots, lineEnd: " " });
}

/** `bash npm test`, `grep "round" in src`: the tool and what the call is about. */
export function toolTitle(name: string, { subject }: CallDescription): string {
	return plainLine(`${name} ${subject}`, 200);
}

/**
 * Describes the end of a call: `done in 2.4 s, exit 1`, `done in 0.1 s, 80 lines`, `failed in 0.1 s`, `blocked by gate`.
 * @param title identifies the call if several are running; else empty
 */
export function resultWords({ status }: CallDescription, title: string, call: EndedCall): string {
	const { result, isError, elapsedMs, blockedBy } = call;
	if (blockedBy !== undefined) return `blocked by ${plainLine(blockedBy, 40)}${title === "" ? "" : `: ${title}`}`;
	const time = `in ${formatDuration(numberDetail({ result }, "durationMs") ?? elapsedMs)}`;
	const how = isError && status.length === 0 ? "failed" : "done";
	// Changed lines are printed.
	const words = [time, ...(detail({ result }, "diff") ? [] : status)].join(", ");
	return title === "" ? `${how} ${words}` : `${how}: ${title}, ${words}`;
}

/** The printed part of a result: the end of a command's output, changed lines, or an error. */
export function resultLines({ kind }: CallDescription, { result, isError }: EndedCall): string[] {
	const diff = detail({ result }, "diff");
	if (typeof diff === "string") return changeLines(diff);
	const text = textOf(result).trimEnd();
	if (detail({ result }, "exitCode") !== undefined) return outputLines(text, isError);
	const isCounted = kind === "read" || kind === "search" || kind === "edit";
	return isCounted && !isError ? [] : headLines(text);
}

/** The end of a command's output with the number of omitted lines, and without the line that says how it ended. */
export function outputLines(output: string, failed: boolean): string[] {
	const text = commandOutput(output, failed);
	if (text === "") return [];
	const lines = text.split("\n");
	const hidden = lines.length > MAX_LINES + 1 ? lines.length - MAX_LINES : 0;
	const note = hidden > 0 ? [`${INDENT}(${plural(hidden, "earlier line")} omitted)`] : [];
	return [...note, ...lines.slice(hidden).map(outputLine)];
}

/** The first lines of a result, with the number of omitted ones. */
export function headLines(text: string): string[] {
	if (text === "") return [];
	const lines = text.split("\n");
	const hidden = lines.length > MAX_LINES + 1 ? lines.length - MAX_LINES : 0;
	const shown = hidden > 0 ? lines.slice(0, MAX_LINES) : lines;
	return [...shown, ...(hidden > 0 ? [`(${plural(hidden, "more line")} omitted)`] : [])].map(outputLine);
}

function outputLine(line: string): string {
	const rest = line.length - MAX_LINE_LENGTH;
	if (rest <= 0) return INDENT + line;
	return `${INDENT}${line.slice(0, MAX_LINE_LENGTH)} (${plural(rest, "more character")} omitted)`;
}

function changeLines(diff: string): string[] {
	const changes = changesOnly(parseDiff(diff)).filter(({ kind }) => kind !== "gap");
	const shown = changes
		.slice(0, MAX_CHANGES)
		.map(({ kind, number, text }) => `${INDENT}line ${number} ${kind}: ${text.trim()}`);
	const left = changes.length - shown.length;
	return left > 0 ? [...shown, `${INDENT}(${plural(left, "more changed line")} omitted)`] : shown;
}

function textOf({ content }: ToolResult): string {
	return content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}
