import type { Static, TSchema } from "typebox";
import type { Tool, ToolContext, ToolResult } from "../../tools/tool.js";
import type { HookEventContext } from "./context.js";
import type { EntryComponent, EntryTheme } from "./ui.js";

/** Second argument of `run` in a tool of a hook. */
export interface HookToolContext extends ToolContext {
	/** The context object of handlers; its `signal` is that of the call. */
	readonly ctx: HookEventContext;
	/** Shows a partial result while the tool runs. */
	onUpdate(partial: ToolResult): void;
}

/** How a result is shown. */
export interface ToolRenderOptions {
	/** True where complete results are shown, such as in the transcript pager; false for a preview. */
	expanded: boolean;
	/** True while the tool runs and the result is the last one of `onUpdate`. */
	isPartial: boolean;
	/** True for the result of a failed or blocked call. */
	isError: boolean;
}

interface HookToolFields<TParameters extends TSchema, TDetails> extends Omit<Tool<TParameters, TDetails>, "run"> {
	/**
	 * Draws a call, instead of the tool's name and its arguments: text, which pi wraps, or a component. Called when the model
	 * has written the complete call, before pi has validated the arguments.
	 */
	renderCall?(args: Partial<Static<TParameters>>, theme: EntryTheme): string | EntryComponent;
	/** Draws a result, also a partial or failed one, instead of its text: text, which pi wraps, or a component. */
	renderResult?(result: ToolResult<TDetails>, theme: EntryTheme, options: ToolRenderOptions): string | EntryComponent;
}

/** Argument of `pi.tool`: a tool as in `tools/<name>/index.ts`, whose `run` also receives `ctx`, and how it is drawn. */
export type HookTool<TParameters extends TSchema = TSchema, TDetails = unknown> = HookToolFields<
	TParameters,
	TDetails
> &
	(
		| {
				/** Receives arguments that match `parameters`; sync or async. A thrown error becomes an error result, which names the hook. */
				run(args: Static<TParameters>, context: HookToolContext): ToolResult<TDetails> | Promise<ToolResult<TDetails>>;
		  }
		| {
				/** Like `run`, with the members of its context as arguments. */
				execute(
					toolCallId: string,
					params: Static<TParameters>,
					signal: AbortSignal,
					onUpdate: (partial: ToolResult) => void,
					ctx: HookEventContext,
				): ToolResult<TDetails> | Promise<ToolResult<TDetails>>;
		  }
	);
