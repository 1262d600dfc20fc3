import type { AssistantMessage, ToolResultMessage } from "@mariozechner/pi-ai";
import type {
	Attachment,
	BeforeRequestEvent,
	HookEventName,
	HookEvents,
	PromptEvent,
	SessionEvent,
	ToolCallEvent,
	ToolResultEvent,
} from "../hooks/types.js";
import {
	type AppMessage,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isImageOmissionEntry,
	isMessageEntry,
	isSessionInfoEntry,
	isThinkingLevelChangeEntry,
	type MessageEntry,
	messageText,
	type SessionEntry,
	type ThinkingLevel,
} from "../log/entry.js";

/** The event that handlers receive at a point. Fields that depend on the context are computed during the replay. */
export type PointEvent =
	| SessionEvent
	| HookEvents["agent_start" | "agent_end" | "agent_settled" | "turn_start" | "turn_end"]
	| HookEvents["prompt" | "user_bash" | "thinking_level_changed" | "session_named"]
	| Omit<BeforeRequestEvent, "messageCount" | "tokens">
	| ToolCallEvent
	| ToolResultEvent
	| { type: "context" };

/** A point in a recorded session where the handlers of an event run. */
export interface EventPoint {
	/** Number of entries that existed at this point. */
	end: number;
	event: PointEvent;
}

/** Events that cannot be replayed: no entry has the headers of a response or a partial reply or result, and a replay knows no models and has no time. */
export const NOT_REPLAYED: readonly HookEventName[] = [
	"response",
	"message_update",
	"tool_update",
	"model_changed",
	"cache_expiring",
];

/**
 * The event points of a session that its entries record, in order: start, prompts, runs, turns, requests, tool calls and
 * results, shell commands of the user, finished compactions, names, changes of the thinking level, the next request, and
 * the end. Events that leave no entry are missing: the `before_…` events of a switch, branch, clear or compaction, and
 * commands; so are those of `NOT_REPLAYED`, and the first thinking level, which changes nothing that is known.
 */
export function eventPoints(entries: readonly SessionEntry[], sessionFile: string | null): EventPoint[] {
	const base = { type: "session", sessionFile, previousSessionFile: null } as const;
	const before = (end: number) => Object.freeze(entries.slice(0, end));
	const points: EventPoint[] = [{ end: 1, event: { ...base, reason: "start", isReload: false, entries: before(1) } }];
	const add = (end: number, ...events: readonly PointEvent[]) => {
		for (const event of events) points.push({ end, event });
	};
	let run: { messages: AppMessage[]; turnIndex: number; end: number } | null = null;
	const finish = () => {
		if (run) add(run.end, { type: "agent_end", messages: run.messages }, { type: "agent_settled" });
		run = null;
	};
	let level: ThinkingLevel | null = null;
	for (const [index, entry] of entries.entries()) {
		if (isCompactionEntry(entry)) {
			const { tokensBefore } = entry;
			const compacted = { reason: "compact", compactionEntry: entry, tokensBefore, fromHook: false } as const;
			add(index + 1, { ...base, entries: before(index + 1), ...compacted }, { type: "context" });
		}
		if (isContextUndoEntry(entry) || isContextFreezeEntry(entry) || isImageOmissionEntry(entry)) {
			add(index + 1, { type: "context" });
		}
		if (isSessionInfoEntry(entry)) add(index + 1, { type: "session_named", name: entry.name });
		if (isThinkingLevelChangeEntry(entry)) {
			const { thinkingLevel } = entry;
			if (level !== null && level !== thinkingLevel) {
				add(index + 1, { type: "thinking_level_changed", level: thinkingLevel, previousLevel: level });
			}
			level = thinkingLevel;
		}
		if (isMessageEntry(entry) && entry.message.role === "bashExecution") {
			const { command, excludeFromContext: excluded = false } = entry.message;
			add(index, { type: "user_bash", command: entry.typed ?? command, excluded });
		}
		// Tool results belong to the turn of their calls.
		if (!isMessageEntry(entry) || (entry.message.role !== "user" && entry.message.role !== "assistant")) continue;
		if (entry.message.role === "user") add(index, promptEvent(entry, run === null ? "start" : "steer"));
		if (run === null) add(index, { type: "agent_start" });
		run ??= { messages: [], turnIndex: 0, end: index + 1 };
		run.messages.push(entry.message);
		run.end = index + 1;
		if (entry.message.role !== "assistant") continue;
		const results = resultsOf(entry.message, entries, index);
		points.push(...turnPoints(index, entry.message, results, run.turnIndex));
		run.messages.push(...results.map(({ message }) => message));
		run.end = endOf(index, results);
		run.turnIndex++;
		if (results.length === 0) finish();
	}
	finish();
	add(entries.length, { type: "context" });
	add(entries.length, { ...base, reason: "shutdown", isReload: false, entries: before(entries.length) });
	return points;
}

/** The prompt as the user typed it. Its documents are part of the text, because the entry does not keep them apart. */
function promptEvent({ message, typed }: MessageEntry, delivery: PromptEvent["delivery"]): PromptEvent {
	const content = message.role === "user" && Array.isArray(message.content) ? message.content : [];
	const images = content.flatMap((block) => (block.type === "image" ? [block] : []));
	const attachments = images.map(({ data, mimeType }, index): Attachment => {
		const id = `image-${index + 1}`;
		const fileName = `${id}.${mimeType.split("/")[1] ?? "png"}`;
		return { id, type: "image", fileName, mimeType, size: Buffer.byteLength(data, "base64"), content: data };
	});
	return { type: "prompt", text: typed ?? messageText(message), attachments, source: "editor", delivery };
}

/** A tool result and its entry index. */
interface FoundResult {
	index: number;
	message: ToolResultMessage;
}

function turnPoints(
	index: number,
	message: AssistantMessage,
	results: readonly FoundResult[],
	turnIndex: number,
): EventPoint[] {
	const model = Object.freeze({ provider: message.provider, id: message.model });
	const tools = results.flatMap(({ message: result }): PointEvent[] => {
		const call = message.content.find((block) => block.type === "toolCall" && block.id === result.toolCallId);
		if (call?.type !== "toolCall") return [];
		const { id: toolCallId, name: toolName, arguments: input } = call;
		const { content, details, isError } = result;
		return [
			{ type: "tool_call", toolName, toolCallId, input },
			// The tool of this name recorded the details, so they have its type.
			{ type: "tool_result", toolName, toolCallId, input, content, details, isError } as ToolResultEvent,
		];
	});
	const toolResults = results.map(({ message: result }) => result);
	return [
		{ end: index, event: { type: "turn_start", turnIndex, timestamp: message.timestamp } },
		{ end: index, event: { type: "context" } },
		{ end: index, event: { type: "before_request", model, turnIndex } },
		...tools.map((event) => ({ end: index + 1, event })),
		{ end: endOf(index, results), event: { type: "turn_end", turnIndex, message, toolResults } },
	];
}

/** Results of the calls of a reply, in call order; empty if the reply did not finish. */
function resultsOf(message: AssistantMessage, entries: readonly SessionEntry[], index: number): FoundResult[] {
	if (message.stopReason === "error" || message.stopReason === "aborted") return [];
	const results = new Map<string, FoundResult>();
	for (let at = index + 1; at < entries.length; at++) {
		const entry = entries[at];
		if (!isMessageEntry(entry)) continue;
		if (entry.message.role === "assistant") break;
		if (entry.message.role === "toolResult")
			results.set(entry.message.toolCallId, { index: at, message: entry.message });
	}
	return message.content.flatMap((block) => (block.type === "toolCall" ? (results.get(block.id) ?? []) : []));
}

function endOf(index: number, results: readonly FoundResult[]): number {
	return Math.max(index, ...results.map((result) => result.index)) + 1;
}
