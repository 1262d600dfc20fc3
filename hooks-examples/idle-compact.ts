/**
 * Compacts a long context shortly before the provider forgets it: the model then reads it from the cache to write the summary,
 * and the next prompt does not write all of it to the cache again.
 *
 * This spends money while nobody is there: at most MAX_TIMES in a session, and only if it pays should the user come back with
 * the probability RETURNS. Each time is an entry, and `/uncompact` restores the messages.
 */
import type { Api, Model } from "@mariozechner/pi-ai";
import { convertToLlm, type HookAPI, type HookEventContext, messageText } from "@mariozechner/pi-coding-agent/hooks";

/** Shorter contexts are kept, because a summary loses something, unless they fill this share of the model's window. */
const MIN_TOKENS = 120_000;
const MIN_SHARE = 0.6;
/** How likely a user comes back after the cache has expired. Nobody knows: a guess, for the question whether it pays. */
const RETURNS = 0.5;
/** Tokens that a compaction leaves: what pi keeps of the recent messages by default, and the summary. */
const KEPT_TOKENS = 22_000;
/** Tokens of the model's reply: the summary, and thinking about it. */
const REPLY_TOKENS = 3000;
/** Times in a session, so that a session left open overnight stays cheap. */
const MAX_TIMES = 5;

const REQUEST = `[This conversation is about to be compacted: your answer replaces everything in it but the latest messages. Call no tool.]
Write down what you need to continue without it, in Markdown, at most 1,000 words: the goal in the words of the user; what was
done, with exact paths and names; what was found out, decided or did not work; what remains to be done, in order.`;

export default function idleCompact(pi: HookAPI): void {
	let isOurs = false;

	pi.entry("idle_compact", {
		render: (entry, theme) =>
			theme.dim(`◇ compacted ${"tokens" in entry ? entry.tokens : "?"} idle tokens · /uncompact restores the messages`),
	});

	pi.on("cache_expiring", async ({ warmTokens }, ctx) => {
		const { model, entries } = ctx;
		const times = entries.filter(({ type }) => type === "idle_compact").length;
		if (!model || times >= MAX_TIMES || ctx.queued > 0 || !pays(warmTokens, model)) return;
		// First, so that what fails counts, too.
		await ctx.saveEntry({ type: "idle_compact", tokens: warmTokens });
		isOurs = true;
		// The session reports why a compaction failed.
		await ctx.compact().catch(() => {});
		isOurs = false;
	});

	pi.on("session", async (event, ctx) => {
		if (event.reason !== "before_compact" || !isOurs) return undefined;
		const { signal, cutPoint, tokensBefore } = event;
		const summary = await askForSummary(ctx, event.model, signal);
		// pi's own summary does not read the cache, so it would not pay.
		if (summary === null) return { cancel: true };
		const { firstKeptEntryIndex } = cutPoint;
		const timestamp = new Date().toISOString();
		return { compactionEntry: { type: "compaction", timestamp, summary, firstKeptEntryIndex, tokensBefore } };
	});
}

/** True if reading the context once and writing the summary costs less than writing the context again, should the user return. */
export function pays(tokens: number, { cost, contextWindow }: Pick<Model<Api>, "cost" | "contextWindow">): boolean {
	if (tokens < Math.min(MIN_TOKENS, MIN_SHARE * contextWindow)) return false;
	const writePrice = cost.cacheWrite || cost.input;
	const spent = tokens * cost.cacheRead + REPLY_TOKENS * cost.output;
	return RETURNS * (tokens - KEPT_TOKENS) * writePrice > spent;
}

/** Continues the conversation with a request for a summary: it begins like the last one, so the provider has it in its cache. */
async function askForSummary(ctx: HookEventContext, model: Model<Api>, signal: AbortSignal): Promise<string | null> {
	const { thinkingLevel } = ctx;
	const tools = ctx.tools.active.map(({ name, description, parameters }) => ({ name, description, parameters }));
	const events = await ctx.stream(
		model,
		{
			systemPrompt: ctx.systemPrompt.map(({ text }) => text).join("\n\n"),
			messages: [...convertToLlm(ctx.messages), { role: "user", content: REQUEST, timestamp: Date.now() }],
			tools,
		},
		// As in the requests of the session: other parameters would miss the cache.
		{ signal, sessionId: ctx.session.id, ...(thinkingLevel === "off" ? {} : { reasoning: thinkingLevel }) },
	);
	const reply = await events.result();
	const summary = messageText(reply).trim();
	return reply.stopReason === "stop" && summary !== "" ? summary : null;
}
