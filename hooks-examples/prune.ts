/**
 * Cuts old tool outputs to their head and tail in what the model sees; /prune shows what that saves.
 *
 * The log keeps every output whole: only the context is changed, and removing this hook brings everything back. What is
 * cut depends on the conversation alone, and the border moves in steps: between two steps every request begins like the
 * one before it, so the provider's prompt cache stays good.
 */
import { type ContextMessage, estimateTokens, type HookAPI, messageText } from "@mariozechner/pi-coding-agent/hooks";

/** Outputs of the last so many turns of the user are left alone … */
const KEEP_TURNS = 5;
/** … unless more than so many tokens of tool output came after them. */
const KEEP_TOKENS = 40_000;
/** The border moves when so many turns … */
const STEP_TURNS = 5;
/** … or so many tokens of output have gathered behind it. */
const STEP_TOKENS = 20_000;
/** Characters left of an output at each end. */
const HEAD = 800;
const TAIL = 800;

type Message = ContextMessage["message"];

export default function prune(pi: HookAPI): void {
	let report = { outputs: 0, cut: 0, before: 0, after: 0 };

	pi.on("context", ({ messages }) => {
		const border = findBorder(messages);
		const pruned = messages.map((item, position) =>
			position < border ? { ...item, message: cutOutput(item.message) } : item,
		);
		report = describe(messages, pruned);
		return report.cut === 0 ? undefined : { messages: pruned };
	});

	pi.command("prune", {
		description: "Show what cutting old tool outputs saves",
		async handler(ctx) {
			await ctx.rebuildContext();
			const { outputs, cut, before, after } = report;
			if (cut === 0) return { status: `Nothing is cut: ${outputs} tool outputs, ${short(before)} tokens` };
			return { status: `${cut} of ${outputs} tool outputs are cut: ${short(before)} → ${short(after)} tokens` };
		},
	});
}

/** Position before which outputs are cut: where the turns or the tokens to keep begin, rounded down to a step. */
function findBorder(messages: readonly ContextMessage[]): number {
	const turns = messages.flatMap(({ message }, position) => (message.role === "user" ? [position] : []));
	const byTurns = turns[roundDown(turns.length - KEEP_TURNS, STEP_TURNS)] ?? 0;

	const outputs = messages.map(({ message }) => (message.role === "toolResult" ? estimateTokens(message) : 0));
	let excess = roundDown(sum(outputs) - KEEP_TOKENS, STEP_TOKENS);
	const byTokens = outputs.findIndex((tokens) => {
		excess -= tokens;
		return excess < 0;
	});
	return Math.max(byTurns, byTokens);
}

// The same message must give the same object: that is how the program sees that the beginning of a request is unchanged.
const cutOutputs = new WeakMap<Message, Message>();

function cutOutput(message: Message): Message {
	if (message.role !== "toolResult") return message;
	const known = cutOutputs.get(message);
	if (known) return known;
	const text = messageText(message);
	const images = message.content.filter(({ type }) => type === "image").length;
	const left = text.length - HEAD - TAIL;
	if (left < HEAD + TAIL && images === 0) return message;
	const shown =
		left < HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n[… ${left} characters cut …]\n${text.slice(-TAIL)}`;
	const note = `[This old output was cut${images > 0 ? ", its images left out" : ""}. Run the tool again to see all of it.]`;
	const cut: Message = { ...message, content: [{ type: "text", text: `${shown}\n${note}`.trim().toWellFormed() }] };
	cutOutputs.set(message, cut);
	return cut;
}

function describe(before: readonly ContextMessage[], after: readonly ContextMessage[]) {
	const isOutput = ({ message }: ContextMessage) => message.role === "toolResult";
	const tokens = (list: readonly ContextMessage[]) =>
		sum(list.filter(isOutput).map(({ message }) => estimateTokens(message)));
	return {
		outputs: before.filter(isOutput).length,
		cut: after.filter(({ message }, position) => message !== before[position]?.message).length,
		before: tokens(before),
		after: tokens(after),
	};
}

function roundDown(value: number, step: number): number {
	return Math.max(0, Math.floor(value / step) * step);
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, number) => total + number, 0);
}

/** 14210 → "14.2k". */
function short(tokens: number): string {
	return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`;
}
