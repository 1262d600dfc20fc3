import { freezeDeep } from "../log/freeze.js";
import type { ToolResult } from "../tools/tool.js";
import { monotonicMs } from "../util/clock.js";
import { stripAll } from "../util/sanitize.js";
import type { EntryTheme, HookComponent, HookTool, ToolRenderOptions } from "./types.js";

/** The functions with which a hook draws calls of its tool. */
export interface ToolRenderer extends Pick<HookTool, "renderCall" | "renderResult"> {
	/** Names the hook and the place of an error in its source. */
	describeError(event: string, thrown: unknown): string;
	/** Receives the time of each drawing in ms. */
	drew(ms: number): void;
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
	renderer: ToolRenderer,
	args: Readonly<Record<string, unknown>>,
	theme: EntryTheme,
	read: (drawn: unknown) => T,
): Drawing<T> | null {
	const { renderCall } = renderer;
	if (!renderCall) return null;
	return contained(renderer, "renderCall", () => read(renderCall(copyOf(args), theme)));
}

/** Like `drawCall`, for a result. A failure without details is not drawn: it is not the tool's own, such as a blocked call. */
export function drawResult<T>(
	renderer: ToolRenderer,
	result: ToolResult,
	options: ToolRenderOptions,
	theme: EntryTheme,
	read: (drawn: unknown) => T,
): Drawing<T> | null {
	const { renderResult } = renderer;
	if (!renderResult || (options.isError && result.details === undefined)) return null;
	return contained(renderer, "renderResult", () =>
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

/** True for a component, as factories and renderers of hooks return it. */
export function isComponent(value: unknown): value is HookComponent {
	return typeof value === "object" && value !== null && "render" in value && typeof value.render === "function";
}

function contained<T>(renderer: ToolRenderer, event: string, draw: () => T): Drawing<T> {
	const startedAt = monotonicMs();
	try {
		return { drawn: draw() };
	} catch (thrown) {
		return { error: renderer.describeError(event, thrown) };
	} finally {
		renderer.drew(monotonicMs() - startedAt);
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
