import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { Static, TSchema } from "typebox";

/** What a tool may touch while it runs. */
export interface ToolContext {
	/** Absolute working directory of the session; relative paths are relative to it. */
	cwd: string;
	/** Aborted when the user stops the run. */
	signal: AbortSignal;
	toolCallId: string;
	/** Shell for `bash`; absent: the user's default. */
	shellPath?: string;
	/** A private directory (0700) for output too long to return. */
	tmpDir: string;
	/** Shows what there is so far. Call as often as you like; the host throttles. */
	onUpdate?(partial: ToolResult): void;
}

/** What a tool gives back: content for the model, details for the screen. */
export interface ToolResult<TDetails = unknown> {
	content: (TextContent | ImageContent)[];
	details?: TDetails;
	/** The call failed; the content says why and how to mend the call. */
	isError?: boolean;
}

/** Something the model can call. Data plus one function; all it may touch arrives as an argument. */
export interface Tool<TParameters extends TSchema = TSchema, TDetails = unknown> {
	name: string;
	/** What the model is told. */
	description: string;
	parameters: TParameters;
	/** Changes nothing: several of these in one message run at the same time. */
	readOnly?: boolean;
	/** One line for the system prompt's list of tools. */
	promptLine?: string;
	/** Guidelines for the system prompt that hold while this tool is on. */
	guidelines?: readonly string[];
	/** Runs with arguments that fit `parameters`. A thrown error becomes an error result. */
	run(args: Static<TParameters>, context: ToolContext): Promise<ToolResult<TDetails>>;
}

/** A tool of any shape, as lists keep it. */
export type AnyTool = Tool<TSchema, unknown>;

/** Types a tool by its schema: `run` receives what `parameters` describes. */
export function defineTool<TParameters extends TSchema, TDetails = undefined>(
	tool: Tool<TParameters, TDetails>,
): Tool<TParameters, TDetails> {
	return tool;
}

/** How an output was cut. Sizes are of the whole output and of what is left. */
export interface TruncationResult {
	truncated: boolean;
	truncatedBy: "lines" | "bytes" | null;
	totalLines: number;
	totalBytes: number;
	outputLines: number;
	outputBytes: number;
}

export interface BashToolDetails {
	truncation?: TruncationResult;
	/** Where the whole output is when it was cut. */
	fullOutputPath?: string;
	/** null when the command was killed. */
	exitCode?: number | null;
	durationMs?: number;
	/** What ended a command that did not end by itself; a signal by its name. */
	endedBy?: "timeout" | "abort" | NodeJS.Signals;
}

export interface ReadToolDetails {
	truncation?: TruncationResult;
	/** 1-based, inclusive; absent for images. */
	lines?: { first: number; last: number; total: number };
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
	/** Changed lines with context: each line starts with `+`, `-` or a blank, then its line number. */
	diff: string;
	added: number;
	removed: number;
}

export interface WriteToolDetails {
	created: boolean;
	lines: number;
}
