import type { AssistantMessage, ImageContent, TextContent, UserMessage } from "@mariozechner/pi-ai";
import {
	type ApprovalEntry,
	type BashExecutionMessage,
	type ContextRecord,
	isApprovalEntry,
	isCompactionEntry,
	isMessageEntry,
	isOpaqueEntry,
	isSystemItemEntry,
	type SessionEntry,
	type SessionToolResult,
} from "../log/entry.js";
import { type ExportSource, readEntry, undoneEntries } from "./survey.js";

/** A part of a session as other programs know them. `index`: of its entry; `time`: ISO 8601. */
export type ConversationPart = { index: number; time: string } & (
	| { kind: "prompt"; message: UserMessage }
	| Reply
	/** A command of the user that the model sees. */
	| { kind: "shell"; message: BashExecutionMessage }
	/** What replaced everything before it in the context, until it was `undone`. */
	| { kind: "summary"; text: string; tokensBefore: number; undone: boolean }
	/** What pi or a hook told the model. */
	| { kind: "note"; source: string; text: string }
);

interface Reply {
	kind: "reply";
	message: AssistantMessage;
	context: ContextRecord | undefined;
	/** Of its calls, in the order in which they ended. */
	results: SessionToolResult[];
	/** What the user answered to questions about its calls. */
	approvals: ApprovalEntry[];
}

/**
 * Reads the conversation of a session in order, whether or not the model still sees a part. Left out: replies that broke off
 * and were requested again, `!!` commands, entries of hooks, and calls that hooks made. Keeps one reply with its results in memory.
 */
export function* conversationParts(source: ExportSource): Generator<ConversationPart> {
	/** A reply, and what stands between the results of its calls. */
	let waiting: ConversationPart[] = [];
	const undone = undoneEntries(source);
	for (let index = 0; index < source.length; index++) {
		const entry = readEntry(source, index);
		const [first] = waiting;
		if (isMessageEntry(entry) && entry.message.role === "toolResult") {
			if (first?.kind === "reply" && calls(first.message, entry.message.toolCallId)) first.results.push(entry.message);
			continue;
		}
		if (isApprovalEntry(entry) && first?.kind === "reply" && calls(first.message, entry.toolCallId)) {
			first.approvals.push(entry);
			continue;
		}
		const part = entry && partOf(entry, index, undone);
		if (!part) continue;
		if (part.kind !== "note") {
			yield* waiting;
			waiting = [];
		}
		waiting.push(part);
	}
	yield* waiting;
}

/** The text of a message's content, with a note in the place of each image. */
export function contentText(content: string | readonly (TextContent | ImageContent)[]): string {
	if (typeof content === "string") return content;
	return content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`)).join("\n");
}

function calls({ content }: AssistantMessage, id: string): boolean {
	return content.some((block) => block.type === "toolCall" && block.id === id);
}

function partOf(entry: SessionEntry, index: number, undone: ReadonlySet<number>): ConversationPart | undefined {
	if (isOpaqueEntry(entry)) return undefined;
	const place = { index, time: String(entry.timestamp) };
	if (isCompactionEntry(entry)) {
		const { summary: text, tokensBefore } = entry;
		return { ...place, kind: "summary", text, tokensBefore, undone: undone.has(index) };
	}
	if (isSystemItemEntry(entry)) return { ...place, kind: "note", source: entry.source, text: entry.item.text };
	if (!isMessageEntry(entry) || entry.retried) return undefined;
	const { message, context } = entry;
	if (message.role === "user") return { ...place, kind: "prompt", message };
	if (message.role === "assistant") return { ...place, kind: "reply", message, context, results: [], approvals: [] };
	if (message.role === "bashExecution" && !message.excludeFromContext) return { ...place, kind: "shell", message };
	return undefined;
}
