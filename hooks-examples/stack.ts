/**
 * The tools `push` and `pop` let the model do a part of its work in a frame: when it pops, only the result of the frame stays
 * in the context. Frames can be nested. A popped frame is an entry of the hook `stacking`, which must be on: the transcript
 * shows it like a `/pop`, and `/unpop` brings its work back. The tool `recall` gives the model the work as text.
 *
 * A frame replaces complete replies with their results: those between the reply that pushes and the reply that pops. These two
 * stay. So do messages of the user: a frame replaces only what follows the last of them.
 */
import {
	firstKeptEntry,
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";
import { provideRecall } from "./recall.js";
import { countTokens, livePops, onOneLine, readEntries, short } from "./stacking.js";

export default function stack(pi: HookAPI): void {
	provideRecall(pi);
	pi.entry("stack_push", {
		render: (entry, theme) => theme.dim(`◇ pushed “${onOneLine("task" in entry ? String(entry.task) : "")}”`),
	});

	pi.tool({
		name: "push",
		description:
			"Begin a frame: a part of the work of which only the result matters, such as a search, reading many files or trying " +
			"something out. End it with pop. Frames can be nested.",
		promptLine: "begin a part of the work of which only the result stays in your context",
		guidelines: [
			"Begin work that reads much and decides little with push, and end it with pop as soon as you know the result.",
		],
		parameters: Type.Object({
			task: Type.String({ minLength: 1, maxLength: 500, description: "What the frame is to find out or do" }),
		}),
		async run({ task }, { ctx }) {
			if (!ctx.commands.some(({ name }) => name === "unpop"))
				return answer("The hook stacking is off, so frames have no effect. Work without them.", true);
			await ctx.saveEntry({ type: "stack_push", task });
			return answer(`Frame “${task}” begins. It ends when you call pop with its result.`);
		},
	});

	pi.tool({
		name: "pop",
		description:
			"End the innermost frame. What you did since push is replaced by the result: write down all that matters, with exact " +
			"paths, names and what you changed.",
		parameters: Type.Object({ result: Type.String({ minLength: 1 }) }),
		run: async ({ result }, { ctx }) => pop(result, ctx),
	});
}

async function pop(result: string, ctx: HookEventContext) {
	const { entries } = ctx;
	const pushIndex = openFrames(entries).at(-1);
	if (pushIndex === undefined) return answer("No frame is open. Call push first.", true);
	const push = entries[pushIndex];
	const task = push && "task" in push ? String(push.task) : "";
	const { from, to } = frameRange(entries, pushIndex);
	const work = readEntries(entries, from, to);
	const [before, after] = [countTokens(work), countTokens([{ role: "user", content: result, timestamp: 0 }])];
	const index = await ctx.saveEntry({
		...{ type: "stack_pop", backToIndex: from, toIndex: to, summary: result, task, pushIndex },
		...{ tokensBefore: before, tokensAfter: after },
	});
	return answer(
		`Frame “${task}” is closed: ${work.length} messages, ${short(before)} → ${short(after)} tokens · recall ${index}`,
	);
}

/** Entry indices of the pushes that no pop has closed, and that no later pop has replaced; outermost first. */
export function openFrames(entries: readonly SessionEntry[]): number[] {
	const closed = new Set(entries.map((entry) => (entry.type === "stack_pop" ? entry.pushIndex : null)));
	const pops = livePops(entries);
	return entries.flatMap((entry, index) => {
		if (entry.type !== "stack_push" || closed.has(index)) return [];
		return pops.some(({ to, pop }) => pop.backToIndex <= index && index < to) ? [] : [index];
	});
}

/** The entries `[from, to)` of a frame that the last reply pops; `from` is `to` if nothing happened in it. */
export function frameRange(entries: readonly SessionEntry[], pushIndex: number): { from: number; to: number } {
	const to = lastReply(entries, entries.length);
	const pushReply = lastReply(entries, pushIndex);
	let from = Math.max(pushReply + 1, firstKeptEntry(entries));
	let isOfPush = true;
	for (let index = pushReply + 1; index < to; index++) {
		const entry = entries[index];
		if (!isMessageEntry(entry)) continue;
		const { role } = entry.message;
		if (role === "assistant") isOfPush = false;
		// The results of the reply that pushes stay, and what the user says is never replaced.
		if (role === "toolResult" ? isOfPush : role !== "assistant") from = Math.max(from, index + 1);
	}
	return { from: Math.min(from, to), to };
}

/** Entry index of the last reply before an index. */
function lastReply(entries: readonly SessionEntry[], before: number): number {
	return entries.slice(0, before).findLastIndex((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
}

function answer(text: string, isError = false) {
	return { content: [{ type: "text" as const, text }], isError };
}
