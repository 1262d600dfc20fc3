import { isDeepStrictEqual } from "node:util";
import { type LoggedMessage, type SessionToolResult, withoutStyles } from "../log/entry.js";
import type { AgentSessionEvent } from "../session/events.js";
import type { ToolResult } from "../tools/tool.js";
import type { JsonEvent } from "./event-schema.js";

type JsonMessage = Extract<JsonEvent, { type: "message_start" }>["message"];
type ToolResultReference = Extract<JsonMessage, { role: "toolResult" }>;

/**
 * Turns the events of a session into those of JSON mode: updates have only what is new, and each result of a tool is
 * printed once. Later events refer to it by `toolCallId`.
 */
export class JsonEvents {
	/** The results of the run that were printed, by call. */
	readonly #results = new Map<string, Pick<ToolResult, "content" | "details">>();
	/** The text of the running calls and of the user's shell command as last printed. */
	readonly #texts = new Map<string, string>();

	/** @returns null for an event without anything new */
	convert(event: AgentSessionEvent): JsonEvent | null {
		switch (event.type) {
			case "agent_start":
				this.#results.clear();
				return event;
			case "agent_end":
				return { ...event, messages: event.messages.map((message) => this.#message(message)) };
			case "turn_end":
				return { ...event, toolResults: event.toolResults.map((result) => this.#toolResult(result)) };
			case "message_start":
			case "message_end":
				return { ...event, message: this.#message(event.message) };
			case "message_update": {
				// The deltas contain the partial messages in a fraction of the size.
				const { partial: _, ...assistantMessageEvent } = { partial: undefined, ...event.assistantMessageEvent };
				return { type: event.type, assistantMessageEvent };
			}
			case "tool_execution_update": {
				const { type, toolCallId, partialResult } = event;
				const text = partialResult.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
				const delta = this.#delta(`tool ${toolCallId}`, text);
				return delta && { type, toolCallId, ...delta };
			}
			case "tool_execution_end":
				this.#texts.delete(`tool ${event.toolCallId}`);
				this.#results.set(event.toolCallId, event.result);
				return event;
			case "bash_update": {
				const delta = this.#delta(SHELL, event.output);
				return delta && { type: event.type, ...delta };
			}
			case "bash_done":
				this.#texts.delete(SHELL);
				return event;
			case "context_changed": {
				const { messages, hidden, problems } = event.context;
				return { type: event.type, messages: messages.length, hidden: hidden.length, problems };
			}
			default:
				return event;
		}
	}

	#delta(key: string, text: string): ReturnType<typeof textDelta> {
		const before = this.#texts.get(key) ?? "";
		this.#texts.set(key, text);
		return textDelta(before, text);
	}

	#message(message: LoggedMessage): JsonMessage {
		if (message.role === "toolResult") return this.#toolResult(message);
		return withoutStyles(message);
	}

	/** The result without its content, if that has been printed. */
	#toolResult(message: SessionToolResult): ToolResultReference {
		const { content, details, ...reference } = message;
		const printed = this.#results.get(message.toolCallId);
		if (printed && isDeepStrictEqual([printed.content, printed.details], [content, details])) return reference;
		this.#results.set(message.toolCallId, message);
		return message;
	}
}

const SHELL = "shell";

/** The change of a text: the kept part of the earlier text, all of it without `keep`, and then `delta`. */
interface TextDelta {
	delta: string;
	/** Start and end of the kept part in UTF-16 units. */
	keep?: readonly [start: number, end: number];
}

/** Maximum number of characters at the start of a text by which its place in the earlier text is found. */
const MAX_PROBE = 64;
/** Maximum number of places that are tried. */
const MAX_PLACES = 20;

/**
 * The change from one text to the next: text that was appended, replaced at the end, or, in a window that moves over a long
 * output, dropped at the start. @returns null if the texts are equal
 */
export function textDelta(before: string, after: string): TextDelta | null {
	if (before === after) return null;
	const same = sharedLength(before, 0, after);
	if (same === before.length) return { delta: after.slice(same) };
	let kept = { start: 0, length: same };
	for (const start of placesOf(after, before)) {
		const length = sharedLength(before, start, after);
		if (length > kept.length) kept = { start, length };
	}
	return { delta: after.slice(kept.length), keep: [kept.start, kept.start + kept.length] };
}

/** Positions in the earlier text at which the first line of a text is found; not its start. */
function placesOf(after: string, before: string): number[] {
	const [line = ""] = after.match(/^[^\n]*\n?/) ?? [];
	const probe = line.slice(0, MAX_PROBE);
	const places: number[] = [];
	for (let at = 0; probe !== "" && places.length < MAX_PLACES; ) {
		at = before.indexOf(probe, at + 1);
		if (at < 0) break;
		places.push(at);
	}
	return places;
}

/** How many characters of `after` are those of `before` from `start` on; never half of a surrogate pair. */
function sharedLength(before: string, start: number, after: string): number {
	const limit = Math.min(before.length - start, after.length);
	let length = 0;
	while (length < limit && before.charCodeAt(start + length) === after.charCodeAt(length)) length++;
	const isSplit = (after.charCodeAt(length - 1) & 0xfc00) === 0xd800;
	return length > 0 && isSplit ? length - 1 : length;
}
