import { createHash } from "node:crypto";
import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import { originalOf } from "../images/sent-image.js";
import { type AppMessage, type ImageOmissionEntry, isContextUndoEntry, isImageOmissionEntry } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import type { TracedMessage } from "./context-message.js";
import type { EntrySource } from "./entry-message.js";

/** Omitted images by digest, with the text that the model gets instead. The same object while it has the same content. */
export type OmittedImages = ReadonlyMap<string, string>;

const TYPES = ["image_omission", "context_undo"];
const NO_OMISSIONS: OmittedImages = new Map();

/** An image in a context. */
export interface ContextImage {
	image: ImageContent;
	digest: string;
	/** Position of its message. */
	position: number;
	entryIndex: number | null;
}

/**
 * The images that entries of a log omit from the context. Reads only omissions and undos.
 * @param from index of the first entry whose message is in the context: earlier omissions concern earlier images
 */
export function omittedImages(entries: EntrySource, from: number): OmittedImages {
	const omitted = new Map<string, string>();
	for (const { entry } of activeOmissions(entries, from)) {
		const text = `[An image was here. ${entry.provider} refused it, so it is not sent: ${entry.reason}]`;
		for (const { digest } of entry.images) omitted.set(digest, text);
	}
	return omitted.size === 0 ? NO_OMISSIONS : omitted;
}

/** Index of the last omission that was not undone; -1 for none. */
export function lastOmission(entries: EntrySource): number {
	for (const { index } of activeOmissions(entries, 0)) return index;
	return -1;
}

/** The omissions that were not undone, latest first. */
function* activeOmissions(entries: EntrySource, from: number): Generator<{ index: number; entry: ImageOmissionEntry }> {
	const undone = new Set<number>();
	for (let index = lastOf(entries, entries.length, from); index >= from; index = lastOf(entries, index, from)) {
		const entry = entries.at(index);
		if (isContextUndoEntry(entry)) undone.add(entry.entryIndex);
		else if (isImageOmissionEntry(entry) && !undone.has(index)) yield { index, entry };
	}
}

function lastOf(entries: EntrySource, before: number, from: number): number {
	if (entries.lastOfTypes) return entries.lastOfTypes(TYPES, before);
	for (let index = before - 1; index >= from; index--) {
		const type = entries.at(index)?.type;
		if (type !== undefined && TYPES.includes(type)) return index;
	}
	return -1;
}

/** The images of a context, in order. */
export function imagesOf(messages: readonly TracedMessage[]): ContextImage[] {
	return messages.flatMap(({ message, entryIndex }, position) =>
		imageBlocks(message).map((image) => ({ image, digest: imageDigest(image), position, entryIndex })),
	);
}

/** True for a message that contains an image. */
export function hasImage(message: AppMessage): boolean {
	return imageBlocks(message).length > 0;
}

/** The images of a message, in order. */
export function imageBlocks(message: AppMessage): ImageContent[] {
	if (message.role === "bashExecution" || typeof message.content === "string") return [];
	return message.content.flatMap((block) => (block.type === "image" ? [block] : []));
}

const digests = new WeakMap<ImageContent, string>();

/** SHA-256, hex, of the data of an image. Cached for frozen ones. */
function imageDigest(image: ImageContent): string {
	const known = digests.get(image);
	if (known !== undefined) return known;
	const digest = createHash("sha256").update(image.data).digest("hex");
	if (Object.isFrozen(image)) digests.set(image, digest);
	return digest;
}

const replaced = new WeakMap<TracedMessage, { omitted: OmittedImages; item: TracedMessage }>();

/** Replaces omitted images with text. Returns the same list if it contains none of them, and the same items for the same input. */
export function withoutOmitted(messages: readonly TracedMessage[], omitted: OmittedImages): readonly TracedMessage[] {
	if (omitted.size === 0) return messages;
	let isChanged = false;
	const kept = messages.map((item) => {
		const known = replaced.get(item);
		if (known?.omitted === omitted) {
			isChanged = true;
			return known.item;
		}
		const count = imageBlocks(item.message).filter((image) => omitted.has(imageDigest(image))).length;
		if (count === 0) return item;
		isChanged = true;
		const without = Object.freeze({ ...item, message: replaceImages(item.message, omitted), omittedImages: count });
		replaced.set(item, { omitted, item: without });
		return without;
	});
	return isChanged ? Object.freeze(kept) : messages;
}

function replaceImages(message: AppMessage, omitted: OmittedImages): AppMessage {
	if (message.role !== "user" && message.role !== "toolResult") return message;
	if (typeof message.content === "string") return message;
	const content = message.content.map((block) => (block.type === "image" ? placeholder(block, omitted) : block));
	return freezeDeep({ ...message, content });
}

function placeholder(image: ImageContent, omitted: OmittedImages): ImageContent | TextContent {
	const text = omitted.get(imageDigest(image));
	if (text === undefined) return image;
	const path = originalOf(image)?.path;
	return { type: "text", text: path ? `${text.slice(0, -1)}; the original is ${path}]` : text };
}
