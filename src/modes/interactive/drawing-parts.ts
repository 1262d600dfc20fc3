import { setImmediate } from "node:timers/promises";
import type { AgentSession } from "../../session/agent-session.js";
import { loadHighlighter } from "../../tui/highlight.js";
import { loadWordDiff } from "./views/tools/word-diff.js";

/**
 * Loads what drawing needs and a start does not wait for: colours for code, the comparison of words. What was drawn
 * without it would be drawn anew later, above the screen too.
 */
export async function loadDrawingParts(): Promise<void> {
	await Promise.all([loadHighlighter(), loadWordDiff()]);
}

/**
 * Resolves at once while nothing runs. A prompt that waited for the session goes first: resolves when the model has begun
 * to answer it, or when its run is over.
 */
export async function afterFirstRequest(session: Pick<AgentSession, "isRunning" | "subscribe">): Promise<void> {
	// What waited is started by now, or will be in this round of the event loop.
	await setImmediate();
	if (!session.isRunning) return;
	await new Promise<void>((resolve) => {
		const stop = session.subscribe((event) => {
			const answers = event.type === "message_start" && event.message.role === "assistant";
			if (!answers && event.type !== "agent_end") return;
			stop();
			resolve();
		});
	});
}
