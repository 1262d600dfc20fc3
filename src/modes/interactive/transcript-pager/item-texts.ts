import type { AssistantMessage } from "@mariozechner/pi-ai";
import {
	isApprovalEntry,
	isCompactionEntry,
	isHookToolCallEntry,
	isMessageEntry,
	isSystemItemEntry,
	messageText,
	type SessionEntry,
} from "../../../log/entry.js";
import { describeApproval } from "../../../log/gate-text.js";
import type { ItemKind } from "../transcript-item.js";

/**
 * The complete text of each item of an entry, as it is copied and searched.
 * @param kinds the kinds of the items, in order
 * @param results the text of each tool result, by call
 */
export function itemTexts(
	kinds: readonly ItemKind[],
	entry: SessionEntry | undefined,
	results: ReadonlyMap<string, string>,
): string[] {
	if (entry === undefined) return [];
	if (isSystemItemEntry(entry)) return [entry.item.text];
	if (isApprovalEntry(entry)) return [describeApproval(entry)];
	if (isCompactionEntry(entry)) return [entry.summary];
	if (isHookToolCallEntry(entry)) {
		const { toolName: name, input, content } = entry;
		const output = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
		return [[callText({ name, arguments: input }), ...output].join("\n\n")];
	}
	if (!isMessageEntry(entry)) return [JSON.stringify(entry, null, 2)];
	const { message } = entry;
	switch (message.role) {
		case "assistant":
			return replyTexts(kinds, message, results);
		case "bashExecution":
			return [`${message.excludeFromContext ? "!!" : "!"}${message.command}\n${message.output}`];
		case "toolResult":
			return [`${message.toolName}\n${messageText(message)}`];
		default:
			return [messageText(message)];
	}
}

/** Blank blocks have no items, so that each item takes the next block of its kind that is not blank. */
function replyTexts(
	kinds: readonly ItemKind[],
	{ content, errorMessage = "" }: AssistantMessage,
	results: ReadonlyMap<string, string>,
): string[] {
	const texts: Partial<Record<ItemKind, string[]>> = { text: [], thinking: [], tool: [] };
	for (const block of content) {
		if (block.type === "text") {
			if (block.text.trim()) texts.text?.push(block.text);
		} else if (block.type === "thinking") {
			if (block.thinking.trim() || block.redacted) texts.thinking?.push(block.thinking);
		} else texts.tool?.push([callText(block), results.get(block.id) ?? ""].filter(Boolean).join("\n\n"));
	}
	return kinds.map((kind) => texts[kind]?.shift() ?? errorMessage);
}

/** The name of a tool and its arguments, one per line. */
function callText({ name, arguments: args }: { name: string; arguments: Readonly<Record<string, unknown>> }): string {
	const lines = Object.entries(args).map(
		([key, value]) => `${key}: ${typeof value === "string" ? value : (JSON.stringify(value) ?? "")}`,
	);
	return [name, ...lines].join("\n");
}
