/**
 * Of files that were read again, searches and commands that were repeated, and calls that failed and then succeeded, only the latest
 * result stays in the context, when that saves money. Earlier ones become a line such as
 * `[read a.ts · 3,200 tokens superseded by a later call · recall 12]`; `/deduped` shows what was replaced and what it saved.
 *
 * A model that reads a file after each change has every version of it in each request. The latest one is enough, and the others even
 * mislead. What is replaced is decided in steps: see strategies/steps.ts. The log keeps every result.
 */
import { type HookAPI, messageText } from "@mariozechner/pi-coding-agent/hooks";
import { provideRecall } from "./recall.js";
import { type Call, replaceResults, type ShownResult, shownResults, subjectOf } from "./strategies/results.js";
import { chooseStep, describeSteps, isStep, linesOf, saveStep, short } from "./strategies/steps.js";

/** Tokens at the end of the context that never change: the model may be comparing two versions. */
const KEEP_TOKENS = 10_000;
/** Tools that return the same for the same arguments until something changes. Of others, nothing is known. */
const REPEATABLE = ["read", "grep", "find", "ls", "bash"];

export default function dedupe(pi: HookAPI): void {
	provideRecall(pi);
	pi.entry("dedupe", {
		render: (entry, theme) =>
			theme.dim(
				isStep(entry) ? `◇ replaced ${entry.results.length} superseded results: ${short(entry.saved)} tokens` : "◇",
			),
	});

	pi.on("turn_start", async ({ timestamp }, ctx) => {
		// Without the tool, the model could not get back what is replaced.
		if (!ctx.tools.active.some(({ name }) => name === "recall")) return;
		const old = supersededResults(shownResults(ctx)).filter(({ tail, tokens }) => tail - tokens >= KEEP_TOKENS);
		const step = chooseStep(old, ctx, timestamp);
		if (step) await saveStep(ctx, "dedupe", step);
	});

	pi.on("context", ({ entries, messages }) =>
		replaceResults(messages, linesOf(entries, "dedupe", "superseded by a later call")),
	);

	pi.command("deduped", {
		description: "Show which superseded tool results were replaced, and what that saved",
		handler: (ctx) => ({ status: describeSteps(ctx, "dedupe", "replaced") }),
	});
}

/** The results that a later one makes superfluous, in order. */
export function supersededResults<R extends Pick<ShownResult, "call" | "message">>(results: readonly R[]): R[] {
	return results.filter((earlier, at) => results.slice(at + 1).some((later) => supersedes(later, earlier)));
}

type Result = Pick<ShownResult, "call" | "message">;

function supersedes(later: Result, earlier: Result): boolean {
	if (later.message.isError) return earlier.message.isError && isSameCall(later.call, earlier.call);
	// A failed call says how to do better, until that was done.
	if (earlier.message.isError)
		return later.call.name === earlier.call.name && subjectOf(later.call) === subjectOf(earlier.call);
	if (REPEATABLE.includes(later.call.name) && isSameCall(later.call, earlier.call)) return true;
	// What was read of a file is old once these lines were read again, or the file was replaced.
	if (earlier.call.name !== "read" || earlier.call.arguments.path !== later.call.arguments.path) return false;
	if (later.call.name === "write") return true;
	const [old, now] = [readLines(earlier), readLines(later)];
	return later.call.name === "read" && now.first <= old.first && now.last >= old.last;
}

const keys = new WeakMap<Call, string>();

function isSameCall(a: Call, b: Call): boolean {
	return a.name === b.name && keyOf(a) === keyOf(b);
}

function keyOf(call: Call): string {
	const key = keys.get(call) ?? JSON.stringify(call.arguments);
	keys.set(call, key);
	return key;
}

/** The lines of a file that a result of `read` has, from 1; the last one is infinite if the file ended. */
function readLines({ call, message }: Result): { first: number; last: number } {
	const { offset, limit } = call.arguments;
	const first = typeof offset === "number" ? Math.max(1, offset) : 1;
	if (typeof limit === "number") return { first, last: first + limit - 1 };
	const { details } = message;
	const isTruncated = typeof details === "object" && details !== null && "truncation" in details && details.truncation;
	return { first, last: isTruncated ? first + messageText(message).split("\n").length - 1 : Number.POSITIVE_INFINITY };
}
