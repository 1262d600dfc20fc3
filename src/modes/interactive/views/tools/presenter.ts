import type { ToolResult } from "../../../../tools/tool.js";
import type { RemoteMachine, ViewStyle } from "../view.js";

/** Current state of a tool call. */
export interface ToolCallState {
	readonly name: string;
	/** Arguments as the model wrote them, of any type until the call is validated. */
	readonly args: Readonly<Record<string, unknown>>;
	readonly phase: "writing" | "waiting" | "running" | "finished" | "stopped";
	/** The result; during the call, the output so far. */
	readonly result: ToolResult | null;
	readonly isError: boolean;
	/** Name of the hook that blocked the call; empty if none did. */
	readonly blockedBy: string;
	/** The change that hooks made to the arguments, in one line; empty for none. */
	readonly change: string;
	/** The machine on which it runs or ran; null: this one. */
	readonly remote: RemoteMachine | null;
}

/** Draws the calls of one tool below their heads. `words` are those of `CallDescription.status`. */
export interface ToolPresenter {
	/** How the call ended, once it has; undefined for `words`. A mark follows the status of a failed call. */
	status?(call: ToolCallState, words: readonly string[]): string | undefined;
	/** Lines of at most `width` columns, without the rail. */
	body?(call: ToolCallState, width: number, style: ViewStyle, words: readonly string[]): string[];
	/** Name of the images in the result. */
	imageName?(call: ToolCallState): string;
	/** True while a module for the body is loading. Calls `onReady` when it has loaded. */
	pending?(call: ToolCallState, onReady: () => void): boolean;
}

/** All text of the result. */
export function resultText(call: ToolCallState): string {
	const blocks = call.result?.content ?? [];
	return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
