import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import { isContentBlock } from "../hooks/check-values.js";
import type { Attachment } from "../hooks/types.js";

/** The content of a message as extensions give it. */
export type Content = string | readonly (TextContent | ImageContent)[];

/** Reads a text, or text and image blocks; anything else is an empty text. */
export function readContent(value: unknown): Content {
	return Array.isArray(value) ? value.filter(isContentBlock) : typeof value === "string" ? value : "";
}

/** The text blocks, joined by newlines. */
export function contentText(content: Content): string {
	if (typeof content === "string") return content;
	return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The images of a content as attachments of a prompt. */
export function contentImages(content: Content): Attachment[] {
	if (typeof content === "string") return [];
	const images = content.filter((block) => block.type === "image");
	return images.map(({ data, mimeType }, index) => ({
		id: `image-${index + 1}`,
		type: "image",
		fileName: `image-${index + 1}.${mimeType.split("/")[1] ?? "png"}`,
		mimeType,
		size: Buffer.byteLength(data, "base64"),
		content: data,
	}));
}

/** The images among the attachments of a prompt, as blocks. */
export function attachedImages(attachments: readonly Attachment[]): ImageContent[] {
	return attachments.flatMap(({ type, content, mimeType }) =>
		type === "image" ? [{ type: "image" as const, data: content, mimeType }] : [],
	);
}
