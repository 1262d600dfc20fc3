import type { JsonObject } from "../../config/json-file.js";
import { isRecord } from "../../util/is-record.js";

/** Most breakpoints that Anthropic accepts in a request. */
const MAX_MARKERS = 4;
/** Blocks of Anthropic and of chat completions that can have a marker. Thinking cannot. */
const MARKABLE: ReadonlySet<unknown> = new Set(["text", "image", "tool_use", "tool_result"]);

/**
 * Adds a cache breakpoint before the last messages of a request. It is like the one that pi-ai sets on the last message, so a
 * request without that gets none, and neither does one with as many as Anthropic accepts.
 * @param tail number of messages after it, not counting system messages
 * @returns a copy; the request itself if nothing is to change
 */
export function markBeforeTail(payload: JsonObject, tail: number): JsonObject {
	const { messages } = payload;
	if (!Array.isArray(messages) || tail < 1) return payload;
	const sent = messages.flatMap((message, index) =>
		isRecord(message) && message.role !== "system" && message.role !== "developer" ? [index] : [],
	);
	const last: unknown = messages[sent.at(-1) ?? -1];
	const marker = blocksOf(last).map(markerOf).find(isRecord);
	if (marker === undefined) return payload;
	const room = countMarkers(payload) < MAX_MARKERS ? payload : withoutFirstOfSystem(payload);
	if (room === null) return payload;
	for (const index of sent.slice(0, -tail).reverse()) {
		const marked = withMarker(messages[index], marker);
		if (marked) return { ...room, messages: messages.with(index, marked) };
	}
	return payload;
}

function blocksOf(message: unknown): readonly unknown[] {
	return isRecord(message) && Array.isArray(message.content) ? message.content : [];
}

/** The fields that mark a block, or the block that marks those before it; undefined for an unmarked block. */
function markerOf(block: unknown): JsonObject | undefined {
	if (!isRecord(block)) return undefined;
	const { cache_control, cachePoint } = block;
	if (isRecord(cachePoint)) return { cachePoint };
	return isRecord(cache_control) ? { cache_control } : undefined;
}

/** @returns null for a message that has a marker, or cannot have one */
function withMarker(message: unknown, marker: JsonObject): JsonObject | null {
	if (!isRecord(message)) return null;
	const { content } = message;
	if (typeof content === "string")
		return content === "" ? null : { ...message, content: [{ type: "text", text: content, ...marker }] };
	const blocks = blocksOf(message);
	if (blocks.length === 0 || blocks.some(markerOf)) return null;
	if ("cachePoint" in marker) return { ...message, content: [...blocks, marker] };
	const at = blocks.findLastIndex((block) => isRecord(block) && MARKABLE.has(block.type));
	const block = blocks[at];
	return isRecord(block) ? { ...message, content: blocks.with(at, { ...block, ...marker }) } : null;
}

function countMarkers({ messages, system, tools }: JsonObject): number {
	const lists = [system, tools, ...(Array.isArray(messages) ? messages.map(blocksOf) : [])];
	return lists.flatMap((list) => (Array.isArray(list) ? list : [])).filter((block) => markerOf(block)).length;
}

/** A Claude login sends two system texts with markers, of which the second suffices. @returns null if there are not two */
function withoutFirstOfSystem(payload: JsonObject): JsonObject | null {
	const { system } = payload;
	if (!Array.isArray(system) || system.filter(markerOf).length < 2) return null;
	const at = system.findIndex(markerOf);
	const { cache_control: _, ...block } = system[at];
	return { ...payload, system: system.with(at, block) };
}
