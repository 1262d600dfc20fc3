/**
 * A tool with which the model reads again what is no longer in its context: results that `clear`, `dedupe` or `distill` replaced
 * by a line such as `[read a.ts · 3,200 tokens cleared · recall 12]`, and everything before a compaction or pop.
 *
 * The log keeps every message. `recall({ entry: 12 })` returns the one of entry 12, or what the pop of entry 12 replaced;
 * `recall({ words: "price round" })` finds entries. What the user has hidden from the model, with `!!` or in a thinking block, stays hidden.
 */
import {
	type AppMessage,
	estimateTokens,
	type HookAPI,
	isMessageEntry,
	type SessionEntry,
	serializeConversation,
} from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";
import { poppedText } from "./stacking.js";

/** pi cuts results of tools at 2,000 lines or 50 KB: a page is smaller. */
const [PAGE_LINES, PAGE_BYTES] = [1900, 45_000];
/** Entries that a search lists, and characters of each. */
const [MAX_FOUND, EXCERPT] = [20, 160];

/** Offers the tool to the model. */
export default function recall(pi: HookAPI): void {
	provideRecall(pi);
}

/** Registers the tool `recall` when a session starts, unless another hook has registered one. */
export function provideRecall(pi: HookAPI): void {
	pi.on("session", ({ reason }, { tools }) => {
		if (reason !== "start" || tools.all.some(({ name }) => name === "recall")) return;
		pi.tool({
			name: "recall",
			description:
				"Read again what was removed from the conversation. Lines such as [read a.ts · 3,200 tokens cleared · recall 12] " +
				"name the entry: recall({ entry: 12 }). With words, lists the entries that contain all of them.",
			parameters: Type.Object({
				entry: Type.Optional(Type.Integer({ minimum: 1, description: "Number of an entry" })),
				page: Type.Optional(Type.Integer({ minimum: 1, description: "Page of a long entry, from 1" })),
				words: Type.Optional(Type.String({ description: "Words to find, in any order" })),
			}),
			readOnly: true,
			run: ({ entry, page = 1, words = "" }, { ctx }) => {
				const found = entry === undefined ? search(ctx.entries, words) : readEntry(ctx.entries, entry, page);
				return {
					content: [{ type: "text", text: found.text }, ...(found.images ?? [])],
					isError: found.isError === true,
				};
			},
		});
	});
}

interface Found {
	text: string;
	images?: Extract<AppMessage, { role: "toolResult" }>["content"];
	isError?: true;
}

function readEntry(entries: readonly SessionEntry[], index: number, page: number): Found {
	const message = messageAt(entries, index);
	const whole = message ? textOf(message) : poppedText(entries, index);
	if (whole === null) return { text: `Entry ${index} has no message to recall. Search with words.`, isError: true };
	const pages = pagesOf(whole);
	const text = pages[page - 1];
	if (text === undefined) return { text: `Entry ${index} has ${pages.length} pages, not ${page}.`, isError: true };
	const images =
		message?.role === "toolResult" && page === 1 ? message.content.filter(({ type }) => type === "image") : [];
	const more = page < pages.length ? `\n[page ${page} of ${pages.length} · continue with page ${page + 1}]` : "";
	return { text: text + more, images };
}

/** Newest first. */
function search(entries: readonly SessionEntry[], text: string): Found {
	const words = text.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return { text: "Specify an entry or words.", isError: true };
	const lines: string[] = [];
	for (let index = entries.length - 1; index > 0 && lines.length < MAX_FOUND; index--) {
		const message = messageAt(entries, index);
		if (!message || (message.role === "toolResult" && message.toolName === "recall")) continue;
		const said = textOf(withoutRecalls(message));
		const lower = said.toLowerCase();
		if (!words.every((word) => lower.includes(word))) continue;
		const at = Math.max(0, lower.indexOf(words[0] ?? "") - EXCERPT / 4);
		const excerpt = said
			.slice(at, at + EXCERPT)
			.replace(/\s+/g, " ")
			.trim()
			.toWellFormed();
		const who = message.role === "toolResult" ? message.toolName : message.role;
		lines.push(`${index} ${who} · ${estimateTokens(message).toLocaleString("en-US")} tokens · ${excerpt}`);
	}
	return { text: lines.length > 0 ? lines.join("\n") : `No entry contains ${words.join(", ")}.` };
}

/** A search finds no searches: neither their results nor their calls. */
function withoutRecalls(message: AppMessage): AppMessage {
	if (message.role !== "assistant") return message;
	const isRecall = (block: (typeof message.content)[number]) => block.type === "toolCall" && block.name === "recall";
	return { ...message, content: message.content.filter((block) => !isRecall(block)) };
}

function messageAt(entries: readonly SessionEntry[], index: number): AppMessage | null {
	const entry = entries[index];
	if (!isMessageEntry(entry)) return null;
	const { message } = entry;
	return message.role === "bashExecution" && message.excludeFromContext ? null : message;
}

/** A result as the model received it; other messages with who said them. */
function textOf(message: AppMessage): string {
	if (message.role !== "toolResult")
		return serializeConversation([message], { maxResultChars: Number.MAX_SAFE_INTEGER });
	return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Parts of a text, each small enough for the result of a tool. Joined with line feeds they are the text, unless a line is longer. */
export function pagesOf(text: string): string[] {
	const pages: string[] = [];
	let page: string[] = [];
	let bytes = 0;
	for (const line of text.split("\n").flatMap(splitLine)) {
		const size = Buffer.byteLength(line) + 1;
		if (page.length > 0 && (page.length >= PAGE_LINES || bytes + size > PAGE_BYTES)) {
			pages.push(page.join("\n"));
			page = [];
			bytes = 0;
		}
		page.push(line);
		bytes += size;
	}
	return [...pages, page.join("\n")];
}

/** Pieces of a line that fit on a page, without half characters. */
function splitLine(line: string): string[] {
	if (Buffer.byteLength(line) < PAGE_BYTES) return [line];
	// A character has at most four bytes.
	const characters = [...line];
	const size = Math.floor(PAGE_BYTES / 4) - 1;
	return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
		characters.slice(at * size, (at + 1) * size).join(""),
	);
}
