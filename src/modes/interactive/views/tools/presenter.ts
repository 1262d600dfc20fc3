import type { ToolResult } from "../../../../tools/tool.js";
import { cleanLine } from "../../lines.js";
import type { ViewStyle } from "../view.js";

/** A tool call as far as it has come. */
export interface ToolCallState {
	readonly name: string;
	/** What the model wrote: any shape until the call is validated. */
	readonly args: Readonly<Record<string, unknown>>;
	readonly phase: "writing" | "waiting" | "running" | "finished" | "stopped";
	/** What came back; while it runs, what there is so far. */
	readonly result: ToolResult | null;
	readonly isError: boolean;
}

/** How one tool's calls look: `name  subject  …  outcome`, then the body under a rail. */
export interface ToolPresenter {
	/** What the call is about, on one line and already safe to draw. */
	subject(call: ToolCallState, style: ViewStyle): string;
	/** What came of it, in a few words; also `failed` when left out and the call failed. */
	outcome?(call: ToolCallState, style: ViewStyle): string;
	/** Lines of at most `width` columns, without the rail. */
	body?(call: ToolCallState, width: number, style: ViewStyle): string[];
	/** What the images of the result are known by. */
	imageName?(call: ToolCallState): string;
	/** True while what the body needs is still being loaded; `onReady` is called once it is there. */
	pending?(call: ToolCallState, onReady: () => void): boolean;
}

/** A text argument, or nothing when the model wrote something else there. */
export function textArg(call: ToolCallState, name: string): string {
	const value = call.args[name];
	return typeof value === "string" ? value : "";
}

/** A number argument, or undefined. */
export function numberArg(call: ToolCallState, name: string): number | undefined {
	const value = call.args[name];
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A field of the result's details that is a number; what tools and hooks put there is not typed. */
export function numberDetail(call: ToolCallState, name: string): number | undefined {
	const value = detail(call, name);
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A field of the result's details, or undefined. */
export function detail(call: ToolCallState, name: string): unknown {
	const details = call.result?.details;
	if (typeof details !== "object" || details === null) return undefined;
	return Object.entries(details).find(([key]) => key === name)?.[1];
}

/** All text of the result. */
export function resultText(call: ToolCallState): string {
	const blocks = call.result?.content ?? [];
	return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** A quoted word or phrase of the model, for subjects. */
export function quoted(text: string): string {
	return `"${cleanLine(text, 120)}"`;
}
