/**
 * Lets a cheaper model write compaction summaries. `/compact-with [provider/model]` chooses it for this session; the
 * default is the first of MODELS that is known, has an API key and a large enough context window. If none exists, or it
 * fails, the current model writes the summary as usual: a handler that returns nothing changes nothing.
 */
import type { Api, Model } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	type CommandContext,
	estimateTokens,
	type HookAPI,
	messageText,
	type SessionEntry,
	serializeConversation,
} from "@mariozechner/pi-coding-agent/hooks";

/** In order of preference. */
const MODELS = ["anthropic/claude-haiku-4-5", "openai/gpt-5-mini", "google/gemini-2.5-flash"];
const MAX_SUMMARY_TOKENS = 8000;

export default function customCompaction(pi: HookAPI): void {
	pi.entry("compaction_model");

	pi.command("compact-with", {
		description: "Choose the model that writes compaction summaries",
		argumentHint: "[provider/model]",
		complete: async (prefix, ctx) =>
			(await ctx.availableModels())
				.map(({ provider, id, name }) => ({ value: `${provider}/${id}`, label: name }))
				.filter(({ value }) => value.startsWith(prefix.trim())),
		async handler(ctx) {
			const model = ctx.args[0] ?? (await chooseModel(ctx));
			if (model === null)
				return { status: `The first available of these models writes summaries: ${preferred(ctx.entries).join(", ")}` };
			if (!parseModel(model, ctx.findModel)) return { status: `Unknown model ${model}; /model lists all models` };
			await ctx.saveEntry({ type: "compaction_model", model });
			return { status: `${model} now writes summaries` };
		},
	});

	pi.on("session", async (event, ctx) => {
		if (event.reason !== "before_compact") return undefined;
		const { cutPoint, messagesToSummarize, tokensBefore, customInstructions, signal } = event;
		for (const name of preferred(event.entries)) {
			const model = parseModel(name, ctx.findModel);
			if (!model || !fits(messagesToSummarize, model)) continue;
			if ((await ctx.resolveApiKey(model)) === undefined) continue;
			const events = await ctx.stream(
				model,
				{
					messages: [
						{ role: "user", content: request(messagesToSummarize, customInstructions), timestamp: Date.now() },
					],
				},
				{ signal, maxTokens: Math.min(model.maxTokens, MAX_SUMMARY_TOKENS) },
			);
			const reply = await events.result();
			if (signal.aborted) return { cancel: true };
			const summary = messageText(reply).trim();
			if (reply.stopReason === "error" || summary === "") {
				ctx.ui.notify(`${model.name} returned no summary; the current model writes it instead`, "warning");
				return undefined;
			}
			return {
				compactionEntry: {
					type: "compaction",
					timestamp: new Date().toISOString(),
					summary,
					firstKeptEntryIndex: cutPoint.firstKeptEntryIndex,
					tokensBefore,
				},
			};
		}
		return undefined;
	});
}

/** Lets the user choose one of the available models. @returns null if canceled, or without a user */
async function chooseModel(ctx: CommandContext): Promise<string | null> {
	const models = await ctx.availableModels();
	if (models.length === 0) return null;
	const options = models.map(({ provider, id, name }) => ({
		label: name,
		value: `${provider}/${id}`,
		description: provider,
	}));
	return ctx.ui.select("Which model writes summaries?", options, { filter: true });
}

/** The model chosen in this session, else the default list. */
function preferred(entries: readonly SessionEntry[]): string[] {
	const chosen = entries.findLast(({ type }) => type === "compaction_model");
	return chosen && "model" in chosen && typeof chosen.model === "string" ? [chosen.model] : MODELS;
}

/** Parses `provider/id`; the id may contain slashes. */
function parseModel(name: string, find: (provider: string, id: string) => Model<Api> | null): Model<Api> | null {
	const slash = name.indexOf("/");
	return slash > 0 ? find(name.slice(0, slash), name.slice(slash + 1)) : null;
}

function fits(messages: readonly AppMessage[], model: Model<Api>): boolean {
	const tokens = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
	return tokens + MAX_SUMMARY_TOKENS < model.contextWindow;
}

/** The messages include the summary of the previous compaction, so the new summary covers it too. */
function request(messages: readonly AppMessage[], focus: string | undefined): string {
	return [
		`<conversation>\n${serializeConversation(messages)}\n</conversation>`,
		"Write handover notes from which a coding agent can continue this work: the goal, what was done (exact paths and",
		"names), what was found out, what remains to be done. Be as short as that allows. Do not continue the conversation.",
		...(focus ? [`Pay particular attention to: ${focus}`] : []),
	].join("\n");
}
