/**
 * `/handoff [goal]` continues in a new session: the current model drafts a summary of this one, you edit it, and it becomes
 * the first prompt of the new session. With a goal, the summary keeps only what matters for it; without one, you are asked.
 *
 * The old session is unchanged; `/resume` opens it again. An RPC client edits the summary in a dialog. In print and JSON mode
 * nobody can edit it: it is sent as the model wrote it. Run the command between runs: pi refuses it during one.
 */
import {
	type CommandContext,
	type HookAPI,
	messageText,
	serializeConversation,
} from "@mariozechner/pi-coding-agent/hooks";

const MAX_SUMMARY_TOKENS = 4000;
const GOAL = "Goal of the new session";

export default function handoff(pi: HookAPI): void {
	pi.command("handoff", {
		description: "Continue in a new session with a summary of this one",
		argumentHint: "[goal]",
		async handler(ctx) {
			if (ctx.messages.length === 0) return { status: "There is nothing to hand over yet" };
			const canAnswer = ctx.hasUI || ctx.mode === "rpc";
			const asked =
				ctx.argsRaw === "" && canAnswer ? await ctx.ui.input(GOAL, "empty: continue all work") : ctx.argsRaw;
			if (asked === null) return undefined;
			const goal = asked.trim();
			let draft: string;
			try {
				draft = await draftSummary(ctx, goal);
			} catch (error) {
				if (ctx.signal.aborted) return undefined;
				return { status: `Nothing was handed over: ${error instanceof Error ? error.message : String(error)}` };
			}
			const prompt = canAnswer ? await ctx.ui.editor("First prompt of the new session", draft) : draft;
			if (!prompt?.trim()) return undefined;
			const { ui } = ctx;
			if (await ctx.newSession()) return { prompt };
			// A hook kept this session open: the text must not be lost.
			ui.setEditorText(prompt);
			return { status: "A hook kept this session open; the summary is in the editor" };
		},
	});
}

/** @throws Error with a message for the user if the model returns no summary */
async function draftSummary(ctx: CommandContext, goal: string): Promise<string> {
	const { model, signal, ui } = ctx;
	if (!model) throw new Error("choose a model first, with /model");
	ui.setStatus("draft", `${model.name} writes the summary…`);
	try {
		// Sent as text, because models reject tool calls of tools that are not in the request.
		const request = [
			`<conversation>\n${serializeConversation(ctx.messages)}\n</conversation>`,
			"Write the first prompt of a new session in which another agent continues this work without this conversation: the",
			"goal, what is done, decisions and their reasons, exact paths and names, and the next steps. Address the agent. Be",
			"concise, and write nothing but the prompt.",
			...(goal === "" ? [] : [`The goal of the new session: ${goal}. Omit what does not matter for it.`]),
		].join("\n");
		const events = await ctx.stream(
			model,
			{ messages: [{ role: "user", content: request, timestamp: Date.now() }] },
			{ maxTokens: Math.min(model.maxTokens, MAX_SUMMARY_TOKENS) },
		);
		const reply = await events.result();
		signal.throwIfAborted();
		const summary = messageText(reply).trim();
		if (reply.stopReason === "error" || summary === "") {
			throw new Error(`${model.name} returned no summary (${reply.errorMessage ?? "its reply has no text"})`);
		}
		return summary;
	} finally {
		ui.setStatus("draft", undefined);
	}
}
