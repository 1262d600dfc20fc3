import type { Context } from "@mariozechner/pi-ai";
import { lastUserText, outcomesAfter, type ScriptedReply, userTexts } from "./conversation.js";
import { nextRepairStep } from "./repair-script.js";
import { isSummaryRequest, summarize } from "./summary-script.js";

const REPAIR = /\b(fix|mend|repair|test|tests|bug|fail|fails|failing|broken|price|prices|round|rounding|tax)\b/i;
const CONTINUE = /^\s*(go on|continue|carry on|again|yes|ok|okay)\b/i;

/** Picks the reply that fits the conversation. Depends on nothing but the conversation, so it can be reloaded or cut. */
export function nextReply(context: Context): ScriptedReply {
	if (isSummaryRequest(context)) return { text: summarize(context) };
	const said = userTexts(context);
	const last = lastUserText(context);
	const topic = TOPICS.find(({ about }) => about.test(last.text));
	if (topic) return { text: topic.text };
	const repair = CONTINUE.test(last.text) ? said.findLast(({ text }) => REPAIR.test(text)) : last;
	if (repair && REPAIR.test(repair.text)) {
		return nextRepairStep(
			outcomesAfter(context, repair.position),
			new Set((context.tools ?? []).map(({ name }) => name)),
		);
	}
	return { text: HONEST };
}

const TOPICS: readonly { about: RegExp; text: string }[] = [
	{
		about: /\/pop\b|\bstack/i,
		text: `\`/pop\` folds finished work away. Pick one of your earlier messages: everything since then leaves the context, and a short summary of it takes its place. In the transcript the folded messages stay, marked as no longer seen by the model.

Nothing is deleted. The session file only grows: \`/pop\` adds one entry, and a hook reads it whenever the context is built. \`/pop\` is such a hook, a single TypeScript file, and you can write your own.

Type \`/pop\` to try it on the repair, then \`/context\` to see what is left.`,
	},
	{
		about: /\/context\b|\bcontext\b/i,
		text: `\`/context\` lists every message that I am sent, in order, each with its tokens and with who put it there: an entry of the session, a compaction or a hook. What was hidden is listed as well, with the name of what hid it.

Type \`/context\` to open it, Escape to close it.`,
	},
	{
		about: /\bhooks?\b/i,
		text: `A hook is a TypeScript file that adds slash commands, saves entries in the session and rewrites what the model sees. \`/hooks\` lists those that are loaded; \`pi hooks new <name>\` starts one.`,
	},
];

const HONEST = `I am a script, not a language model, so I cannot answer that. In this demo I can:

- find and fix the failing test of this scratch project, with real tools: ask \`The tests fail. Find out why and fix it.\`
- explain \`/pop\`, \`/context\` and hooks, when you ask about them
- summarize our conversation, which is what \`/pop\` and \`/compact\` ask me for

For real answers choose a model with \`/model\`, or add a key with \`/login\`.`;

/** A line for the editor in demo mode. */
export interface DemoPrompt {
	text: string;
	/** What it shows, for a list of suggestions. */
	note: string;
	/** Commands need a session with a screen; prompts can be played through anywhere. */
	kind: "prompt" | "command";
}

/** What there is to try in the demo, in this order. The first is typed for the user. */
export const DEMO_PROMPTS: readonly DemoPrompt[] = [
	{
		text: "The tests fail. Find out why, fix it and run them again.",
		note: "real tools at work on a scratch project",
		kind: "prompt",
	},
	{ text: "What does /pop do?", note: "fold finished work into a summary", kind: "prompt" },
	{ text: "/context", note: "see every message that the model gets, and why", kind: "command" },
	{ text: "/pop", note: "go back to an earlier message and keep a summary of the work since", kind: "command" },
	{ text: "What can you do?", note: "what this scripted model knows", kind: "prompt" },
];
