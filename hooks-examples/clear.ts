/**
 * Replaces old tool results by one line each, such as `[read a.ts · 3,200 tokens cleared · recall 12]`, when that saves money. The
 * tool `recall` gives the model the full text back; `/cleared` shows what was cleared and what it saved.
 *
 * Every request contains the results of all earlier calls, and most of them are never needed again. But clearing one makes the
 * provider process everything behind it again, which costs about ten times as much as what its cache has. So results are cleared in
 * steps, each decided once and saved as an entry: see strategies/steps.ts. The log keeps every result.
 */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { provideRecall } from "./recall.js";
import { replaceResults, shownResults } from "./strategies/results.js";
import { chooseStep, describeSteps, isStep, linesOf, saveStep, short } from "./strategies/steps.js";

/**
 * Tokens at the end of the context that are never cleared: what the model works with. With 20,000 or 25,000, one of two recorded sessions
 * loses 5 to 6 % of its evidence, with 30,000 less than 1 %: see docs/strategies.md.
 */
const KEEP_TOKENS = 30_000;

export default function clear(pi: HookAPI): void {
	provideRecall(pi);
	pi.entry("clear", {
		render: (entry, theme) =>
			theme.dim(
				isStep(entry) ? `◇ cleared ${entry.results.length} old tool results: ${short(entry.saved)} tokens` : "◇",
			),
	});

	pi.on("turn_start", async ({ timestamp }, ctx) => {
		// Without the tool, the model could not get back what is cleared.
		if (!ctx.tools.active.some(({ name }) => name === "recall")) return;
		const old = shownResults(ctx).filter(({ tail, tokens }) => tail - tokens >= KEEP_TOKENS);
		const step = chooseStep(old, ctx, timestamp);
		if (step) await saveStep(ctx, "clear", step);
	});

	pi.on("context", ({ entries, messages }) => replaceResults(messages, linesOf(entries, "clear", "cleared")));

	pi.command("cleared", {
		description: "Show which tool results were cleared, and what that saved",
		handler: (ctx) => ({ status: describeSteps(ctx, "clear", "cleared") }),
	});
}
