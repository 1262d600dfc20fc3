import { stat } from "node:fs/promises";
import { Type } from "typebox";
import { describeError } from "../errors.js";
import { imageType } from "../images/header.js";
import { describeFit } from "../images/sent-image.js";
import { MAX_READ_BYTES, readRegularFile } from "../util/fs.js";
import { binaryKind, utf16Encoding } from "./file-type.js";
import { count, countLines, dropControls, formatBytes, truncateHead } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, textResult } from "./result.js";
import { defineTool, type ReadToolDetails, type ToolResult } from "./tool.js";

const parameters = Type.Object({
	path: Type.String({ description: "File to read: absolute, relative to the working directory, or starting with ~" }),
	offset: Type.Optional(Type.Integer({ minimum: 1, description: "First line to return, counted from 1; default 1" })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: "Number of lines to return; default: as many as fit" })),
});

export const readTool = defineTool<typeof parameters, ReadToolDetails>({
	name: "read",
	description:
		"Read a text file, or view an image (png, jpg, gif, webp). At most 2000 lines or 50 KB are returned per call; the result states the offset to continue with. Lines have no numbers, exactly as edit needs them.",
	parameters,
	readOnly: true,
	promptLine: "read text files and images",
	guidelines: ["read: read a file before you edit it; read large files in parts, with offset and limit."],
	async run({ path, offset = 1, limit }, { cwd, signal, tmpDir }) {
		const file = resolvePath(cwd, path);
		const shown = displayPath(cwd, file);
		let bytes: Buffer;
		try {
			if ((await stat(file)).isDirectory()) return failed(`${shown} is a directory. Use ls to list it.`);
			bytes = await readRegularFile(file);
		} catch (thrown) {
			const size = (await stat(file).catch(() => undefined))?.size ?? 0;
			const result = await failedOnFile(cwd, file, thrown);
			return size <= MAX_READ_BYTES
				? result
				: failed(
						`${shown} is too large to read at once (${formatBytes(size)}). Use grep, or sed -n '1,200p' with bash.`,
					);
		}
		signal.throwIfAborted();
		const mimeType = imageType(bytes);
		if (mimeType !== undefined) return readImage({ shown, path: file, bytes, mimeType, tmpDir });
		const kind = binaryKind(bytes);
		if (kind !== undefined) {
			return failed(
				`${shown} is ${kind} of ${formatBytes(bytes.length)}, not text. Use bash with a program that reads such files.`,
			);
		}
		return readText(shown, bytes, offset, limit);
	},
});

interface ImageFile {
	/** Path for the model. */
	shown: string;
	path: string;
	bytes: Buffer;
	mimeType: string;
	tmpDir: string;
}

async function readImage({ shown, path, bytes, mimeType, tmpDir }: ImageFile): Promise<ToolResult<ReadToolDetails>> {
	const { fitImage } = await import("../images/fit-image.js");
	try {
		const image = await fitImage({ type: "image", data: bytes.toString("base64"), mimeType, path }, tmpDir);
		const text = `${shown} (${[mimeType, formatBytes(bytes.length), ...describeFit(image)].join(", ")})`;
		return { content: [{ type: "text", text }, image], details: {} };
	} catch (error) {
		return failed(`${describeError(error)} (${shown}, ${formatBytes(bytes.length)})`);
	}
}

function readText(shown: string, bytes: Buffer, offset: number, limit?: number): ToolResult<ReadToolDetails> {
	const decoded = new TextDecoder(utf16Encoding(bytes) ?? "utf-8").decode(bytes).replaceAll("\r\n", "\n");
	const text = dropControls(decoded);
	const total = countLines(text);
	if (total === 0) return textResult(["(empty file)"], {});
	if (offset > total) {
		return failed(`offset ${offset} is past the end: ${shown} has ${count(total, "line")}.`);
	}
	const cut = truncateHead(sliceLines(text, offset, limit));
	const last = offset + Math.max(cut.truncation.outputLines, 1) - 1;
	const notes: string[] = [];
	if (cut.partialLine) {
		notes.push(
			`[Line ${offset} of ${total} is ${formatBytes(Buffer.byteLength(sliceLines(text, offset, 1)))} long; its first ${formatBytes(cut.truncation.outputBytes)} are shown. To see more of it, use bash: sed -n '${offset}p' '${shown}' | cut -c 50001-100000]`,
		);
	} else if (last < total) {
		notes.push(`[Lines ${offset}-${last} of ${total}. To continue: offset ${last + 1}.]`);
	}
	if (text.length < decoded.length) notes.push("[Control characters in this file are not shown.]");
	if (decoded.includes("\uFFFD") && !Buffer.from(bytes).includes("\uFFFD")) {
		notes.push("[This file is not UTF-8: invalid bytes are shown as \uFFFD. The edit tool cannot change it.]");
	}
	const body = notes.length === 0 ? cut.text : cut.text.replace(/\n$/, "");
	const details = { lines: { first: offset, last, total } };
	return {
		content: [{ type: "text", text: [body, ...notes].join("\n\n") }],
		details: cut.truncation.truncated ? { ...details, truncation: cut.truncation } : details,
	};
}

/** Lines from `first` (1-based), with their newlines. */
function sliceLines(text: string, first: number, lines?: number): string {
	let start = 0;
	for (let line = 1; line < first; line++) start = text.indexOf("\n", start) + 1;
	if (lines === undefined) return text.slice(start);
	let end = start;
	for (let line = 0; line < lines; line++) {
		const newline = text.indexOf("\n", end);
		if (newline === -1) return text.slice(start);
		end = newline + 1;
	}
	return text.slice(start, end);
}
