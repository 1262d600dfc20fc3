import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResourceResource } from "@agentclientprotocol/sdk";
import type { Attachment } from "../../hooks/types.js";
import type { SourceImage } from "../../images/sent-image.js";
import { displayPath } from "../../tools/path.js";
import { invalidParams } from "./acp-errors.js";

/** The content of a prompt in the form that a session accepts. */
export interface PromptContent {
	text: string;
	images: SourceImage[];
	attachments: Attachment[];
}

/** Where the files of a prompt are. */
export interface PromptDirectory {
	cwd: string;
	/** Name of the machine on which tools work, if it does not have the files of this one. */
	elsewhere: string | null;
}

/**
 * Reads the blocks of a prompt. A resource leaves its path in the text where it was mentioned; the content of an embedded
 * one becomes an attachment.
 * @throws RequestError for audio, for an empty prompt, and for a link to a file that the tools cannot reach
 */
export function readPrompt(blocks: readonly ContentBlock[], directory: PromptDirectory): PromptContent {
	const prompt: PromptContent = { text: "", images: [], attachments: [] };
	let wasText = false;
	for (const block of blocks) {
		if (block.type === "text") {
			append(prompt, block.text, wasText ? "\n\n" : " ");
			wasText = true;
			continue;
		}
		wasText = false;
		switch (block.type) {
			case "image":
				prompt.images.push({ type: "image", data: block.data, mimeType: block.mimeType });
				break;
			case "resource_link":
				append(prompt, mention(block.uri, directory), " ");
				break;
			case "resource":
				embed(prompt, block.resource, directory);
				break;
			default:
				throw invalidParams(`pi does not accept ${block.type} in prompts`, "send text, images or resources");
		}
	}
	if (prompt.text.trim() === "" && prompt.images.length + prompt.attachments.length === 0) {
		throw invalidParams("The prompt is empty", "send at least one block of text, an image or a resource");
	}
	return prompt;
}

function embed(prompt: PromptContent, resource: EmbeddedResourceResource, directory: PromptDirectory): void {
	// Its content is sent along, so that tools need not reach it.
	const name = mention(resource.uri, { ...directory, elsewhere: null });
	if ("blob" in resource && resource.mimeType?.startsWith("image/")) {
		prompt.images.push({ type: "image", data: resource.blob, mimeType: resource.mimeType });
		return;
	}
	append(prompt, name, " ");
	const isText = "text" in resource;
	const content = isText ? Buffer.from(resource.text).toString("base64") : resource.blob;
	prompt.attachments.push({
		id: `resource-${prompt.attachments.length + 1}`,
		type: "document",
		fileName: name.replace(/^@/, ""),
		mimeType: resource.mimeType ?? (isText ? "text/plain" : "application/octet-stream"),
		size: Buffer.byteLength(content, "base64"),
		content,
		...(isText ? { extractedText: resource.text } : {}),
	});
}

/**
 * A resource as the user would mention it: `@path` for a file, relative to `cwd` if it is inside, with the lines that the
 * address names; else its address.
 * @throws RequestError for a file that the tools cannot reach
 */
function mention(uri: string, { cwd, elsewhere }: PromptDirectory): string {
	if (!uri.startsWith("file:")) return uri;
	const [address = "", lines] = uri.split("#");
	let path: string;
	try {
		path = fileURLToPath(address);
	} catch {
		return uri; // not a path on this machine
	}
	if (elsewhere !== null) {
		throw invalidParams(
			`${path} is a file of this machine, and tools work on ${elsewhere}`,
			"embed its content, or write the path that it has there",
		);
	}
	return `@${displayPath(cwd, path)}${lines ? `#${lines}` : ""}`;
}

/** Appends text; the separator is used only where no blank is. */
function append(prompt: PromptContent, text: string, separator: string): void {
	const isJoined = prompt.text === "" || /\s$/.test(prompt.text) || /^\s/.test(text);
	prompt.text += `${isJoined ? "" : separator}${text}`;
}
