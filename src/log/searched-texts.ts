import { isRecord } from "../util/is-record.js";

/** Entries that hold settings and numbers, but no text that a person reads. */
const WITHOUT_TEXT: ReadonlySet<unknown> = new Set([
	"session",
	"model_change",
	"thinking_level_change",
	"tool_host",
	"request_usage",
	"context_undo",
	"context_freeze",
	"image_omission",
]);

/** The role of the message in a parsed line, or the type of another entry. */
export function entryRole(entry: Record<string, unknown>): string {
	const role = entry.type === "message" && isRecord(entry.message) ? entry.message.role : entry.type;
	return typeof role === "string" ? role : "";
}

/**
 * The texts of a parsed line that a search finds: prompts, replies, tool calls and their output, shell commands, and all
 * texts in entries of hooks. Names of models, ids and recorded requests are not among them.
 */
export function* textsOf(entry: Record<string, unknown>): Generator<string> {
	if (WITHOUT_TEXT.has(entry.type)) return;
	if (entry.type === "message") {
		yield* messageTexts(entry.message);
		yield* allTexts(entry.typed);
	} else
		for (const [key, value] of Object.entries(entry)) if (!/^(?:type|timestamp|id)$/.test(key)) yield* allTexts(value);
}

function* messageTexts(message: unknown): Generator<string> {
	if (!isRecord(message)) return;
	const { content, command, output, errorMessage } = message;
	yield* allTexts([command, output, errorMessage]);
	for (const block of Array.isArray(content) ? content : [content]) {
		if (!isRecord(block)) yield* allTexts(block);
		else if (block.type === "toolCall") yield* allTexts([block.name, block.arguments]);
		else yield* allTexts([block.text, block.thinking]);
	}
}

/** Every string in a value, except the data of images. */
function* allTexts(value: unknown): Generator<string> {
	if (typeof value === "string") yield value;
	else if (Array.isArray(value)) for (const item of value) yield* allTexts(item);
	else if (isRecord(value)) {
		const isImage = typeof value.mimeType === "string";
		for (const [key, item] of Object.entries(value)) if (!isImage || key !== "data") yield* allTexts(item);
	}
}
