import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { Static, TSchema } from "typebox";
import type { ToolJobs } from "./background-jobs.js";
import type { ToolHost } from "./machine/machine.js";
import type { TruncationResult } from "./output.js";

/** The environment of a tool call. */
export interface ToolContext {
	/** Absolute working directory of the session on the machine where pi runs. */
	cwd: string;
	/** The machine on which tools work; relative paths start at its `cwd`. */
	host: ToolHost;
	/** Aborted when the user stops the run. */
	signal: AbortSignal;
	toolCallId: string;
	/** Shell for `bash`; absent: the default shell. */
	shellPath?: string;
	/** A private directory (0700) for output that is too long for the result. */
	tmpDir: string;
	/** The background commands of the session. */
	jobs?: ToolJobs;
	/** Shows a partial result. The host throttles updates. */
	onUpdate?(partial: ToolResult): void;
}

/** The result of a tool call: content for the model, details for the screen. */
export interface ToolResult<TDetails = unknown> {
	content: (TextContent | ImageContent)[];
	details?: TDetails;
	/** The call failed; the content says why and how to correct it. */
	isError?: boolean;
	/** If all results of a message say so, the run ends with them: no request follows, except for queued prompts. */
	terminate?: boolean;
}

/** A tool that the model can call: data and one function, which receives everything it uses as arguments. */
export interface Tool<TParameters extends TSchema = TSchema, TDetails = unknown> {
	name: string;
	/** For the model. */
	description: string;
	/** pi's own tools have plain JSON Schemas, which TypeBox only types: loading its constructors takes 10 ms. */
	parameters: TParameters;
	/** The tool changes nothing, so several calls in one message run in parallel. */
	readOnly?: boolean;
	/** One line for the list of tools in the system prompt. */
	promptLine?: string;
	/** Guidelines for the system prompt, included while the tool is on. */
	guidelines?: readonly string[];
	/**
	 * Checks arguments instead of the session, for a schema that pi must not run: that of another program.
	 * @throws with a message that a model can act on
	 */
	checkArguments?(args: unknown): Record<string, unknown>;
	/** Receives arguments that match `parameters`; sync or async. A thrown error becomes an error result. */
	run(args: Static<TParameters>, context: ToolContext): ToolResult<TDetails> | Promise<ToolResult<TDetails>>;
}

/** A tool with any parameters and details. */
export type AnyTool = Tool<TSchema, unknown>;

/** Types a tool by its schema: the arguments of `run` have the type that `parameters` describes. */
export function defineTool<TParameters extends TSchema, TDetails = undefined>(
	tool: Tool<TParameters, TDetails>,
): Tool<TParameters, TDetails> {
	return tool;
}

export interface BashToolDetails {
	truncation?: TruncationResult;
	/** Path of the complete output, if it was cut and saved. */
	fullOutputPath?: string;
	/** null if the command was killed. */
	exitCode?: number | null;
	durationMs?: number;
	/** Why a command was killed: the timeout, an abort, or the name of a signal. */
	endedBy?: "timeout" | "abort" | NodeJS.Signals;
	/** The id of a command that runs in the background. */
	job?: string;
	/** The user moved it there while the call waited for it. */
	moved?: true;
}

/** Absent fields: of a list. */
export interface JobsToolDetails {
	/** The id of the command. */
	job?: string;
	isRunning?: boolean;
	truncation?: TruncationResult;
}

export interface ReadToolDetails {
	truncation?: TruncationResult;
	/** 1-based, inclusive; absent for images. `total` is absent for a file over 50 MB that was not read to its end. */
	lines?: { first: number; last: number; total?: number };
}

export interface GrepToolDetails {
	truncation?: TruncationResult;
	matches?: number;
	files?: number;
}

export interface FindToolDetails {
	truncation?: TruncationResult;
	files?: number;
}

export interface LsToolDetails {
	truncation?: TruncationResult;
	entries?: number;
}

export interface EditToolDetails {
	/**
	 * Changed lines with three context lines. Each starts with `+`, `-` or a space, followed by its right-aligned number (in
	 * the old text for removed lines, else in the new text) and the line. ` …` replaces omitted lines.
	 */
	diff: string;
	added: number;
	removed: number;
}

/** `diff`, `added` and `removed` only if it replaced a text file of at most 1 MB. */
export interface WriteToolDetails extends Partial<EditToolDetails> {
	created: boolean;
	lines: number;
}
