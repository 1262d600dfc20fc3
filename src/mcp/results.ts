import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { CallToolResult, ContentBlock, ResourceContents } from "@modelcontextprotocol/client";
import { announceCut, plainOutput, type TruncationResult, truncateHead } from "../tools/output.js";
import type { ToolResult } from "../tools/tool.js";
import { atomicWriteFile, ensurePrivateDir } from "../util/fs.js";
import { revealLine } from "../util/reveal.js";

/** Maximum number of images of one result. */
const MAX_IMAGES = 20;
/** Maximum size of a text that is saved to a file, in UTF-16 units: that of a message. */
const MAX_SAVED = 10 * 1024 * 1024;

/** For the screen. */
export interface McpToolDetails {
	server: string;
	/** The name of the tool as its server calls it. */
	tool: string;
	truncation?: TruncationResult;
	/** Path of the complete text, if it was cut and saved. */
	fullOutputPath?: string;
}

type Piece = TextContent | ImageContent;

/** Converts the result of a server for the model: plain text within the limits of all tools, and images. */
export async function toToolResult(
	result: CallToolResult,
	details: McpToolDetails,
	tmpDir: string,
): Promise<ToolResult<McpToolDetails>> {
	const pieces = (result.content ?? []).map(toPiece);
	if (pieces.length === 0 && result.structuredContent !== undefined) {
		pieces.push(text(JSON.stringify(result.structuredContent, null, 2)));
	}
	const texts = pieces.flatMap((piece) => (piece.type === "text" && piece.text !== "" ? [piece.text] : []));
	const images = pieces.filter((piece) => piece.type === "image");
	if (images.length > MAX_IMAGES)
		texts.push(`[${images.length - MAX_IMAGES} of ${images.length} images were dropped.]`);
	const { shown, ...cut } = await capText(texts.join("\n"), tmpDir);
	const content: Piece[] = [...(shown === "" ? [] : [text(shown)]), ...images.slice(0, MAX_IMAGES)];
	return {
		content: content.length > 0 ? content : [text("(no output)")],
		details: { ...details, ...cut },
		...(result.isError === true ? { isError: true } : {}),
	};
}

/** The contents of a resource. */
export interface ReadResource {
	text: string;
	images: ImageContent[];
}

/** Converts the contents of a resource: plain text within the limits of all tools, and images. */
export function toResource(contents: readonly ResourceContents[]): ReadResource {
	const pieces = contents.map(resourcePiece);
	const texts = pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : []));
	const cut = truncateHead(plainOutput(texts.join("\n")));
	const note = cut.truncation.truncated ? [announceCut("first", cut, "The rest is not available.")] : [];
	return {
		text: [cut.text, ...note].join("\n\n"),
		images: pieces.filter((piece) => piece.type === "image").slice(0, MAX_IMAGES),
	};
}

/** Converts one block of a result or a prompt. */
export function toPiece(block: ContentBlock): Piece {
	switch (block.type) {
		case "text":
			return text(block.text);
		case "image":
			return { type: "image", data: block.data, mimeType: block.mimeType };
		case "audio":
			return text(`[Audio (${revealLine(block.mimeType)}) is not supported and was dropped.]`);
		case "resource":
			return resourcePiece(block.resource);
		case "resource_link": {
			const { uri, name, description } = block;
			return text(`[Resource ${uri}: ${[name, description].filter(Boolean).join(" · ")}]`);
		}
	}
}

function resourcePiece(resource: ResourceContents): Piece {
	const { uri, mimeType = "" } = resource;
	if ("text" in resource && typeof resource.text === "string") return text(resource.text);
	if ("blob" in resource && typeof resource.blob === "string") {
		if (/^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) return { type: "image", data: resource.blob, mimeType };
		const bytes = Math.floor((resource.blob.length * 3) / 4);
		return text(`[${revealLine(uri)}: ${bytes} bytes of ${revealLine(mimeType) || "binary data"}, not shown]`);
	}
	return text(`[${revealLine(uri)}: empty]`);
}

function text(value: string): TextContent {
	return { type: "text", text: plainOutput(value) };
}

/** Cuts a text to the limits of all tools. The complete text is saved in a private file. */
async function capText(
	complete: string,
	tmpDir: string,
): Promise<{ shown: string; truncation?: TruncationResult; fullOutputPath?: string }> {
	const cut = truncateHead(complete);
	const { truncation } = cut;
	if (!truncation.truncated) return { shown: complete };
	const path = await saveText(complete, tmpDir);
	const next = path === undefined ? "Call the tool so that it returns less." : `The complete text is in ${path}.`;
	const shown = `${cut.text}\n\n${announceCut("first", cut, next)}`;
	return { shown, truncation, ...(path === undefined ? {} : { fullOutputPath: path }) };
}

/** @returns the path; undefined if the text could not be saved, such as on a full disk */
async function saveText(complete: string, dir: string): Promise<string | undefined> {
	const path = join(dir, `mcp-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}.txt`);
	try {
		ensurePrivateDir(dir);
		await atomicWriteFile(path, complete.slice(0, MAX_SAVED), { mode: 0o600 });
		return path;
	} catch {
		return undefined;
	}
}
