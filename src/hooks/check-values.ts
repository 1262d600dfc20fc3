import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import { isRecord } from "../util/is-record.js";
import type { Attachment, SendOptions } from "./types.js";

// Hooks and tools run without type checks, so pi checks what they pass before it reads a field.

/** True for a list of text and image blocks that a provider accepts. */
export function isContent(value: unknown): value is (TextContent | ImageContent)[] {
	return Array.isArray(value) && value.every(isContentBlock);
}

/** True for a text or image block that a provider accepts. */
export function isContentBlock(block: unknown): block is TextContent | ImageContent {
	if (!isRecord(block)) return false;
	if (block.type === "text") return typeof block.text === "string";
	return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}

/**
 * A copy of a value as JSON gives it back, so that it can be saved in the session.
 * @param changes refuses values that JSON changes to others, too, such as a Map or NaN
 * @throws Error naming what JSON cannot represent: a BigInt, a cycle, a function, a symbol, a `toJSON` that throws
 */
export function jsonCopy(value: unknown, { changes = "accepted" }: { changes?: "accepted" | "refused" } = {}): unknown {
	const text = JSON.stringify(value, (key, item: unknown) => {
		const lost = describeLost(item) ?? (changes === "refused" ? describeChanged(item) : null);
		if (lost === null) return item;
		throw new TypeError(`${key === "" ? "it" : JSON.stringify(key)} is ${lost}, which JSON cannot represent`);
	});
	return text === undefined ? undefined : JSON.parse(text);
}

/** Names a value that JSON leaves out or fails on; null for others. */
function describeLost(value: unknown): string | null {
	return ["function", "symbol", "bigint"].includes(typeof value) ? `a ${typeof value}` : null;
}

/** Names a value that JSON changes to an empty object or null; null for others. */
function describeChanged(value: unknown): string | null {
	if (typeof value === "number" && !Number.isFinite(value)) return String(value);
	if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
	const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
	return kind === "Object" ? null : `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;
}

/** Checks the attachments of a prompt. @throws TypeError naming the invalid one */
export function checkAttachments(value: unknown): Attachment[] {
	const list: unknown[] = Array.isArray(value) ? value : [null];
	const invalid = list.findIndex((item) => !isAttachment(item));
	if (invalid >= 0)
		throw new TypeError(`attachment ${invalid} is not { type, fileName, mimeType, content } with texts`);
	return list.filter(isAttachment);
}

/** Checks the options of `pi.send`. @throws TypeError naming an unknown delivery */
export function checkSendOptions(value: unknown): SendOptions {
	const delivery = isRecord(value) ? value.delivery : null;
	if (delivery === undefined) return {};
	if (delivery === "steer" || delivery === "followUp") return { delivery };
	throw new TypeError('the options of send are not { delivery: "steer" | "followUp" }');
}

/** True for a file as `pi.send` and answers accept it. */
export function isAttachment(value: unknown): value is Attachment {
	if (!isRecord(value) || (value.type !== "image" && value.type !== "document")) return false;
	const { fileName, mimeType, content, extractedText = "" } = value;
	return [fileName, mimeType, content, extractedText].every((text) => typeof text === "string");
}
