import { describeHookError, hookFailure, inspectable } from "../errors.js";
import { freezeDeep } from "../log/freeze.js";
import type { ToolResult } from "../tools/tool.js";
import { stripAll } from "../util/sanitize.js";
import { hookFileName } from "./hook-name.js";
import { createHookError, type RegisteringHook } from "./source-place.js";
import type { EntryComponent, EntryTheme, HookTool, ToolRenderOptions } from "./types.js";

/** The functions with which a hook draws calls of its tool. */
export interface ToolRenderer extends Pick<HookTool, "renderCall" | "renderResult"> {
	hook: RegisteringHook;
}

/** Finds how a hook draws calls of a tool; undefined if none does. */
export type FindToolRenderer = (name: string) => ToolRenderer | undefined;

/** A drawn call or result: lines, or why the hook could not draw them. */
export type Drawing<T> = { drawn: T } | { error: string };

/**
 * Draws a call with the function of its hook.
 * @param read turns what the function returns into lines or text; may throw
 * @returns null if the hook does not draw calls
 */
export function drawCall<T>(
	{ renderCall, hook }: ToolRenderer,
	args: Readonly<Record<string, unknown>>,
	theme: EntryTheme,
	read: (drawn: unknown) => T,
): Drawing<T> | null {
	if (!renderCall) return null;
	return contained(hook, "renderCall", () => read(renderCall(copyOf(args), theme)));
}

/** Like `drawCall`, for a result. A failure without details is not drawn: it is not the tool's own, such as a blocked call. */
export function drawResult<T>(
	{ renderResult, hook }: ToolRenderer,
	result: ToolResult,
	options: ToolRenderOptions,
	theme: EntryTheme,
	read: (drawn: unknown) => T,
): Drawing<T> | null {
	if (!renderResult || (options.isError && result.details === undefined)) return null;
	return contained(hook, "renderResult", () =>
		read(renderResult(copyOf(result), theme, Object.freeze({ ...options }))),
	);
}

/** Reads what a renderer returned. @throws TypeError if it is neither a text nor a component that returns lines */
export function readDrawn(drawn: unknown, width: number): { text: string } | { lines: string[] } {
	if (typeof drawn === "string") return { text: drawn };
	if (!isComponent(drawn)) throw new TypeError("the renderer returned neither a string nor a component");
	const lines: unknown = drawn.render(width);
	if (!Array.isArray(lines)) throw new TypeError("the component's render() did not return an array of lines");
	return { lines: lines.map(String) };
}

/** Like `readDrawn`, as text without control sequences, for plain output. Components draw 80 columns. */
export function readDrawnText(drawn: unknown): string {
	const read = readDrawn(drawn, 80);
	return stripAll("text" in read ? read.text : read.lines.join("\n")).trimEnd();
}

function isComponent(value: unknown): value is Pick<EntryComponent, "render"> {
	return typeof value === "object" && value !== null && "render" in value && typeof value.render === "function";
}

function contained<T>(hook: RegisteringHook, event: string, draw: () => T): Drawing<T> {
	try {
		return { drawn: draw() };
	} catch (thrown) {
		const failure = createHookError("hook_failed", hook, event, inspectable(thrown));
		return { error: describeHookError(hookFailure(failure), hookFileName(hook.path)) };
	}
}

const copies = new WeakMap<object, object>();

/** A frozen copy: a renderer must not change what is saved and sent. */
function copyOf<T extends object>(value: T): T {
	const known = copies.get(value);
	if (known) return known as T;
	const copy = freezeDeep(structuredClone(value));
	copies.set(value, copy);
	return copy;
}
