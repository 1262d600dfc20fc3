import type { AssistantMessage, ImageContent, TextContent, ToolCall, UserMessage } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	type CompactionEntry,
	isApprovalEntry,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isHookToolCallEntry,
	isImageOmissionEntry,
	isMessageEntry,
	isModelChangeEntry,
	isOpaqueEntry,
	isRequestUsageEntry,
	isSessionHeader,
	isSessionInfoEntry,
	isSystemItemEntry,
	isThinkingLevelChangeEntry,
	isToolHostEntry,
	type LoggedMessage,
	messageText,
	type SessionEntry,
} from "../log/entry.js";
import { describeApproval, describeChangedPrompt } from "../log/gate-text.js";
import { readSkillPrompt, withoutSkill } from "../log/prompt-text.js";
import { commandEnd } from "../tools/describe-shell.js";
import { formatCost, formatTokens, plural } from "../util/format-amounts.js";
import { type CodeHtml, createCodeHtml } from "./html-code.js";
import { createMarkdownHtml, type MarkdownHtml } from "./html-markdown.js";
import { escapeHtml, foldHtml, imageHtml, noteHtml, plainHtml } from "./html-text.js";
import { type DrawTool, type FoundResult, lostResultHtml, toolCallHtml } from "./html-tool.js";

/** Characters of thinking in the title of its fold. */
const MAX_PREVIEW = 100;
const SUMMARY = "A summary replaces the earlier messages";

/** Finds the results of tool calls. */
export interface ResultSource {
	/** The result of a call in the entry `index`; undefined without one. Each result is returned once. */
	take(callId: string, index: number): FoundResult | undefined;
	/** True if the result in the entry `index` was shown with its call. */
	isTaken(index: number): boolean;
}

/** Renders the entries of one page, in order. */
export class EntryRenderer {
	readonly #code: CodeHtml = createCodeHtml();
	readonly #markdown: MarkdownHtml = createMarkdownHtml(this.#code);

	constructor(
		private readonly results: ResultSource,
		private readonly drawTool: DrawTool,
		/** Entry indices of undone changes of the context. */
		private readonly undone: ReadonlySet<number>,
	) {}

	/** Renders an entry; empty for entries without own content. */
	entryHtml(entry: SessionEntry, index: number): string {
		if (isSessionHeader(entry)) return "";
		if (isMessageEntry(entry)) {
			const html = this.#messageHtml(entry.message, index);
			const change = describeChangedPrompt(entry);
			if (change) return `${html}${noteHtml(`${change.by} · typed: ${change.typed}`)}`;
			return entry.retried ? `${html}${noteHtml("This reply broke off; pi sent the request again")}` : html;
		}
		if (isCompactionEntry(entry)) return this.#compactionHtml(entry, this.undone.has(index));
		if (isContextUndoEntry(entry)) return noteHtml(`Undone: the context change of entry ${entry.entryIndex}`);
		if (isContextFreezeEntry(entry))
			return noteHtml(`The context is frozen as of the request for entry ${entry.entryIndex}`);
		if (isImageOmissionEntry(entry)) {
			return noteHtml(`Images omitted: ${entry.images.length}. ${entry.provider} refused them: ${entry.reason}`);
		}
		if (isModelChangeEntry(entry)) return noteHtml(`Model: ${entry.provider}/${entry.modelId}`);
		if (isThinkingLevelChangeEntry(entry)) return noteHtml(`Thinking: ${entry.thinkingLevel}`);
		if (isToolHostEntry(entry)) return noteHtml(`Tools work on: ${entry.on === null ? "this machine" : entry.name}`);
		if (isSessionInfoEntry(entry)) return noteHtml(`Name: ${entry.name}`);
		if (isRequestUsageEntry(entry)) {
			const { purpose, provider, modelId, usage } = entry;
			const tokens = usage.input + usage.cacheRead + usage.cacheWrite;
			const cost = usage.cost.total > 0 ? `, ${formatCost(usage.cost.total)}` : "";
			return noteHtml(
				`Request for ${purpose}: ${provider}/${modelId}, ${formatTokens(tokens)} tokens in, ${formatTokens(usage.output)} out${cost}`,
			);
		}
		if (isSystemItemEntry(entry)) {
			const { item, source } = entry;
			return foldHtml(
				"custom",
				`<b>${escapeHtml(item.kind.replace("_", " "))}</b> from ${escapeHtml(source)}`,
				plainHtml(item.text),
			);
		}
		if (isApprovalEntry(entry)) return noteHtml(describeApproval(entry));
		if (isHookToolCallEntry(entry)) {
			const { hook, toolCallId, toolName, input, timestamp, content, details, isError, gate } = entry;
			const call = {
				type: "toolCall",
				id: toolCallId,
				name: toolName,
				arguments: input as ToolCall["arguments"],
			} as const;
			const facts = { ...(details === undefined ? {} : { details }), ...(gate ? { gate } : {}) };
			const ended = {
				toolCallId,
				toolName,
				content: [...content],
				isError,
				timestamp: Date.parse(timestamp),
				...facts,
			};
			const style = { code: this.#code, drawTool: this.drawTool };
			const html = toolCallHtml(call, { message: { role: "toolResult", ...ended }, index }, style);
			return `${html}${noteHtml(`Called by hook ${hook}`)}`;
		}
		if (isOpaqueEntry(entry)) return noteHtml(`Unreadable line: ${entry.reason}`);
		const { type, timestamp: _, ...fields } = entry;
		return foldHtml("custom", `<b>${escapeHtml(type)}</b> from a hook`, plainHtml(JSON.stringify(fields, null, 2)));
	}

	/** Renders a message that a hook made for a request. */
	hookMessageHtml(message: AppMessage, replaced: number | null): string {
		const what =
			replaced === null ? "A hook added this message" : `A hook replaced entry ${replaced} with this message`;
		const images = "content" in message && typeof message.content !== "string" ? message.content : [];
		const body =
			plainHtml(messageText(message)) +
			images.map((block) => (block.type === "image" ? imageHtml(block) : "")).join("");
		return foldHtml("custom", `${what} <span class="status">${message.role}</span>`, body);
	}

	#compactionHtml({ summary, details }: CompactionEntry, isUndone: boolean): string {
		const model = details?.model ? ` <span class="status">${escapeHtml(String(details.model))}</span>` : "";
		const what = isUndone ? "A summary replaced the earlier messages until it was undone" : SUMMARY;
		return foldHtml("compaction", `${what}${model}`, this.#markdown(summary));
	}

	#messageHtml(message: LoggedMessage, index: number): string {
		switch (message.role) {
			case "user":
				return userHtml(message);
			case "assistant":
				return this.#assistantHtml(message, index);
			case "toolResult":
				// Shown with its call, or separately if the call is missing.
				return this.results.isTaken(index) ? "" : lostResultHtml(message);
			case "bashExecution": {
				const scope = message.excludeFromContext ? " (not in the context)" : "";
				const { exitCode, cancelled, job } = message;
				const end = commandEnd({ exitCode, job, moved: true, ...(cancelled && { endedBy: "abort" }) });
				return foldHtml(
					exitCode === 0 ? "tool" : "tool failed",
					`<b>$</b> ${escapeHtml(message.command + scope)} <span class="status">${escapeHtml(end)}</span>`,
					// The user kept it from the model: more so from readers of the page.
					message.excludeFromContext
						? noteHtml("The output of !! commands is not exported")
						: `<pre class="output"><code>${escapeHtml(message.output)}</code></pre>`,
				);
			}
		}
	}

	#assistantHtml(message: AssistantMessage, index: number): string {
		const blocks = message.content.map((block) => {
			if (block.type === "text") return block.text.trim() === "" ? "" : this.#markdown(block.text);
			if (block.type === "thinking") return thinkingHtml(block.thinking);
			return toolCallHtml(block, this.results.take(block.id, index), {
				code: this.#code,
				drawTool: this.drawTool,
			});
		});
		if (message.stopReason === "aborted") blocks.push(noteHtml("Aborted by the user"));
		if (message.stopReason === "error")
			blocks.push(`<p class="error">${escapeHtml(message.errorMessage ?? "The request failed")}</p>`);
		const html = blocks.join("");
		return html === "" ? "" : `<div class="assistant">${html}</div>`;
	}
}

function thinkingHtml(thinking: string): string {
	const text = thinking.trim();
	if (text === "") return "";
	const start = text.replace(/\s+/g, " ");
	const preview = start.length > MAX_PREVIEW ? `${start.slice(0, MAX_PREVIEW)}…` : start;
	return foldHtml(
		"thinking",
		`<b>Thinking</b> <span class="preview">${escapeHtml(preview)}</span>`,
		`<div class="typed">${escapeHtml(text)}</div>`,
	);
}

/** A prompt; the text of a skill is folded. */
function userHtml(message: UserMessage): string {
	const skill = readSkillPrompt(messageText(message));
	if (!skill) return `<div class="user">${contentHtml(message.content)}</div>`;
	const lines = plural(skill.body.split("\n").length, "line");
	const title = `<b>skill</b> ${escapeHtml(skill.name)} <span class="status">${lines}</span>`;
	const command = textHtml(withoutSkill(messageText(message)));
	return `<div class="user">${command}</div>${foldHtml("custom", title, plainHtml(skill.body))}`;
}

function contentHtml(content: string | readonly (TextContent | ImageContent)[]): string {
	if (typeof content === "string") return textHtml(content);
	return content.map((block) => (block.type === "text" ? textHtml(block.text) : imageHtml(block))).join("");
}

/** Typed text with its line breaks. */
function textHtml(text: string): string {
	return `<div class="typed">${escapeHtml(text)}</div>`;
}
