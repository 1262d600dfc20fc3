/**
 * Lets a cheaper model write the summaries of compactions. /compact-with <provider/model> chooses it for this session;
 * without that the first of MODELS that is known, has a key and is large enough is taken. When none is, or it fails, the
 * current model writes the summary as usual: a hook that answers nothing changes nothing.
 */
import { type Api, complete, type Model } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	estimateTokens,
	type HookAPI,
	messageText,
	type SessionEntry,
	serializeConversation,
} from "@mariozechner/pi-coding-agent/hooks";

/** Best first. */
const MODELS = ["anthropic/claude-haiku-4-5", "openai/gpt-5-mini", "google/gemini-2.5-flash"];
const MAX_SUMMARY_TOKENS = 8000;

export default function customCompaction(pi: HookAPI): void {
	pi.entry("compaction_model");

	pi.command("compact-with", {
		description: "Choose the model that writes compaction summaries",
		argumentHint: "<provider/model>",
		complete: async (prefix, ctx) =>
			(await ctx.availableModels())
				.map(({ provider, id, name }) => ({ value: `${provider}/${id}`, label: name }))
				.filter(({ value }) => value.startsWith(prefix.trim())),
		async handler(ctx) {
			const model = ctx.args[0];
			if (model === undefined)
				return { status: `Summaries are written by the first of ${preferred(ctx.entries).join(", ")}` };
			if (!parseModel(model, ctx.findModel)) return { status: `There is no model ${model}; /model lists them` };
			await ctx.saveEntry({ type: "compaction_model", model });
			return { status: `Summaries are now written by ${model}` };
		},
	});

	pi.on("session", async (event, ctx) => {
		if (event.reason !== "before_compact") return undefined;
		const { cutPoint, messagesToSummarize, tokensBefore, customInstructions, signal } = event;
		for (const name of preferred(event.entries)) {
			const model = parseModel(name, ctx.findModel);
			if (!model || !fits(messagesToSummarize, model)) continue;
			const auth = await ctx.requestAuth(model);
			if (!auth) continue;
			const reply = await complete(
				model,
				{
					messages: [
						{ role: "user", content: request(messagesToSummarize, customInstructions), timestamp: Date.now() },
					],
				},
				{ ...auth, signal, maxTokens: Math.min(model.maxTokens, MAX_SUMMARY_TOKENS) },
			);
			if (signal.aborted) return { cancel: true };
			const summary = messageText(reply).trim();
			if (reply.stopReason === "error" || summary === "") {
				ctx.ui.notify(`${model.name} gave no summary; the current model writes it`, "warning");
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

/** The session's own choice, else the list. */
function preferred(entries: readonly SessionEntry[]): string[] {
	const chosen = entries.findLast(({ type }) => type === "compaction_model");
	return chosen && "model" in chosen && typeof chosen.model === "string" ? [chosen.model] : MODELS;
}

/** `provider/id`; an id may hold slashes itself. */
function parseModel(name: string, find: (provider: string, id: string) => Model<Api> | null): Model<Api> | null {
	const slash = name.indexOf("/");
	return slash > 0 ? find(name.slice(0, slash), name.slice(slash + 1)) : null;
}

function fits(messages: readonly AppMessage[], model: Model<Api>): boolean {
	const tokens = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
	return tokens + MAX_SUMMARY_TOKENS < model.contextWindow;
}

/** The messages hold the summary of the compaction before, so what it said lives on in this one. */
function request(messages: readonly AppMessage[], focus: string | undefined): string {
	return [
		`<conversation>\n${serializeConversation(messages)}\n</conversation>`,
		"Write hand-over notes from which a coding agent can go on with this work: the goal, what was done (exact paths and",
		"names), what was found out, what is left to do. Be as short as that allows. Do not continue the conversation.",
		...(focus ? [`Pay particular attention to: ${focus}`] : []),
	].join("\n");
}
