/**
 * Truncates old tool outputs in the context to their head and tail; `/prune` shows how many tokens that saves.
 *
 * The log keeps every output in full: only the context changes, and removing this hook restores everything. Which outputs
 * are truncated depends only on the conversation, and the border moves in steps. Between two steps each request starts
 * with the same messages as the previous one, so the provider's prompt cache remains valid.
 */
import { type ContextMessage, estimateTokens, type HookAPI, messageText } from "@mariozechner/pi-coding-agent/hooks";

/** Outputs of this many latest turns are not truncated … */
const KEEP_TURNS = 5;
/** … unless more than this many tokens of tool output follow them. */
const KEEP_TOKENS = 40_000;
/** The border moves in steps of this many turns … */
const STEP_TURNS = 5;
/** … or this many tokens of output. */
const STEP_TOKENS = 20_000;
/** Characters to keep at the start and end of an output. */
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
		description: "Show how many tokens truncating old tool outputs saves",
		async handler(ctx) {
			await ctx.rebuildContext();
			const { outputs, cut, before, after } = report;
			if (cut === 0) return { status: `No output is truncated: ${outputs} tool outputs, ${short(before)} tokens` };
			return { status: `${cut} of ${outputs} tool outputs are truncated: ${short(before)} → ${short(after)} tokens` };
		},
	});
}

/** Outputs before this position are truncated. It is where the turns or tokens to keep start, rounded down to a step. */
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

// Return the same object for the same message: pi compares objects to detect that the start of a request is unchanged.
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
		left < HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n[… ${left} characters omitted …]\n${text.slice(-TAIL)}`;
	const note = `[This old output was truncated${images > 0 ? " and its images were omitted" : ""}. Run the tool again to see all of it.]`;
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
