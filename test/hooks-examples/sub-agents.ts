import { type LoopbackProvider, type ProviderRequest, type Reply, toolCall } from "../helpers/loopback-provider.js";

/** Definition of an agent with tools. */
export const SCOUT = "---\nname: scout\ndescription: finds files\ntools: read, ls\n---\nYou are a scout.\n";

/** A reply that calls the tool `agent`. */
export const callAgent = (args: object) => [toolCall("agent", { ...args })];

/** Answers requests by the start of their system prompt; "" matches every one. */
export function answerBySystemPrompt(
	provider: LoopbackProvider,
	script: Record<string, (request: ProviderRequest) => Reply | Promise<Reply>>,
): void {
	provider.on((request) => {
		const system = request.messages[0]?.text ?? "";
		const found = Object.entries(script).find(([start]) => system.startsWith(start));
		return found?.[1](request) ?? "done";
	});
}
