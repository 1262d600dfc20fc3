import type { AssistantMessage, ImageContent, TextContent, ToolCall } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isImageOmissionEntry,
	isMessageEntry,
	isModelChangeEntry,
	isOpaqueEntry,
	isSessionHeader,
	isSessionInfoEntry,
	isSystemItemEntry,
	isThinkingLevelChangeEntry,
	type SessionEntry,
	type SessionToolResult,
} from "../log/entry.js";
import { describeChangedInput } from "../log/gate-text.js";
import { markdownHtml, plainHtml } from "./html-markdown.js";
import { escapeHtml, imageHtml } from "./html-text.js";

/** Maximum characters of the title of a folded tool call. */
const MAX_SUBJECT = 120;

/** Results by the id of their call. If several have the same id, each call takes the next one. */
export type ToolResults = Map<string, SessionToolResult[]>;

/** A call and its result as texts that replace those of any tool; null: as those of any tool. */
export type DrawTool = (
	call: ToolCall,
	result: SessionToolResult | undefined,
) => { title: string | null; body: string | null; errors: readonly string[] } | null;

/** Collects the tool results of a session. */
export function collectResults(entries: readonly SessionEntry[]): ToolResults {
	const results: ToolResults = new Map();
	for (const entry of entries) {
		if (!isMessageEntry(entry) || entry.message.role !== "toolResult") continue;
		const list = results.get(entry.message.toolCallId);
		if (list) list.push(entry.message);
		else results.set(entry.message.toolCallId, [entry.message]);
	}
	return results;
}

/** Renders an entry; empty for entries without own content. Removes the results of its tool calls from `results`. */
export function entryHtml(entry: SessionEntry, results: ToolResults, drawTool: DrawTool = () => null): string {
	if (isSessionHeader(entry)) return "";
	if (isMessageEntry(entry)) return messageHtml(entry.message, results, drawTool);
	if (isCompactionEntry(entry)) {
		return fold("compaction", "A summary replaces the earlier messages", markdownHtml(entry.summary));
	}
	if (isContextUndoEntry(entry)) return note(`Undone: the context change of entry ${entry.entryIndex}`);
	if (isContextFreezeEntry(entry)) return note(`The context is frozen as of the request for entry ${entry.entryIndex}`);
	if (isImageOmissionEntry(entry)) {
		return note(`Images omitted: ${entry.images.length}. ${entry.provider} refused them: ${entry.reason}`);
	}
	if (isModelChangeEntry(entry)) return note(`Model: ${entry.provider}/${entry.modelId}`);
	if (isThinkingLevelChangeEntry(entry)) return note(`Thinking: ${entry.thinkingLevel}`);
	if (isSessionInfoEntry(entry)) return note(`Name: ${entry.name}`);
	if (isSystemItemEntry(entry))
		return fold("custom", `${entry.item.kind} from ${entry.source}`, plainHtml(entry.item.text));
	if (isOpaqueEntry(entry)) return note(`Unreadable line: ${entry.reason}`);
	return fold("custom", entry.type, plainHtml(JSON.stringify(entry, null, 2)));
}

function messageHtml(message: AppMessage, results: ToolResults, drawTool: DrawTool): string {
	switch (message.role) {
		case "user":
			return `<div class="user">${contentHtml(message.content, textHtml)}</div>`;
		case "assistant":
			return assistantHtml(message, results, drawTool);
		case "toolResult": {
			// Shown with its call, or separately if the call is missing.
			const waiting = results.get(message.toolCallId);
			if (!waiting?.includes(message)) return "";
			return fold(toolClass(message), `Result of ${message.toolName}`, contentHtml(message.content, plainHtml));
		}
		case "bashExecution": {
			const scope = message.excludeFromContext ? " (not in the context)" : "";
			const end = message.cancelled ? "canceled" : `exit code ${message.exitCode ?? "unknown"}`;
			return fold(
				"tool",
				`$ ${message.command}${scope}`,
				`${plainHtml(message.output)}<p class="note">${escapeHtml(end)}</p>`,
			);
		}
	}
}

function assistantHtml(message: AssistantMessage, results: ToolResults, drawTool: DrawTool): string {
	const blocks = message.content.map((block) => {
		if (block.type === "text") return block.text.trim() === "" ? "" : markdownHtml(block.text);
		if (block.type === "thinking")
			return block.thinking.trim() === "" ? "" : fold("thinking", "Thinking", plainHtml(block.thinking));
		return toolCallHtml(block, results.get(block.id)?.shift(), drawTool);
	});
	if (message.stopReason === "aborted") blocks.push(note("Aborted by the user"));
	if (message.stopReason === "error")
		blocks.push(`<p class="error">${escapeHtml(message.errorMessage ?? "The request failed")}</p>`);
	return `<div class="assistant">${blocks.join("")}</div>`;
}

function toolCallHtml(call: ToolCall, result: SessionToolResult | undefined, drawTool: DrawTool): string {
	const { title, body, errors } = drawTool(call, result) ?? NOT_DRAWN;
	const args = Object.keys(call.arguments).length === 0 ? "" : argumentsHtml(call.arguments);
	const images = result?.content.filter(({ type }) => type === "image") ?? [];
	const answer = body === null ? resultHtml(result) : plainHtml(body) + contentHtml(images, plainHtml);
	const failures = errors.map((error) => `<p class="error">${escapeHtml(error)}</p>`).join("");
	const gate = result?.gate;
	const blockedBy = gate?.blockedBy === undefined ? "" : ` · blocked by ${gate.blockedBy}`;
	const change = gate?.changed ? note(describeChangedInput(gate.changed)) : "";
	const head = (title ?? `${call.name} ${subjectOf(call.arguments)}`.trim()) + blockedBy;
	return fold(toolClass(result), head, change + args + answer + failures);
}

const NOT_DRAWN = { title: null, body: null, errors: [] };

function resultHtml(result: SessionToolResult | undefined): string {
	if (result === undefined) return note("no result");
	const diff = diffOf(result);
	return diff === null ? contentHtml(result.content, plainHtml) : diffHtml(diff);
}

function argumentsHtml(args: Record<string, unknown>): string {
	const rows = Object.entries(args).map(([name, value]) => {
		const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
		return `<dt>${escapeHtml(name)}</dt><dd>${plainHtml(text ?? "")}</dd>`;
	});
	return `<dl>${rows.join("")}</dl>`;
}

function diffOf(result: SessionToolResult | undefined): string | null {
	const details: unknown = result?.isError ? undefined : result?.details;
	if (typeof details !== "object" || details === null || !("diff" in details)) return null;
	return typeof details.diff === "string" && details.diff !== "" ? details.diff : null;
}

function diffHtml(diff: string): string {
	const lines = diff.split("\n").map((line) => {
		const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
		return kind ? `<span class="${kind}">${escapeHtml(line)}</span>` : escapeHtml(line);
	});
	return `<pre>${lines.join("\n")}</pre>`;
}

function subjectOf(args: Record<string, unknown>): string {
	const value = args.command ?? args.path ?? args.pattern;
	const line = typeof value === "string" ? (value.split("\n")[0] ?? "") : "";
	return line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT)}…` : line;
}

function contentHtml(
	content: string | readonly (TextContent | ImageContent)[],
	textToHtml: (text: string) => string,
): string {
	if (typeof content === "string") return textToHtml(content);
	return content.map((block) => (block.type === "text" ? textToHtml(block.text) : imageHtml(block))).join("");
}

/** Typed text with its line breaks. */
function textHtml(text: string): string {
	return `<div class="typed">${escapeHtml(text)}</div>`;
}

function toolClass(result: SessionToolResult | undefined): string {
	return result?.isError ? "tool failed" : "tool";
}

function fold(className: string, title: string, body: string): string {
	return `<details class="${className}"><summary>${escapeHtml(title)}</summary>${body}</details>`;
}

function note(text: string): string {
	return `<p class="note">${escapeHtml(text)}</p>`;
}
