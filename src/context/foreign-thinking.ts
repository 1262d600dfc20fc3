import type { Api, AssistantMessage, Message, Model } from "@mariozechner/pi-ai";

type Block = AssistantMessage["content"][number];

const BREAK = "\n\n";

/**
 * Separates the thinking of other models from what they said, for requests of chat completions: the client sends it as text, and all
 * text of a reply as one string. Returns the same list if nothing changes.
 */
export function separateThinking(messages: Message[], model: Model<Api>): Message[] {
	if (model.api !== "openai-completions") return messages;
	let isChanged = false;
	const separated = messages.map((message) => {
		if (message.role !== "assistant" || isOf(message, model)) return message;
		const words = message.content.filter(hasWords);
		if (words.length < 2 || words.every(({ type }) => type === "text")) return message;
		isChanged = true;
		return { ...message, content: message.content.map((block) => withBreak(block, words)) };
	});
	return isChanged ? separated : messages;
}

function isOf({ provider, api, model: id }: AssistantMessage, model: Model<Api>): boolean {
	return provider === model.provider && api === model.api && id === model.id;
}

function hasWords(block: Block): boolean {
	if (block.type === "thinking") return !block.redacted && block.thinking.trim() !== "";
	return block.type === "text" && block.text.trim() !== "";
}

/** @param words the blocks of the reply that become text; a break precedes a block if it or the one before is thinking */
function withBreak(block: Block, words: readonly Block[]): Block {
	const at = words.indexOf(block);
	const before = words[at - 1];
	if (!before || (block.type !== "thinking" && before.type !== "thinking")) return block;
	if (block.type === "thinking") return { ...block, thinking: BREAK + block.thinking };
	return block.type === "text" ? { ...block, text: BREAK + block.text } : block;
}
