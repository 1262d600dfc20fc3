import type { Context } from "@mariozechner/pi-ai";
import {
	conversationText,
	finishedCallsAfter,
	lastPrompt,
	prompts,
	type ScriptedReply,
	textOf,
} from "./conversation.js";
import { nextRepairStep } from "./repair-script.js";
import { SCRATCH_BUG } from "./scratch-project.js";

const REPAIR = /\b(fix|mend|repair|test|tests|bug|fail|fails|failing|broken|price|prices|round|rounding|tax)\b/i;
const CONTINUE = /^\s*(go on|continue|carry on|again|yes|ok|okay)\b/i;

/** Picks the reply that fits the conversation. It has no other state, so a conversation can be resumed or compacted. */
export function nextReply(context: Context): ScriptedReply {
	if (isSummaryRequest(context)) return { text: summarize(context) };
	const last = lastPrompt(context);
	const topic = TOPICS.find(({ about }) => about.test(last.text));
	if (topic) return { text: topic.text };
	const repair = CONTINUE.test(last.text) ? prompts(context).findLast(({ text }) => REPAIR.test(text)) : last;
	if (repair && REPAIR.test(repair.text)) {
		return nextRepairStep(
			finishedCallsAfter(context, repair.position),
			new Set((context.tools ?? []).map(({ name }) => name)),
		);
	}
	return { text: FALLBACK };
}

const TOPICS: readonly { about: RegExp; text: string }[] = [
	{
		about: /\/pop\b|\bstack/i,
		text: `\`/pop\` folds finished work away. Pick one of your earlier messages: everything since then leaves the context, and a short summary replaces it. The transcript still shows the folded messages, marked as hidden from the model.

Nothing is deleted. The session file only grows: \`/pop\` adds one entry, and a hook reads it whenever the context is built. That hook is a single TypeScript file, and you can write your own.

Type \`/pop\` to try it on the repair, then \`/context\` to see the result.`,
	},
	{
		about: /\/context\b|\bcontext\b/i,
		text: `\`/context\` lists every message of the next request in order, each with its tokens and its origin: an entry of the session, a compaction or a hook. It also lists hidden entries, each with what hides it.

Type \`/context\` to open it, Escape to close it.`,
	},
	{
		about: /\bhooks?\b/i,
		text: `A hook is a TypeScript file that adds slash commands, saves entries in the session and rewrites what the model sees. \`/hooks\` lists those that are loaded; \`pi hooks new <name>\` starts one.`,
	},
];

const FALLBACK = `I am a script, not a language model, so I cannot answer that. In this demo I can:

- find and fix the failing test of this scratch project, with real tools: ask \`The tests fail. Find out why and fix it.\`
- explain \`/pop\`, \`/context\` and hooks when you ask about them
- summarize our conversation for \`/pop\` and \`/compact\`

For real answers choose a model with \`/model\`, or add a key with \`/login\`.`;

/** A suggested line of the demo. */
export interface DemoPrompt {
	text: string;
	/** Description for a list of suggestions. */
	note: string;
	/** Commands need a session with a screen; prompts work in every mode. */
	kind: "prompt" | "command";
}

/** Suggestions for the demo, in order. The editor shows the first as dim text. */
export const DEMO_PROMPTS: readonly DemoPrompt[] = [
	{
		text: "The tests fail. Find out why, fix it and run them again.",
		note: "runs real tools on a scratch project",
		kind: "prompt",
	},
	{ text: "What does /pop do?", note: "folds finished work into a summary", kind: "prompt" },
	{ text: "/context", note: "shows every message of the next request, and its origin", kind: "command" },
	{ text: "/pop", note: "goes back to an earlier message and keeps a summary of the work since", kind: "command" },
	{ text: "What can you do?", note: "lists what the scripted model knows", kind: "prompt" },
];

const ASKS_FOR_SUMMARY = /\bsummar(?:y|ies|i[sz]e|i[sz]ing|i[sz]ation)\b/i;

/** True for the requests of compaction and `/pop`: they ask for a summary and have no tools. */
function isSummaryRequest(context: Context): boolean {
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
function summarize(context: Context): string {
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
