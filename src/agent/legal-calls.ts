import type { AssistantMessage, ToolCall } from "@mariozechner/pi-ai";
import { meantCall } from "../tools/foreign-calls.js";
import { legalToolName, uniqueCallId } from "../tools/legal-names.js";
import type { AnyTool } from "../tools/tool.js";
import { isRecord } from "../util/is-record.js";

/** Arguments nested deeper than this are dropped: no tool needs them, and code that writes or shows them would overflow. */
const MAX_DEPTH = 200;

/**
 * Makes the tool calls of a reply valid, so that they can be answered, stored and sent back: ids become non-empty strings
 * of printable ASCII that are unique in the reply, names become acceptable to providers, arguments become an object of limited depth.
 * Calls by names of other programs become those that they mean.
 * @param tools those that the model has
 * @returns the same message if nothing had to change
 */
export function normalizeToolCalls(message: AssistantMessage, tools: readonly AnyTool[] = []): AssistantMessage {
	const seen = new Set<string>();
	let changed = false;
	const content = message.content.map((block) => {
		if (block.type !== "toolCall") return block;
		const legal = meantCall(legalCall(block, seen), tools);
		if (legal !== block) changed = true;
		return legal;
	});
	return changed ? { ...message, content } : message;
}

const checkedArguments = new WeakSet<object>();

/**
 * Drops too deeply nested arguments from a streaming call before any event carries it: serializing the event would
 * overflow. Works in place, as the client also updates its message in place.
 */
export function dropDeepArguments(block: AssistantMessage["content"][number] | undefined): void {
	if (block?.type !== "toolCall" || !isRecord(block.arguments) || checkedArguments.has(block.arguments)) return;
	checkedArguments.add(block.arguments);
	if (isDeeperThan(block.arguments, MAX_DEPTH)) block.arguments = {};
}

function legalCall(call: ToolCall, seen: Set<string>): ToolCall {
	const id = uniqueCallId(textOf(call.id), seen);
	const name = legalToolName(textOf(call.name));
	const isUsable = isRecord(call.arguments) && !isDeeperThan(call.arguments, MAX_DEPTH);
	if (id === call.id && name === call.name && isUsable) return call;
	return { ...call, id, name, arguments: isUsable ? call.arguments : {} };
}

/** The client does not check what the provider streams: a value that should be a string may be anything. */
function textOf(value: unknown): string {
	return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Iterates level by level, because recursion would overflow on deep values. */
function isDeeperThan(value: object, maxDepth: number): boolean {
	let level: object[] = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > maxDepth) return true;
		level = level.flatMap((outer) =>
			Object.values(outer).filter((inner) => typeof inner === "object" && inner !== null),
		);
	}
	return false;
}
