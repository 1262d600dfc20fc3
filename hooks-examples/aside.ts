/**
 * `/aside <question>` answers a question about the session without adding anything to it: the model gets the complete
 * conversation, the answer is shown, and the conversation goes on as if nobody had asked. It works during a run, too.
 *
 * The question goes to a fork of the session in memory. Its request begins like the last one of the session, so the provider has
 * all but the question in its cache, and the answer costs little. That is why the tools stay offered; calls are refused, and the
 * model answers from what it knows. The cost counts under the name of this hook.
 */
import { createAgentSession, messageText } from "@mariozechner/pi-coding-agent";
import type { CommandContext, HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Requests of a question: one and, if the model calls tools nevertheless, more. */
const MAX_REQUESTS = 3;
const RULES =
	"This is a question aside. Answer it in a few sentences from the conversation so far, without tools. Do not continue the work.";

export default function aside(pi: HookAPI): void {
	pi.command("aside", {
		description: "Ask about the session without adding to it",
		argumentHint: "<question>",
		async handler(ctx) {
			if (ctx.argsRaw.trim() === "") return { status: "Specify a question: /aside <question>" };
			if (ctx.messages.length === 0) return { status: "There is nothing to ask about yet" };
			try {
				return { status: await ask(ctx, ctx.argsRaw) };
			} catch (error) {
				if (ctx.signal.aborted) return undefined;
				return { status: `No answer: ${error instanceof Error ? error.message : String(error)}` };
			}
		},
	});
}

/** @throws Error with a message for the user if there is no answer */
async function ask(ctx: CommandContext, question: string): Promise<string> {
	const { signal } = ctx;
	const session = await createAgentSession({
		parent: ctx.session,
		from: ctx.entries.length,
		session: { kind: "memory" },
		// Nothing is called, so no server need start. The recorded tools are offered all the same.
		mcp: false,
		settings: { rememberModel: false },
		hooks: [withoutTools],
	});
	const stop = () => void session.abort();
	signal.addEventListener("abort", stop, { once: true });
	try {
		await session.start();
		signal.throwIfAborted();
		const result = await session.send(`${RULES}\n\n${question}`);
		if (result.kind !== "run") throw new Error("a hook handled the question");
		const { last, stopped } = result.outcome;
		const answer = last ? messageText(last).trim() : "";
		if (last?.stopReason === "error") throw new Error(last.errorMessage ?? "the request failed");
		if (answer === "") throw new Error(stopped ?? "the reply has no text");
		return answer;
	} finally {
		signal.removeEventListener("abort", stop);
		await session.dispose();
	}
}

/** Refuses every call, and ends a run in which the model does not stop calling. */
function withoutTools(pi: HookAPI): void {
	pi.on("tool_call", () => ({ block: true, reason: "No tools here: answer from the conversation." }));
	pi.on("before_request", ({ turnIndex }) =>
		turnIndex < MAX_REQUESTS ? undefined : { action: "stop", reason: "the model only called tools" },
	);
}
