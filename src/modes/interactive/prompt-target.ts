import type { ImageContent } from "@mariozechner/pi-ai";
import type { AgentSession } from "../../session/agent-session.js";
import type { QueuedPrompts } from "../../session/events.js";
import type { Submission } from "../submission.js";
import { rememberTyped } from "./history-search.js";
import type { PastedImages } from "./pasted-images.js";
import type { PromptTarget } from "./prompt-controller.js";

/** Hands what is typed to a session, with the images that were pasted into it. */
export function createPromptTarget(session: AgentSession, images: PastedImages): PromptTarget {
	return {
		prompt: async (text) => {
			void rememberTyped(session, text);
			await session.prompt(text, { images: images.in(text) });
		},
		followUp: (text) => session.followUp(text, images.in(text)),
		runBash: (command, options) => session.runBash(command, options),
	};
}

/** A prompt that pi was started with. */
export interface FirstPrompt {
	text: string;
	images?: readonly ImageContent[];
}

/** Says prompts one after the other; one that fails does not keep the others back. */
export async function sayAll(
	session: AgentSession,
	prompts: readonly FirstPrompt[],
	failed: (error: unknown) => void,
): Promise<void> {
	for (const { text, images } of prompts) await session.prompt(text, { images }).catch(failed);
}

/** What was submitted before there was a session, as the queue shows it. */
export function waitingQueue(waiting: readonly Submission[]): QueuedPrompts {
	const textOf = (one: Submission) => (one.kind === "bash" ? `!${one.command}` : one.text);
	return {
		steering: waiting.filter(({ kind }) => kind !== "follow_up").map(textOf),
		followUps: waiting.filter(({ kind }) => kind === "follow_up").map(textOf),
	};
}
