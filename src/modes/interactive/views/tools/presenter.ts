import type { ToolResult } from "../../../../tools/tool.js";
import { cleanLine } from "../../lines.js";
import type { RemotePlace, ViewStyle } from "../view.js";

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
	readonly remote: RemotePlace | null;
}

/** Formats the calls of one tool: `name  subject  …  status`, then the body next to a rail. */
export interface ToolPresenter {
	/** One line that identifies the call, already safe to draw. */
	subject(call: ToolCallState, style: ViewStyle): string;
	/** The result in a few words; undefined for `failed` or nothing. A mark follows the status of a failed call. */
	status?(call: ToolCallState, style: ViewStyle): string | undefined;
	/** Lines of at most `width` columns, without the rail. */
	body?(call: ToolCallState, width: number, style: ViewStyle): string[];
	/** Name of the images in the result. */
	imageName?(call: ToolCallState): string;
	/** True while a module for the body is loading. Calls `onReady` when it has loaded. */
	pending?(call: ToolCallState, onReady: () => void): boolean;
}

/** A string argument; empty when missing or of another type. */
export function textArg(call: ToolCallState, name: string): string {
	const value = call.args[name];
	return typeof value === "string" ? value : "";
}

/** A number argument; undefined when missing or of another type. */
export function numberArg(call: ToolCallState, name: string): number | undefined {
	return finite(call.args[name]);
}

/** A numeric field of the result's details. Details are untyped, because hooks may change them. */
export function numberDetail(call: ToolCallState, name: string): number | undefined {
	return finite(detail(call, name));
}

function finite(value: unknown): number | undefined {
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A field of the result's details, or undefined. */
export function detail(call: ToolCallState, name: string): unknown {
	return field(call.result?.details, name);
}

/** An own field of an untyped value; undefined when it is missing or the value is not an object. */
export function field(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

/** All text of the result. */
export function resultText(call: ToolCallState): string {
	const blocks = call.result?.content ?? [];
	return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** A quoted text argument, for subjects. */
export function quoted(text: string): string {
	return `"${cleanLine(text, 120)}"`;
}
