/**
 * The tool `question` lets the model ask you: a question with options, of which you choose one or several, or with a free
 * answer. You can always answer in your own words instead.
 *
 * An RPC client shows the question as a dialog. In print and JSON mode nobody can answer: the tool then says so, and that
 * the model must decide or stop. The same happens if you close the question.
 */
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";

const OWN_WORDS = "Something else…";

const DECIDE =
	"Choose the safest option yourself and say what you assumed, or stop and ask in your final message if a wrong choice " +
	"could not be undone. Do not ask again.";

export default function question(pi: HookAPI): void {
	pi.tool({
		name: "question",
		description:
			"Ask the user a question when the task is ambiguous and the answer changes what you do. Do not ask for permission " +
			"or for facts that you can find out yourself.",
		promptLine: "question: ask the user when the task is ambiguous",
		parameters: Type.Object({
			question: Type.String({ minLength: 1 }),
			options: Type.Optional(
				Type.Array(Type.String({ minLength: 1 }), { description: "Answers to choose from. Absent: a free answer" }),
			),
			multiple: Type.Optional(Type.Boolean({ description: "The user can choose several options" })),
		}),
		async run({ question, options = [], multiple = false }, { ctx, signal }) {
			const answer = await ask(ctx, question, options, multiple);
			signal.throwIfAborted();
			if (answer !== null) return { content: [{ type: "text", text: answer }], details: { answer } };
			const canAnswer = ctx.hasUI || ctx.mode === "rpc";
			const reason = canAnswer ? "The user closed the question without an answer." : "No user can answer in this mode.";
			return { content: [{ type: "text", text: `${reason} ${DECIDE}` }] };
		},
		renderCall: ({ question = "" }, theme) => `${theme.bold("question")} ${question}`,
		renderResult({ content, details }, theme, { isError }) {
			if (details && !isError) return `${theme.success("→")} ${details.answer}`;
			const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
			return isError ? theme.error(text) : theme.dim(text);
		},
	});
}

/** @returns null without an answer */
async function ask(
	ctx: HookEventContext,
	question: string,
	options: readonly string[],
	multiple: boolean,
): Promise<string | null> {
	if (options.length === 0) return write(ctx, question);
	// A label may occur only once, and one of them may be that of the last option.
	const labels = [...new Set(options)].filter((label) => label !== OWN_WORDS);
	if (!multiple) {
		const chosen = await ctx.ui.select(question, [...labels, OWN_WORDS]);
		return chosen === OWN_WORDS ? write(ctx, question) : chosen;
	}
	const chosen = await ctx.ui.select(question, [...labels, OWN_WORDS], { multiple: true });
	if (!chosen) return null;
	const own = chosen.includes(OWN_WORDS) ? await write(ctx, question) : null;
	const answers = [...chosen.filter((label) => label !== OWN_WORDS), ...(own === null ? [] : [own])];
	if (answers.length > 0) return answers.join("\n");
	return chosen.length === 0 ? "None of them." : null;
}

/** Asks for an answer in the user's own words. @returns null if it is empty */
async function write(ctx: HookEventContext, question: string): Promise<string | null> {
	return (await ctx.ui.editor(question))?.trim() || null;
}
