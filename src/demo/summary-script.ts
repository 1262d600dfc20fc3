import type { Context } from "@mariozechner/pi-ai";
import { conversationText, lastPrompt, prompts, textOf } from "./conversation.js";
import { SCRATCH_BUG } from "./scratch-project.js";

const ASKS_FOR_SUMMARY = /\bsummar(?:y|ies|i[sz]e|i[sz]ing|i[sz]ation)\b/i;

/** True for the requests of compaction and `/pop`: they ask for a summary and have no tools. */
export function isSummaryRequest(context: Context): boolean {
	if ((context.tools ?? []).length > 0) return false;
	const last = context.messages.at(-1);
	const asked = last?.role === "user" ? textOf(last) : "";
	return (
		asked.includes("<conversation>") ||
		ASKS_FOR_SUMMARY.test(asked) ||
		ASKS_FOR_SUMMARY.test(context.systemPrompt ?? "")
	);
}

/** Summarizes a conversation, given as messages or as one text. States only facts from the conversation. */
export function summarize(context: Context): string {
	const all = conversationText(context);
	const done: string[] = [];
	if (all.includes("npm test") && all.includes("2379")) {
		done.push("Ran `npm test`: rounding of prices with tax failed, 2378 cents where 2379 were expected.");
	}
	if (all.includes(SCRATCH_BUG.newText)) {
		done.push(
			`Edited \`${SCRATCH_BUG.path}\`: \`withTax\` now rounds with \`Math.round\` instead of truncating with \`Math.floor\`.`,
		);
	}
	if (/All tests pass\.|^(?:# |ℹ )fail 0$/m.test(all)) done.push("Ran `npm test` again: all tests pass.");
	if (done.length > 0) return `Investigated the failing test of the corner shop.\n\n${list(done)}`;
	const asked = prompts(context)
		.filter(({ position }) => position < lastPrompt(context).position)
		.map(({ text }) => `The user asked: ${firstLine(text)}`);
	return asked.length > 0 ? list(asked) : "The user and the scripted model talked about the demo; nothing was changed.";
}

function list(lines: readonly string[]): string {
	return lines.map((line) => `- ${line}`).join("\n");
}

function firstLine(text: string): string {
	const line = text.split("\n")[0] ?? "";
	return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
