import type { ToolCall } from "@mariozechner/pi-ai";
import { type AppMessage, type CompactionDetails, messageText } from "../log/entry.js";
import { estimateText } from "./tokens.js";

/** What a conversation read, changed and ran, from its tool calls. */
export interface Activities {
	/** Paths as the model gave them, each once, the latest last. */
	readFiles: readonly string[];
	modifiedFiles: readonly string[];
	commands: readonly string[];
}

/** Reads the tool calls of a conversation. @param earlier details of the previous compaction, whose files come first */
export function readActivities(messages: readonly AppMessage[], earlier: CompactionDetails = {}): Activities {
	const readFiles = new Set(strings(earlier.readFiles));
	const modifiedFiles = new Set(strings(earlier.modifiedFiles));
	const commands: string[] = [];
	for (const message of messages) {
		if (message.role === "bashExecution") commands.push(message.command);
		if (message.role !== "assistant") continue;
		for (const block of message.content) {
			if (block.type !== "toolCall") continue;
			const path = argument(block, "path");
			const command = argument(block, "command");
			if (block.name === "bash" && command) commands.push(command);
			else if (block.name === "read" && path) addLast(readFiles, path);
			else if ((block.name === "edit" || block.name === "write") && path) addLast(modifiedFiles, path);
		}
	}
	return { readFiles: [...readFiles], modifiedFiles: [...modifiedFiles], commands };
}

/** Appends the lists of files to a summary, within `maxTokens` tokens for both lists. */
export function withFileLists(summary: string, { readFiles, modifiedFiles }: Activities, maxTokens: number): string {
	const lists = [
		list("files-changed", modifiedFiles, Math.floor(maxTokens * 0.6)),
		list("files-read", readFiles, Math.floor(maxTokens * 0.4)),
	].filter((text) => text !== "");
	return [summary.trim(), ...lists].join("\n\n");
}

/** A summary without the lists that `withFileLists` added. */
export function withoutFileLists(summary: string): string {
	return summary.replace(/(?<!\n)\n*<(files-(?:changed|read))>\n[\s\S]*?\n<\/\1>/g, "").trim();
}

/**
 * A summary without a model: the previous summary, the prompts, the commands and the last reply, each shortened so that all
 * take at most `maxTokens` tokens. The latest items stay when there is not enough room.
 */
export function plainSummary(
	messages: readonly AppMessage[],
	{ commands }: Activities,
	previous: string | undefined,
	maxTokens: number,
): string {
	const prompts = messages.filter(({ role }) => role === "user").map((message) => oneLine(messageText(message), 400));
	const reply = messages.findLast((message) => message.role === "assistant" && messageText(message).trim() !== "");
	const sections = [
		section("Earlier notes", previous ? [cutTo(previous, Math.floor(maxTokens * 0.35))] : []),
		section("Prompts of the user", latest(prompts.map(item), Math.floor(maxTokens * 0.35))),
		section(
			"Commands",
			latest(
				commands.map((command) => item(oneLine(command, 160))),
				Math.floor(maxTokens * 0.12),
			),
		),
		section("Last reply", reply ? [cutTo(oneLine(messageText(reply), 1200), Math.floor(maxTokens * 0.12))] : []),
	];
	return sections.filter((text) => text !== "").join("\n\n") || "The earlier conversation had no text.";
}

function list(tag: string, names: readonly string[], maxTokens: number): string {
	const lines = latest(names, maxTokens);
	return lines.length === 0 ? "" : `<${tag}>\n${lines.join("\n")}\n</${tag}>`;
}

/** The last lines that fit, and the number of those omitted. */
function latest(lines: readonly string[], maxTokens: number): string[] {
	const shown: string[] = [];
	let tokens = NOTE_TOKENS;
	for (const line of lines.toReversed()) {
		tokens += estimateText(line) + 1;
		if (tokens > maxTokens) break;
		shown.unshift(line);
	}
	const omitted = lines.length - shown.length;
	return omitted === 0 || maxTokens <= NOTE_TOKENS ? shown : [`(${omitted} earlier omitted)`, ...shown];
}

const NOTE_TOKENS = 8;

function section(title: string, lines: readonly string[]): string {
	return lines.length === 0 ? "" : `## ${title}\n${lines.join("\n")}`;
}

function item(text: string): string {
	return `- ${text}`;
}

function oneLine(text: string, max: number): string {
	const line = text.replace(/\s+/g, " ").trim();
	return line.length <= max ? line : `${line.slice(0, max).toWellFormed()} …`;
}

function cutTo(text: string, maxTokens: number): string {
	if (estimateText(text) <= maxTokens) return text;
	let length = Math.min(text.length, maxTokens * 4);
	while (length > 0 && estimateText(text.slice(0, length)) > maxTokens) length = Math.floor(length * 0.8);
	return `${text.slice(0, length).toWellFormed().trimEnd()} …`;
}

function addLast(set: Set<string>, value: string): void {
	set.delete(value);
	set.add(value);
}

function argument({ arguments: given }: ToolCall, name: string): string | null {
	const value: unknown = given[name];
	return typeof value === "string" && value.trim() !== "" ? value : null;
}

function strings(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
