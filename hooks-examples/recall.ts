/**
 * The tool `recall` gives the model the full text of what hooks have removed from the context: nothing is ever deleted from
 * the session. A handle such as `recall 123` names the entry; words find entries.
 */
import {
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
	messageText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";
import { onOneLine, poppedText } from "./stacking.js";

/** Characters of one answer: below the limit of tool results, so that pi does not cut it. */
const PAGE = 40_000;
/** Entries that a search lists, newest first. */
const MAX_FOUND = 20;

export default provideRecall;

/** Adds the tool `recall` when the session starts, unless another hook has added it. */
export function provideRecall(pi: HookAPI): void {
	pi.on("session", ({ reason }, ctx) => {
		if (reason !== "start" || ctx.tools.all.some(({ name }) => name === "recall")) return;
		pi.tool({
			name: "recall",
			description:
				"Get back the full text of something that was removed from your context: pass the number of its entry, as in " +
				"“recall 123”, or words to find entries.",
			promptLine: "get back what was removed from the context",
			readOnly: true,
			parameters: Type.Object({
				entry: Type.Optional(Type.Integer({ minimum: 1 })),
				words: Type.Optional(Type.String({ minLength: 1 })),
				page: Type.Optional(Type.Integer({ minimum: 1, description: "Of a long text; default: 1" })),
			}),
			run: (args, { ctx: now }) => recall(args, now),
		});
	});
}

function recall(
	{ entry, words, page = 1 }: { entry?: number; words?: string; page?: number },
	{ entries }: HookEventContext,
) {
	if (entry !== undefined) {
		const text = textOf(entries, entry);
		if (text === null) return answer(`Entry ${entry} has no text. Pass words to find entries.`, true);
		const pages = Math.max(1, Math.ceil(text.length / PAGE));
		const part = text.slice((page - 1) * PAGE, page * PAGE).toWellFormed();
		return answer(pages === 1 ? part : `${part}\n[Page ${page} of ${pages}]`);
	}
	if (words === undefined) return answer("Pass entry or words.", true);
	const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
	const found = entries.flatMap((_, index) => {
		const text = textOf(entries, index) ?? "";
		const small = text.toLowerCase();
		return wanted.every((word) => small.includes(word)) ? [`${index}: ${onOneLine(text)}`] : [];
	});
	if (found.length === 0) return answer(`No entry contains: ${words}`);
	return answer(found.reverse().slice(0, MAX_FOUND).join("\n"));
}

/** The text of a message, or of what a pop replaced; null for other entries. */
function textOf(entries: readonly SessionEntry[], index: number): string | null {
	const entry = entries[index];
	return isMessageEntry(entry) ? messageText(entry.message) : poppedText(entries, index);
}

function answer(text: string, isError = false) {
	return { content: [{ type: "text" as const, text }], isError };
}
