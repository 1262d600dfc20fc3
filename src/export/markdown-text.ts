import { bashExecutionText } from "../context/bash-execution-text.js";
import type { SessionToolResult } from "../log/entry.js";
import { describeApproval } from "../log/gate-text.js";
import { describeCall } from "../tools/describe-call.js";
import { detail } from "../tools/description.js";
import { codeFence } from "../util/code-fence.js";
import { type ConversationPart, contentText, conversationParts } from "./conversation-parts.js";
import { cleanText } from "./html-text.js";
import type { ExportSource } from "./survey.js";

/**
 * Writes a session as Markdown: a heading for each prompt and reply, tool calls with their output in code blocks. Images are
 * named, not included; a summary that was undone is omitted.
 */
export function* markdownText(entries: ExportSource, title: string): Generator<string> {
	yield `# ${oneLine(title)}\n`;
	let speaker = "";
	for (const part of conversationParts(entries)) {
		const [name, blocks] = section(part);
		if (blocks.length === 0) continue;
		// Replies of one run belong to one heading.
		if (name !== speaker || part.kind === "prompt") yield `\n## ${name}\n`;
		speaker = name;
		for (const block of blocks) yield `\n${cleanText(block)}\n`;
	}
}

/** The heading of a part and its blocks. */
function section(part: ConversationPart): [name: string, blocks: string[]] {
	switch (part.kind) {
		case "prompt":
			return ["User", [contentText(part.message.content)]];
		case "shell":
			return ["User", [bashExecutionText(part.message)]];
		case "summary":
			return ["Summary of everything above", part.undone ? [] : [part.text]];
		case "note":
			return ["Note to the model", [fenced(part.text)]];
		case "reply":
			return ["Assistant", replyBlocks(part)];
	}
}

function replyBlocks({ message, results, approvals }: Extract<ConversationPart, { kind: "reply" }>): string[] {
	const left = [...results];
	const blocks = message.content.flatMap((block) => {
		if (block.type === "text") return block.text.trim() === "" ? [] : [block.text];
		if (block.type === "thinking") return block.thinking.trim() === "" ? [] : [quoted(block.thinking.trim())];
		const at = left.findIndex(({ toolCallId }) => toolCallId === block.id);
		const [result] = at < 0 ? [] : left.splice(at, 1);
		const { brief, status } = describeCall({ name: block.name, args: block.arguments, result });
		const words = [result ? "" : "no result", result?.isError ? "failed" : "", ...status].filter(Boolean).join(" · ");
		const head = [`**${block.name}**`, brief && inlineCode(oneLine(brief)), words && `– ${oneLine(words)}`]
			.filter(Boolean)
			.join(" ");
		const asked = approvals.filter(({ toolCallId }) => toolCallId === block.id).map((entry) => describeApproval(entry));
		const lines = asked.map((text) => `*${oneLine(text).replace(/([\\*_`[\]<])/g, "\\$1")}*`);
		return [head, ...lines, ...(result ? resultBlocks(result, block.arguments) : [])];
	});
	if (message.stopReason === "aborted") blocks.push("*Aborted by the user*");
	if (message.stopReason === "error") blocks.push(`*${oneLine(message.errorMessage ?? "The request failed")}*`);
	return blocks;
}

/** The change of an edit, or the output. */
function resultBlocks(result: SessionToolResult, args: Readonly<Record<string, unknown>>): string[] {
	const diff = result.isError ? undefined : detail({ result }, "diff");
	if (typeof diff === "string" && diff !== "") return [fenced(diff, "diff")];
	if (result.toolName === "write" && typeof args.content === "string" && !result.isError) return [fenced(args.content)];
	const text = contentText(result.content);
	return text.trim() === "" ? [] : [fenced(text)];
}

function fenced(text: string, language = ""): string {
	const fence = codeFence(text);
	return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

function inlineCode(text: string): string {
	const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 0);
	const fence = "`".repeat(longest + 1);
	return longest > 0 ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`;
}

function quoted(text: string): string {
	return text
		.split("\n")
		.map((line) => `> ${line}`.trimEnd())
		.join("\n");
}

function oneLine(text: string): string {
	return text.replace(/\s+/g, " ").trim();
}
