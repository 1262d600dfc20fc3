import type { AssistantMessage } from "@mariozechner/pi-ai";
import { describeCompaction } from "../../context/compaction-steps.js";
import type { EntrySource } from "../../context/entry-message.js";
import type { FindToolRenderer } from "../../hooks/tool-drawing.js";
import {
	type HookToolCallEntry,
	isApprovalEntry,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isEmptyReply,
	isHookToolCallEntry,
	isImageOmissionEntry,
	isMessageEntry,
	isOpaqueEntry,
	isSystemItemEntry,
	type LoggedMessage,
	type SessionEntry,
	type SessionToolResult,
	type ToolCaller,
} from "../../log/entry.js";
import { describeApproval, describeChangedPrompt } from "../../log/gate-text.js";
import type { RecordedMachine } from "../../log/last-choices.js";
import { pastedParts } from "../../log/prompt-text.js";
import { describeOmission, formatTokens } from "../format.js";
import { createItem, type Item } from "./transcript-item.js";
import { BashView } from "./views/bash-view.js";
import { CustomEntryView, type EntryRenderer } from "./views/custom-entry-view.js";
import { NoticeView, SystemItemView } from "./views/notice-view.js";
import { type FailureWords, ReplyEndView } from "./views/reply-end-view.js";
import { TextView } from "./views/text-view.js";
import { ThinkingView } from "./views/thinking-view.js";
import { ToolCallView } from "./views/tool-call-view.js";
import { UserView } from "./views/user-view.js";
import type { RemoteMachine, ViewStyle } from "./views/view.js";

/** A tool call in the transcript. */
export interface ToolItem {
	item: Item;
	view: ToolCallView;
}

/** Tool calls by id. */
export type ToolItems = Map<string, ToolItem>;

/** Dependencies of drawing entries. */
export interface EntryDrawing {
	style: ViewStyle;
	tools: ToolItems;
	/** The renderer that a hook registered for entries of a type. */
	rendererOf(type: string, entry?: SessionEntry): EntryRenderer | undefined;
	/** The functions with which a hook draws calls of a tool. */
	toolRendererOf?: FindToolRenderer;
	/** The machine of an entry, as `AgentSession.hostOf`. Absent: the one on which tools work now. */
	hostOf?: ((entryIndex: number) => RecordedMachine | null) | undefined;
	readonly words: FailureWords;
}

/** The items of a log entry. Empty for entries that are not shown and for results of known calls, which update the call. */
export function itemsOfEntry(entries: EntrySource, index: number, drawing: EntryDrawing): Item[] {
	const entry = entries.at(index);
	if (!entry) return [];
	if (!isMessageEntry(entry)) return itemsOfOther(entry, index, drawing, entries);
	if (entry.message.role !== "assistant") return itemsOfMessage(entry.message, index, drawing, entry);
	return itemsOfReply(entry.message, index, drawing, entry.retried ?? false);
}

/** The items of a message other than a reply. @param entry that of the message */
export function itemsOfMessage(
	message: LoggedMessage,
	entryIndex: number,
	drawing: EntryDrawing,
	entry: SessionEntry | undefined,
): Item[] {
	const { style } = drawing;
	switch (message.role) {
		case "user": {
			const change = isMessageEntry(entry) ? describeChangedPrompt(entry) : null;
			return [createItem("user", new UserView(style, message, change, pastedParts(entry)), style, { entryIndex })];
		}
		case "bashExecution": {
			const excluded = message.excludeFromContext ?? false;
			const view = new BashView(style, message.command, excluded, machineOf(drawing, entryIndex));
			view.finish(message);
			return [createItem("bash", view, style, { entryIndex, excluded })];
		}
		case "toolResult":
			return itemsOfResult(message, entryIndex, drawing);
		default:
			return itemsOfReply(message, entryIndex, drawing, false);
	}
}

/** The items of an entry that is not a message. */
export function itemsOfOther(
	entry: SessionEntry,
	entryIndex: number,
	drawing: EntryDrawing,
	entries: EntrySource,
): Item[] {
	const { style } = drawing;
	if (isHookToolCallEntry(entry)) return itemsOfHookCall(entry, entryIndex, drawing);
	if (isSystemItemEntry(entry)) return [createItem("system", new SystemItemView(style, entry), style, { entryIndex })];
	const event = (text: string) => [createItem("event", new NoticeView(style, { level: "info", message: text }), style)];
	if (isApprovalEntry(entry)) return event(describeApproval(entry));
	if (isCompactionEntry(entry)) {
		const steps = describeCompaction(entry, entries);
		return event([`compacted here · the context had ${formatTokens(entry.tokensBefore)} tokens`, ...steps].join(" · "));
	}
	if (isContextUndoEntry(entry)) {
		return event(`entry ${entry.entryIndex} undone · the messages it replaced are in the context again`);
	}
	if (isContextFreezeEntry(entry)) {
		return event(`context frozen up to this point, as sent for entry ${entry.entryIndex}`);
	}
	if (isImageOmissionEntry(entry)) return event(describeOmission(entry));
	if (isOpaqueEntry(entry)) {
		const text = `cannot read entry ${entryIndex} of the session file: ${entry.reason}`;
		return [createItem("notice", new NoticeView(style, { level: "warning", message: text }), style)];
	}
	const renderer = drawing.rendererOf(entry.type, entry);
	return renderer ? [createItem("custom", new CustomEntryView(style, entry, renderer), style)] : [];
}

function itemsOfReply(message: AssistantMessage, entryIndex: number, drawing: EntryDrawing, retried: boolean): Item[] {
	const { style, tools, toolRendererOf } = drawing;
	const place = { entryIndex, excluded: retried };
	const items: Item[] = [];
	for (const block of message.content) {
		if (block.type === "text" && block.text.trim()) {
			const view = new TextView(style);
			view.finish(block.text);
			items.push(createItem("text", view, style, place));
		} else if (block.type === "thinking" && (block.thinking.trim() || block.redacted)) {
			const view = new ThinkingView(style, block.redacted);
			view.finish(block.thinking);
			items.push(createItem("thinking", view, style, place));
		} else if (block.type === "toolCall") {
			const view = new ToolCallView(style, block.name, block.arguments, toolRendererOf, machineOf(drawing, entryIndex));
			const item = createItem("tool", view, style, place);
			if (retried) view.stop();
			else tools.set(block.id, { item, view });
			items.push(item);
		}
	}
	if (endedAbnormally(message)) {
		items.push(createItem("replyEnd", new ReplyEndView(style, message, drawing.words, retried), style, place));
	}
	return items;
}

/** True for a reply that ended with an error, was stopped or truncated, or is empty. */
export function endedAbnormally(message: AssistantMessage): boolean {
	return ["error", "aborted", "length"].includes(message.stopReason) || isEmptyReply(message);
}

/** Adds a result to its call. A result whose call is not on the screen becomes its own item. */
function itemsOfResult(message: SessionToolResult, entryIndex: number, drawing: EntryDrawing): Item[] {
	const { style, tools, toolRendererOf } = drawing;
	const { toolCallId, toolName, isError, gate } = message;
	const result = { content: message.content, details: message.details };
	const known = tools.get(toolCallId);
	if (known) {
		known.item.entryIndices.push(entryIndex);
		if (gate?.changed) known.view.changeInput(gate.changed);
		known.view.finish(result, isError, gate?.blockedBy);
		return [];
	}
	const view = new ToolCallView(style, toolName, {}, toolRendererOf, machineOf(drawing, entryIndex));
	if (gate?.changed) view.changeInput(gate.changed);
	view.finish(result, isError, gate?.blockedBy);
	return [createItem("tool", view, style, { entryIndex })];
}

/** Adds a call that a hook made below the call in which it ran. Without one on the screen it becomes its own item. */
function itemsOfHookCall(entry: HookToolCallEntry, entryIndex: number, drawing: EntryDrawing): Item[] {
	const { toolCallId: id, toolName: name, parent: within, hook, input, gate, isError } = entry;
	const caller = { hook, ...(within === undefined ? {} : { toolCallId: within }) };
	const known = drawing.tools.has(id);
	const call = hookCallItem({ id, name, args: input, caller }, drawing, machineOf(drawing, entryIndex));
	if (gate?.changed) call.view.changeInput(gate.changed);
	call.view.finish({ content: [...entry.content], details: entry.details }, isError, gate?.blockedBy);
	return known || call.isIncluded ? [] : [call.item];
}

/**
 * The item of a call that a hook makes. One within a call on the screen is drawn with it.
 * @returns `isIncluded`: the item is that of the other call
 */
export function hookCallItem(
	{ id, name, args, caller }: { id: string; name: string; args: Readonly<Record<string, unknown>>; caller: ToolCaller },
	{ style, tools, toolRendererOf }: EntryDrawing,
	machine: RemoteMachine | null = style.remote,
): ToolItem & { isIncluded: boolean } {
	const within = tools.get(caller.toolCallId ?? "");
	const known = tools.get(id);
	if (known) return { ...known, isIncluded: within !== undefined };
	const view = new ToolCallView(style, name, args, toolRendererOf, machine, within ? null : caller.hook);
	within?.view.include(view);
	const item = within?.item ?? createItem("event", view, style);
	tools.set(id, { item, view });
	return { item, view, isIncluded: within !== undefined };
}

function machineOf({ hostOf, style: { remote } }: EntryDrawing, entryIndex: number): RemoteMachine | null {
	const host = hostOf?.(entryIndex);
	if (host === undefined || host?.name === remote?.name) return remote;
	// The log does not name the directories of a machine.
	return host?.on ? { ...host, cwd: "", home: "" } : null;
}
