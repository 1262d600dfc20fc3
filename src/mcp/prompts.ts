import type { ImageContent } from "@mariozechner/pi-ai";
import type { GetPromptResult, Prompt } from "@modelcontextprotocol/client";
import { PiError } from "../errors.js";
import { revealLine } from "../util/reveal.js";
import { splitArgs } from "../util/split-args.js";
import { reduceName } from "./names.js";
import { toPiece } from "./results.js";

const MAX_DESCRIPTION = 100;

/** A prompt of a server as a command. */
export interface McpPrompt {
	/** `server:prompt`. */
	name: string;
	description: string;
	/** `<city> [state]`; absent without arguments. */
	argumentHint?: string;
}

/** The command of a prompt. */
export function describePrompt(server: string, { name, title, description, arguments: args = [] }: Prompt): McpPrompt {
	const hint = args.map((argument) => {
		const shown = revealLine(argument.name, { maxLength: 40 });
		return argument.required ? `<${shown}>` : `[${shown}]`;
	});
	return {
		name: promptCommand(server, name),
		description: revealLine(description ?? title ?? name, { maxLength: MAX_DESCRIPTION, lineEnd: " " }),
		...(hint.length > 0 ? { argumentHint: hint.join(" ") } : {}),
	};
}

/** `server:prompt`. */
export function promptCommand(server: string, prompt: string): string {
	return `${server}:${reduceName(prompt)}`;
}

/**
 * Reads the arguments of a prompt.
 * @throws PiError `bad_arguments` if a required one is missing
 */
export function readPromptArguments(command: McpPrompt, prompt: Prompt, rest: string): Record<string, string> {
	const values = assignArguments(prompt, rest);
	const missing = (prompt.arguments ?? [])
		.filter(({ name, required }) => required && !values.has(name))
		.map(({ name }) => name);
	if (missing.length > 0) {
		throw new PiError("bad_arguments", `/${command.name} needs ${missing.join(" and ")}`, {
			hint: `write /${command.name} ${command.argumentHint ?? ""}, or name=value`,
		});
	}
	return Object.fromEntries(values);
}

/** The values in a text, by argument: `name=value`, or in the order of the prompt. Further words belong to the last one. */
export function assignArguments({ arguments: declared = [] }: Prompt, text: string): Map<string, string> {
	const values = new Map<string, string>();
	const positional: string[] = [];
	for (const word of splitArgs(text)) {
		const [, name = "", value = ""] = /^([^=]+)=([\s\S]*)$/.exec(word) ?? [];
		if (declared.some((argument) => argument.name === name)) values.set(name, value);
		else positional.push(word);
	}
	const open = declared.filter(({ name }) => !values.has(name));
	for (const [at, { name }] of open.entries()) {
		const isLast = at === open.length - 1;
		const words = isLast ? positional.slice(at) : positional.slice(at, at + 1);
		if (words.length > 0) values.set(name, words.join(" "));
	}
	return values;
}

/** The messages of a prompt as one message of the user. */
export function promptText({ messages }: GetPromptResult): { text: string; images: ImageContent[] } {
	const texts: string[] = [];
	const images: ImageContent[] = [];
	for (const { role, content } of messages) {
		const piece = toPiece(content);
		if (piece.type === "image") images.push(piece);
		else texts.push(role === "assistant" ? `Assistant: ${piece.text}` : piece.text);
	}
	return { text: texts.join("\n\n"), images };
}
