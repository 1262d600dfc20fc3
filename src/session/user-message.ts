import type { ImageContent, TextContent, UserMessage } from "@mariozechner/pi-ai";
import type { Attachment } from "../hooks/types.js";

/** What may go with a prompt. */
export interface PromptExtras {
	attachments?: readonly Attachment[];
	images?: readonly ImageContent[];
}

/** The user message of a prompt: images as blocks, documents as text between `<file>` tags. */
export function createUserMessage(text: string, { attachments = [], images = [] }: PromptExtras = {}): UserMessage {
	const documents = attachments.filter(({ type }) => type === "document").map(documentText);
	const pictures: ImageContent[] = [
		...images,
		...attachments
			.filter(({ type }) => type === "image")
			.map(({ content, mimeType }): ImageContent => ({ type: "image", data: content, mimeType })),
	];
	const whole = [...documents, text].filter((part) => part.length > 0).join("\n\n");
	if (pictures.length === 0) return { role: "user", content: whole, timestamp: Date.now() };
	const blocks: (TextContent | ImageContent)[] = whole ? [{ type: "text", text: whole }] : [];
	return { role: "user", content: [...blocks, ...pictures], timestamp: Date.now() };
}

function documentText({ fileName, mimeType, content, extractedText }: Attachment): string {
	const isText = /^text\/|json|xml|yaml|javascript|typescript/.test(mimeType);
	const text =
		extractedText ?? (isText ? Buffer.from(content, "base64").toString("utf8") : `(${mimeType}, not readable as text)`);
	return `<file name="${fileName.replace(/["<>&]/g, "")}">\n${text}\n</file>`;
}
