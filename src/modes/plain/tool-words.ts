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

/** `bash npm test`, `grep round in src`: the tool with its most informative arguments. */
export function toolTitle(name: string, args: Readonly<Record<string, unknown>>): string {
	const [command, pattern, path] = ["command", "pattern", "path"].map((key) => {
		const value = args[key];
		return typeof value === "string" ? value : "";
	});
	const known = command || [pattern, path].filter(Boolean).join(" in ");
	const rest = Object.keys(args).length > 0 ? JSON.stringify(args) : "";
	return plainLine(`${name} ${known || rest}`, 200);
}

/**
 * Describes the end of a call: `done in 2.4 s, exit 1`, `done in 0.1 s, 80 lines`, `failed in 0.1 s`, `blocked by gate`.
 * @param blockedBy name of the hook that blocked it
 * @param title identifies the call if several are running
 */
export function resultWords(
	{ name, title = "" }: { name: string; title?: string },
	{
		result,
		isError,
		elapsedMs,
		blockedBy,
	}: { result: ToolResult; isError: boolean; elapsedMs: number; blockedBy?: string | undefined },
): string {
	if (blockedBy !== undefined) return `blocked by ${plainLine(blockedBy, 40)}${title === "" ? "" : `: ${title}`}`;
	const { durationMs, exitCode } = detailsOf(result);
	const ended = exitCode === null ? "killed" : typeof exitCode === "number" ? `exit ${exitCode}` : "";
	const time = `in ${formatDuration(typeof durationMs === "number" ? durationMs : elapsedMs)}`;
	const how = isError && ended === "" ? "failed" : "done";
	const words = [time, ended || (isError ? "" : countOf(name, result))].filter(Boolean).join(", ");
	return title === "" ? `${how} ${words}` : `${how}: ${title}, ${words}`;
}

/** The printed part of a result: the end of a command's output, changed lines, or an error. */
export function resultLines(name: string, result: ToolResult, isError: boolean): string[] {
	const { diff, exitCode } = detailsOf(result);
	if (typeof diff === "string") return changeLines(diff);
	const text = textOf(result).trimEnd();
	if (exitCode !== undefined) return outputLines(text, exitCode);
	if (isError || !QUIET.has(name)) return headLines(text);
	return [];
}

/** The end of a command's output with the number of omitted lines, and without the exit code. */
export function outputLines(output: string, exitCode: unknown): string[] {
	const text = withoutExitCode(output.trimEnd(), exitCode);
	if (text === "") return [];
	const lines = text.split("\n");
	const hidden = lines.length > MAX_LINES + 1 ? lines.length - MAX_LINES : 0;
	const note = hidden > 0 ? [`${INDENT}(${plural(hidden, "earlier line")} omitted)`] : [];
	return [...note, ...lines.slice(hidden).map(outputLine)];
}

/** Tools whose results are printed only as a count. */
const QUIET: ReadonlySet<string> = new Set(["read", "grep", "find", "ls", "write", "edit"]);

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

function countOf(name: string, result: ToolResult): string {
	const { matches, files, entries, lines, created } = detailsOf(result);
	if (name === "write" && typeof lines === "number") {
		return `${created === true ? "created" : "replaced"}, ${plural(lines, "line")}`;
	}
	if (typeof matches === "number") {
		return `${plural(matches, "match", "matches")}${typeof files === "number" ? ` in ${plural(files, "file")}` : ""}`;
	}
	if (typeof files === "number") return plural(files, "file");
	if (typeof entries === "number") return plural(entries, "entry", "entries");
	if (typeof lines !== "object" || lines === null) return "";
	const { first, last } = Object.fromEntries(Object.entries(lines));
	return typeof first === "number" && typeof last === "number" ? plural(Math.max(0, last - first + 1), "line") : "";
}

/** The details of a result by name; tools and hooks do not type them. */
function detailsOf({ details }: ToolResult): Record<string, unknown> {
	return typeof details === "object" && details !== null ? Object.fromEntries(Object.entries(details)) : {};
}

function textOf({ content }: ToolResult): string {
	return content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}

function withoutExitCode(text: string, exitCode: unknown): string {
	const ending = `exit code ${String(exitCode)}`;
	const body = text.endsWith(ending) ? text.slice(0, -ending.length).trimEnd() : text;
	return body.replace(/^\(no output\)\s*/, "");
}
