import type { AssistantMessage, AssistantMessageEvent, ToolCall } from "@mariozechner/pi-ai";
import type { AppMessage } from "../log/entry.js";

/** Marks a call whose arguments were cut off: pi-ai completes them. A symbol is neither logged nor sent. */
const CUT_OFF = Symbol("arguments cut off");
/** Where pi-ai collects the arguments of a call until the stream ends it. */
const SCRATCH = ["index", "streamIndex", "partialArgs", "partialJson"];

/** A reply that still arrives, without the fields in which pi-ai collects it. */
export function withoutScratch<M extends AppMessage>(message: M): M {
	if (message.role !== "assistant") return message;
	const content = message.content.map((block) =>
		SCRATCH.some((name) => name in block)
			? Object.fromEntries(Object.entries(block).filter(([name]) => !SCRATCH.includes(name)))
			: block,
	);
	return { ...message, content } as M;
}

/** Follows the arguments of the tool calls of one reply as they arrive. */
export class ArgumentTexts {
	readonly #texts = new Map<number, string>();

	add(event: AssistantMessageEvent): void {
		if (event.type !== "toolcall_delta") return;
		this.#texts.set(event.contentIndex, (this.#texts.get(event.contentIndex) ?? "") + event.delta);
	}

	/** Marks the calls of the finished reply whose arguments were cut off, and finishes those whose end is missing. */
	finish({ content }: AssistantMessage): void {
		for (const [index, text] of this.#texts) {
			const block = content[index];
			if (block?.type !== "toolCall") continue;
			if (isCutOff(text)) Reflect.set(block, CUT_OFF, true);
			else if ("partialJson" in block) block.arguments = parsed(text) ?? block.arguments;
			for (const name of SCRATCH) Reflect.deleteProperty(block, name);
		}
	}
}

function parsed(json: string): ToolCall["arguments"] | null {
	try {
		return JSON.parse(json);
	} catch {
		return null; // malformed: the arguments are those that pi-ai could read
	}
}

/** Whether JSON ends before its value does. What is malformed but ended is not cut off. */
function isCutOff(json: string): boolean {
	let depth = 0;
	let inString = false;
	for (let at = 0; at < json.length; at++) {
		const char = json[at];
		if (inString) {
			if (char === "\\") at++;
			else if (char === '"') inString = false;
		} else if (char === '"') inString = true;
		else if (char === "{" || char === "[") depth++;
		else if ((char === "}" || char === "]") && --depth === 0) return false;
	}
	return inString || depth > 0;
}

/**
 * Why a tool call of a reply must not run: its arguments did not arrive completely. In a reply that reached the output limit,
 * the last block was cut off, even if its arguments can be read.
 * @returns a sentence for the model; null for a complete call
 */
export function describeIncompleteCall(call: ToolCall, { content, stopReason }: AssistantMessage): string | null {
	const isIncomplete = CUT_OFF in call;
	if (stopReason === "length" && (isIncomplete || content.at(-1) === call)) {
		return "The reply was cut off at the model's output limit, so this call was not run. Send it again, in smaller parts.";
	}
	return isIncomplete ? "The arguments of this call are not complete JSON, so it was not run. Send it again." : null;
}

/** Replies with incomplete calls in a row after which a run ends. */
const MAX_REPLIES = 3;

/** Counts the replies in a row whose tool calls were incomplete: a model that always sends such calls would never finish. */
export class IncompleteReplies {
	#count = 0;

	/** @returns why the run must end after this reply, for the user; null to continue */
	add(reply: AssistantMessage): string | null {
		const isIncomplete = reply.content.some(
			(block) => block.type === "toolCall" && describeIncompleteCall(block, reply) !== null,
		);
		this.#count = isIncomplete ? this.#count + 1 : 0;
		if (this.#count < MAX_REPLIES) return null;
		return `${MAX_REPLIES} replies in a row had incomplete tool calls · raise maxTokens of the model in models.json, or ask for smaller steps`;
	}
}
