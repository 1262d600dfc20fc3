import type { AssistantMessage, ToolCall } from "@mariozechner/pi-ai";

/** What providers accept as the name of a tool. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Arguments nested deeper than this are none: no tool takes such, and what writes or shows them would overflow. */
const MAX_DEPTH = 200;

/**
 * Makes the tool calls of a reply ones that can be answered, kept and sent back, whatever the provider has sent: every id
 * a text, not empty and unique in the reply, names that providers accept, arguments an object of some depth at most.
 * @returns the same message when nothing had to change
 */
export function normalizeToolCalls(message: AssistantMessage): AssistantMessage {
	const seen = new Set<string>();
	let changed = false;
	const content = message.content.map((block) => {
		if (block.type !== "toolCall") return block;
		const legal = legalCall(block, seen);
		if (legal !== block) changed = true;
		return legal;
	});
	return changed ? { ...message, content } : message;
}

const lookedAt = new WeakSet<object>();

/**
 * Takes from a call that streams in what `normalizeToolCalls` would take from it in the end, before anybody is told: with
 * arguments nested too deep not even an event can be written. In place, as the client's message grows in place.
 */
export function dropDeepArguments(block: AssistantMessage["content"][number] | undefined): void {
	if (block?.type !== "toolCall" || !isObject(block.arguments) || lookedAt.has(block.arguments)) return;
	lookedAt.add(block.arguments);
	if (isDeeperThan(block.arguments, MAX_DEPTH)) block.arguments = {};
}

function legalCall(call: ToolCall, seen: Set<string>): ToolCall {
	const base = textOf(call.id) || "call";
	let id = base;
	for (let n = 2; seen.has(id); n++) id = `${base}_${n}`;
	seen.add(id);
	const name = legalName(textOf(call.name));
	const isUsable = isObject(call.arguments) && !isDeeperThan(call.arguments, MAX_DEPTH);
	if (id === call.id && name === call.name && isUsable) return call;
	return { ...call, id, name, arguments: isUsable ? call.arguments : {} };
}

/** A provider's stream is not checked by its client: what should be a text may be anything. */
function textOf(value: unknown): string {
	return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function legalName(name: string): string {
	if (TOOL_NAME.test(name)) return name;
	return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}

function isObject(value: unknown): value is object {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Goes level by level: a recursion would end where what it looks for begins. */
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
