/**
 * Masks text that looks like a secret before the model sees it. Tool results are masked before pi saves them. Prompts, output of
 * `!` commands, summaries and the system prompt are masked in requests only: the session keeps what you typed and saw.
 *
 * Limits: it recognizes common formats of keys, not every secret, and a model can still read a file in pieces or encoded.
 * The file with the full output of a long bash command is not masked. Data that must not leave this machine should not be
 * readable by the user who runs pi.
 */
import type { ContextMessage, HookAPI, ToolResultEvent } from "@mariozechner/pi-coding-agent/hooks";

type Block = ToolResultEvent["content"][number];
type Message = ContextMessage["message"];

/** Patterns of secrets and their replacements. */
const SECRETS: readonly { pattern: RegExp; mask: string }[] = [
	{
		pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
		mask: "[private key masked]",
	},
	{ pattern: /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}/g, mask: "[API key masked]" },
	{ pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/g, mask: "[GitHub token masked]" },
	{ pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, mask: "[AWS key masked]" },
	{ pattern: /\bAIza[A-Za-z0-9_-]{35}/g, mask: "[Google key masked]" },
	{ pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g, mask: "[Slack token masked]" },
	{ pattern: /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+/g, mask: "[JWT masked]" },
	{ pattern: /([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]{1,100}:)[^\s@/]{1,200}(?=@)/gi, mask: "$1[password masked]" },
	{
		pattern:
			/\b([A-Z0-9_]{0,40}(?:SECRET|TOKEN|PASSWORD|PASSWD|API_KEY|PRIVATE_KEY)[A-Z0-9_]{0,40}\s*=\s*)(?!\[)["']?[^\s"']{6,}["']?/g,
		mask: "$1[masked]",
	},
];

export default function redact(pi: HookAPI): void {
	pi.on("tool_result", (event, ctx) => {
		const content = event.content.map(maskBlock);
		// What only the screen shows, such as the diff of an edit, is saved too.
		const details = maskData(event.details);
		if (details === event.details && content.every((block, i) => block === event.content[i])) return undefined;
		ctx.ui.notify(`Masked a secret in the output of ${event.toolName}`, "warning");
		return { content, details };
	});

	// Equal requests need the same objects: a message is masked once.
	const masked = new WeakMap<Message, Message>();
	pi.on("context", ({ messages, systemPrompt }) => ({
		messages: messages.map((item) => {
			const message = masked.get(item.message) ?? maskMessage(item.message);
			masked.set(item.message, message);
			return message === item.message ? item : { ...item, message };
		}),
		systemPrompt: systemPrompt.map((section) => {
			const text = maskText(section.text);
			return text === section.text ? section : { ...section, text };
		}),
	}));
}

/** Replies are not changed: the model has written them. @returns the same object if the message contains no secret */
function maskMessage(message: Message): Message {
	if (message.role === "bashExecution") {
		const [command, output] = [maskText(message.command), maskText(message.output)];
		return command === message.command && output === message.output ? message : { ...message, command, output };
	}
	if (message.role === "user" && typeof message.content === "string") {
		const content = maskText(message.content);
		return content === message.content ? message : { ...message, content };
	}
	if ((message.role !== "user" && message.role !== "toolResult") || typeof message.content === "string") return message;
	const { content } = message;
	const blocks = content.map(maskBlock);
	return blocks.every((block, i) => block === content[i]) ? message : { ...message, content: blocks };
}

/** @returns the same object if the block contains no secret */
function maskBlock(block: Block): Block {
	if (block.type !== "text") return block;
	const text = maskText(block.text);
	return text === block.text ? block : { ...block, text };
}

/** Masks all texts in JSON data. @returns the same data if they contain no secret */
function maskData(data: unknown): unknown {
	if (typeof data === "string") return maskText(data);
	if (typeof data !== "object" || data === null) return data;
	const fields = Object.entries(data).map(([key, value]) => ({ key, value, masked: maskData(value) }));
	if (fields.every(({ value, masked }) => masked === value)) return data;
	if (Array.isArray(data)) return fields.map(({ masked }) => masked);
	return Object.fromEntries(fields.map(({ key, masked }) => [key, masked]));
}

function maskText(text: string): string {
	return SECRETS.reduce((masked, { pattern, mask }) => masked.replace(pattern, mask), text);
}
