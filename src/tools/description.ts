import { displayPath } from "../util/home-path.js";
import { revealLine } from "../util/reveal.js";
import type { PathRoots } from "./path.js";
import type { ToolResult } from "./tool.js";

/** What a call does; `other` for tools that are not pi's own. */
export type CallKind = "read" | "search" | "edit" | "execute" | "think" | "other";

/** Arguments as the model wrote them: incomplete while they stream, and of any type, since old logs hold unchecked ones. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** A call to describe. */
export interface DescribableCall {
	readonly name: string;
	readonly args: CallArguments;
	/** The result once the call has ended. Hooks may have changed its details to anything. */
	readonly result?: Pick<ToolResult, "content" | "details" | "isError"> | undefined;
}

/** A call in words. Each text is one line without control characters; whoever shows it cuts and colors it. */
export interface CallDescription {
	kind: CallKind;
	/** The beginning of a title, such as `Read`; with a colon if a phrase. Empty if the subject says it, as a command does. */
	verb: string;
	/** What the call is about: `src/price.ts:1-80`, `"round" in src`. */
	subject: string;
	/** The subject for a row: of a command with several lines, the first one and the number of the others. */
	brief: string;
	/** Files and directories, as the model wrote them. `line` counts from 1. */
	paths: { path: string; line?: number }[];
	/** How it ended, in words: `4 hits, 3 files`, or `created` and `40 lines`. Empty if it has not, or nothing is to be said. */
	status: string[];
}

/** How the words of a description are chosen. */
export interface Wording {
	/** Paths are shown from these directories; absent, or with an empty `cwd`: as the model wrote them. */
	roots?: PathRoots;
	/** Stands for the end of a line. Default ` ↵ `. */
	lineEnd?: string;
}

/** The words for one tool. */
export interface ToolWords {
	kind: CallKind;
	verb: string;
	subject(call: DescribableCall, wording: Wording): string;
	/** Default: `subject`. */
	brief?(call: DescribableCall, wording: Wording): string;
	/** The line of the file on which the call works. */
	line?(call: DescribableCall): number | undefined;
	/** Asked after a success; of commands, after a failure too. */
	status?(call: DescribableCall): string[];
}

/** Untrusted text as one line. @param maxLength characters */
export function oneLine(text: string, maxLength: number, { lineEnd }: Wording = {}): string {
	return revealLine(text, { maxLength, ...(lineEnd === undefined ? {} : { lineEnd }) });
}

/** The argument `path` in one line. */
export function pathWords(call: DescribableCall, wording: Wording): string {
	const path = textArg(call, "path");
	return oneLine(wording.roots?.cwd ? displayPath(path, wording.roots) : path, 300, wording);
}

/** All arguments in one line: `target=production count=2`. @param maxLength characters */
export function argumentWords(
	{ args }: Pick<DescribableCall, "args">,
	maxLength: number,
	wording: Wording = {},
): string {
	const parts = Object.entries(args).map(([name, value]) => {
		const text = typeof value === "string" ? value : JSON.stringify(value);
		return `${name}=${text}`.slice(0, maxLength / 2);
	});
	return oneLine(parts.join(" "), maxLength, wording);
}

/** A string argument; empty when missing or of another type. */
export function textArg({ args }: Pick<DescribableCall, "args">, name: string): string {
	const value = args[name];
	return typeof value === "string" ? value : "";
}

/** A number argument; undefined when missing or of another type. */
export function numberArg({ args }: DescribableCall, name: string): number | undefined {
	return finite(args[name]);
}

/** A field of the result's details, or undefined. */
export function detail(
	{ result }: { readonly result?: { details?: unknown } | null | undefined },
	name: string,
): unknown {
	return field(result?.details, name);
}

/** A numeric field of the result's details; undefined when missing or of another type. */
export function numberDetail(call: Parameters<typeof detail>[0], name: string): number | undefined {
	return finite(detail(call, name));
}

/** An own field of an untyped value; undefined when it is missing or the value is not an object. */
export function field(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

function finite(value: unknown): number | undefined {
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
