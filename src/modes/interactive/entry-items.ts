import type { AssistantMessage, ToolResultMessage } from "@mariozechner/pi-ai";
import type { EntrySource } from "../../context/entry-message.js";
import {
	type AppMessage,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isMessageEntry,
	isOpaqueEntry,
	isSystemItemEntry,
	type SessionEntry,
} from "../../log/entry.js";
import { formatTokens } from "../format.js";
import { createItem, type Item } from "./item.js";
import { BashView } from "./views/bash-view.js";
import { CustomEntryView, type EntryRenderer } from "./views/custom-entry-view.js";
import { NoticeView } from "./views/notice-view.js";
import { endedBadly, OutcomeView } from "./views/outcome-view.js";
import { SystemItemView } from "./views/system-item-view.js";
import { TextView } from "./views/text-view.js";
import { ThinkingView } from "./views/thinking-view.js";
import { ToolCallView } from "./views/tool-call-view.js";
import { UserView } from "./views/user-view.js";
import type { ViewStyle } from "./views/view.js";

/** A tool call in the transcript. */
export interface ToolItem {
	item: Item;
	view: ToolCallView;
}

/** Tool calls by their id, so that results find them. */
export type ToolItems = Map<string, ToolItem>;

/** What drawing entries needs besides the entries. */
export interface EntryDrawing {
	style: ViewStyle;
	tools: ToolItems;
	/** The renderer that a hook declared for entries of a type. */
	rendererOf(type: string): EntryRenderer | undefined;
}

/** The items that an entry of the log adds; none for entries that are not shown, and for results of known calls. */
export function itemsOfEntry(entries: EntrySource, index: number, drawing: EntryDrawing): Item[] {
	const entry = entries.at(index);
	if (!entry) return [];
	if (!isMessageEntry(entry)) return itemsOfOther(entry, index, drawing);
	if (entry.message.role !== "assistant") return itemsOfMessage(entry.message, index, drawing);
	const next = entries.at(index + 1);
	const retried = isMessageEntry(next) && next.message.role === "assistant";
	return itemsOfReply(entry.message, index, drawing, retried);
}

/** The items of a message that is no reply of the model. */
export function itemsOfMessage(message: AppMessage, entryIndex: number, drawing: EntryDrawing): Item[] {
	const { style } = drawing;
	switch (message.role) {
		case "user":
			return [createItem("user", new UserView(style, message), style, { entryIndex })];
		case "bashExecution": {
			const view = new BashView(style, message.command);
			view.finish(message);
			return [createItem("bash", view, style, { entryIndex, excluded: message.excludeFromContext ?? false })];
		}
		case "toolResult":
			return itemsOfResult(message, entryIndex, drawing);
		default:
			return itemsOfReply(message, entryIndex, drawing, false);
	}
}

/** The items of an entry that is no message. */
export function itemsOfOther(entry: SessionEntry, entryIndex: number, drawing: EntryDrawing): Item[] {
	const { style } = drawing;
	if (isSystemItemEntry(entry)) return [createItem("system", new SystemItemView(style, entry), style, { entryIndex })];
	if (isCompactionEntry(entry)) {
		const text = `compacted here · the context had ${formatTokens(entry.tokensBefore)} tokens`;
		return [createItem("event", new NoticeView(style, "info", text), style)];
	}
	if (isContextUndoEntry(entry)) {
		const text = `entry ${entry.entryIndex} is undone · what it replaced is in the context again`;
		return [createItem("event", new NoticeView(style, "info", text), style)];
	}
	if (isContextFreezeEntry(entry)) {
		const text = `the context before this point is frozen as entry ${entry.entryIndex} was given it`;
		return [createItem("event", new NoticeView(style, "info", text), style)];
	}
	if (isOpaqueEntry(entry)) {
		const text = `entry ${entryIndex} of the session file cannot be read: ${entry.reason}`;
		return [createItem("notice", new NoticeView(style, "warning", text), style)];
	}
	const renderer = drawing.rendererOf(entry.type);
	return renderer ? [createItem("custom", new CustomEntryView(style, entry, renderer), style)] : [];
}

function itemsOfReply(message: AssistantMessage, entryIndex: number, drawing: EntryDrawing, retried: boolean): Item[] {
	const { style, tools } = drawing;
	const items: Item[] = [];
	for (const block of message.content) {
		if (block.type === "text" && block.text.trim()) {
			const view = new TextView(style);
			view.finish(block.text);
			items.push(createItem("text", view, style, { entryIndex }));
		} else if (block.type === "thinking" && (block.thinking.trim() || block.redacted)) {
			const view = new ThinkingView(style, block.redacted);
			view.finish(block.thinking);
			items.push(createItem("thinking", view, style, { entryIndex }));
		} else if (block.type === "toolCall") {
			const view = new ToolCallView(style, block.name, block.arguments);
			const item = createItem("tool", view, style, { entryIndex });
			tools.set(block.id, { item, view });
			items.push(item);
		}
	}
	if (endedBadly(message)) {
		items.push(createItem("outcome", new OutcomeView(style, message, retried), style, { entryIndex }));
	}
	return items;
}

/** A result completes its call; one whose call is not on the screen stands for itself. */
function itemsOfResult(message: ToolResultMessage, entryIndex: number, { style, tools }: EntryDrawing): Item[] {
	const { toolCallId, toolName, isError } = message;
	const result = { content: message.content, details: message.details };
	const known = tools.get(toolCallId);
	if (known) {
		known.item.entryIndices.push(entryIndex);
		known.view.finish(result, isError);
		return [];
	}
	const view = new ToolCallView(style, toolName);
	view.finish(result, isError);
	return [createItem("tool", view, style, { entryIndex })];
}
