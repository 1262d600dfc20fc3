import type { Api, ImageContent, Message, Model, TextContent } from "@mariozechner/pi-ai";
import { readImageHeader } from "../images/image-header.js";
import { originalOf } from "../images/sent-image.js";
import { imageBlocks } from "./omitted-images.js";

/** The messages of a request within the limits of its model. */
export interface LimitedImages {
	messages: Message[];
	/** Images that text replaces. */
	omitted: number;
}

/** With the limit of a request, a quarter of it is omitted at once: each change of an early message costs the prompt cache. */
const OMITTED_AT_ONCE = 1 / 4;

/**
 * Replaces the images that a model does not accept, by its facts: those that are too large, and the oldest ones beyond its
 * limits for a message and a request. Returns the same list if there are none.
 */
export function limitImages(messages: Message[], model: Model<Api>): LimitedImages {
	const limits = model.inputLimits?.images;
	if (!limits || !model.input.includes("image")) return { messages, omitted: 0 };
	const images = findImages(messages);
	if (images.length === 0) return { messages, omitted: 0 };
	const reasons = new Map<FoundImage, string>();
	for (const found of images) {
		if (isLarger(found.image, limits.resize)) reasons.set(found, `it is larger than ${model.name} accepts`);
	}
	const { maxPerMessage, maxPerRequest } = limits;
	if (maxPerMessage !== undefined) {
		const groups = new Set(images.map(({ group }) => group));
		for (const group of groups) {
			const kept = images.filter((found) => found.group === group && !reasons.has(found));
			for (const found of kept.slice(0, Math.max(0, kept.length - maxPerMessage)))
				reasons.set(found, `${model.name} accepts ${maxPerMessage} images in a message`);
		}
	}
	if (maxPerRequest !== undefined) {
		const kept = images.filter((found) => !reasons.has(found));
		const step = Math.max(1, Math.floor(maxPerRequest * OMITTED_AT_ONCE));
		const excess = Math.ceil(Math.max(0, kept.length - maxPerRequest) / step) * step;
		for (const found of kept.slice(0, excess))
			reasons.set(found, `${model.name} accepts ${maxPerRequest} images in a request`);
	}
	if (reasons.size === 0) return { messages, omitted: 0 };
	const byPlace = new Map([...reasons].map(([{ position, block }, reason]) => [`${position} ${block}`, reason]));
	return {
		messages: messages.map((message, position) => {
			if ((message.role !== "user" && message.role !== "toolResult") || typeof message.content === "string")
				return message;
			const content = message.content.map((block, at) => {
				const reason = byPlace.get(`${position} ${at}`);
				return block.type === "image" && reason !== undefined ? placeholder(block, reason) : block;
			});
			return content.some((block, at) => block !== message.content[at]) ? { ...message, content } : message;
		}),
		omitted: reasons.size,
	};
}

interface FoundImage {
	image: ImageContent;
	position: number;
	/** Index of the block in its message. */
	block: number;
	/** Messages without a reply between them: a provider may get them as one. */
	group: number;
}

function findImages(messages: readonly Message[]): FoundImage[] {
	const found: FoundImage[] = [];
	let group = 0;
	messages.forEach((message, position) => {
		if (message.role === "assistant") group = position;
		if (message.role === "system" || imageBlocks(message).length === 0 || typeof message.content === "string") return;
		message.content.forEach((image, block) => {
			if (image.type === "image") found.push({ image, position, block, group });
		});
	});
	return found;
}

type Bounds = NonNullable<NonNullable<NonNullable<Model<Api>["inputLimits"]>["images"]>["resize"]>;

const sizes = new WeakMap<ImageContent, { width: number; height: number } | null>();

function isLarger(image: ImageContent, bounds: Bounds | undefined): boolean {
	if (!bounds) return false;
	if (bounds.maxBytes !== undefined && image.data.length > bounds.maxBytes) return true;
	let size = sizes.get(image);
	if (size === undefined) {
		// The size is at the start of most files; a damaged image is for the provider to refuse.
		size = readImageHeader(Buffer.from(image.data, "base64"));
		if (Object.isFrozen(image)) sizes.set(image, size);
	}
	if (!size) return false;
	return size.width > (bounds.maxWidth ?? size.width) || size.height > (bounds.maxHeight ?? size.height);
}

function placeholder(image: ImageContent, reason: string): TextContent {
	const path = originalOf(image)?.path;
	const original = path ? `; the original is ${path}` : "";
	return { type: "text", text: `[An image was here. It is not sent, because ${reason}${original}]` };
}
