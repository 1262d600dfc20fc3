import { type AppMessage, messageText } from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";

/**
 * A tool result or shell command whose output has about `characters` characters: its start and end, and a note between.
 * Returns the message itself if it is short enough or has no output. Images of a shortened result are omitted.
 */
export function shortenOutput(message: AppMessage, characters: number): AppMessage {
	if (message.role === "toolResult") {
		const text = messageText(message);
		const images = message.content.filter((block) => block.type === "image").length;
		if (text.length <= characters && images === 0) return message;
		const note = images === 0 ? "" : `\n(${images === 1 ? "an image" : `${images} images`} left out to save room)`;
		return { ...message, content: [{ type: "text", text: `${cut(text, characters)}${note}` }] };
	}
	if (message.role === "bashExecution") {
		const output = cut(message.output, characters);
		return output === message.output ? message : { ...message, output };
	}
	return message;
}

const shortened = new WeakMap<TracedMessage, { characters: number; compaction: number; item: TracedMessage }>();

/** The item of an entry whose output a compaction shortens; always the same object, so that contexts compare by identity. */
export function shortenItem(item: TracedMessage, characters: number, compaction: number): TracedMessage {
	const known = shortened.get(item);
	if (known && known.characters === characters && known.compaction === compaction) return known.item;
	const message = shortenOutput(item.message, characters);
	const origin = Object.freeze({ kind: "shortened", entryIndex: compaction } as const);
	const short = message === item.message ? item : Object.freeze({ ...item, message: Object.freeze(message), origin });
	shortened.set(item, { characters, compaction, item: short });
	return short;
}

function cut(text: string, characters: number): string {
	if (text.length <= characters) return text;
	const half = Math.max(0, Math.floor(characters / 2));
	const start = text.slice(0, half).toWellFormed();
	const end = half === 0 ? "" : text.slice(-half).toWellFormed();
	return `${start}\n[… ${text.length - 2 * half} characters left out to save room …]\n${end}`;
}
