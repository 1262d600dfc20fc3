import { describeError } from "../errors.js";
import { imageType } from "../images/image-header.js";
import { describeFit } from "../images/sent-image.js";
import { plural } from "../util/format-amounts.js";
import { readRest, readStart } from "./file-content.js";
import { binaryKind, utf16Encoding } from "./file-type.js";
import { type LineWindow, readLineWindow } from "./line-window.js";
import type { HostFile } from "./machine/machine.js";
import { dropControls, formatBytes, type TruncationResult, truncateHead } from "./output.js";
import { displayPath, resolvePath } from "./path.js";
import { failed, failedOnFile, textResult } from "./result.js";
import { defineTool, type ReadToolDetails, type ToolResult } from "./tool.js";

const parameters = {
	type: "object",
	properties: {
		path: {
			type: "string",
			description: "File to read: absolute, relative to the working directory, or starting with ~",
		},
		offset: { type: "integer", minimum: 0, description: "First line to return, counted from 1; default 1" },
		limit: { type: "integer", minimum: 1, description: "Number of lines to return; default: as many as fit" },
	},
	required: ["path"],
} as const;

export const readTool = defineTool<typeof parameters, ReadToolDetails>({
	name: "read",
	description:
		"Read a text file, or view an image (png, jpg, gif, webp). At most 2000 lines or 50 KB are returned per call; the result states the offset to continue with. Lines have no numbers, exactly as edit needs them.",
	parameters,
	readOnly: true,
	promptLine: "read text files and images",
	guidelines: ["read: read a file before you edit it; read large files in parts, with offset and limit."],
	async run({ path, offset: line = 1, limit }, { host, signal, tmpDir }) {
		// Models that count from 0 mean the first line.
		const offset = Math.max(1, line);
		const target = await resolvePath(host, path);
		const shown = displayPath(host.cwd, target);
		let file: HostFile | undefined;
		try {
			file = await host.openFile(target, { signal });
			const { size } = file;
			const sample = await readStart(file);
			const mimeType = imageType(sample);
			if (mimeType !== undefined) {
				return await readImage({ shown, path: target, bytes: await readRest(target, file, sample), mimeType, tmpDir });
			}
			const kind = binaryKind(sample);
			if (kind !== undefined) {
				return failed(
					`${shown} is ${kind} of ${formatBytes(Math.max(size, sample.length))}, not text. Use bash with a program that reads such files.`,
				);
			}
			const encoding = utf16Encoding(sample);
			const window = await readLineWindow(file, { start: sample, first: offset, limit, encoding, signal });
			return describeLines({ shown, size, window, offset, limit, encoding });
		} catch (thrown) {
			signal.throwIfAborted();
			const isFolder = (await host.stat(target).catch(() => undefined))?.kind === "directory";
			return isFolder ? failed(`${shown} is a directory. Use ls to list it.`) : failedOnFile(host, target, thrown);
		} finally {
			await file?.close();
		}
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

interface FoundLines {
	/** Path for the model. */
	shown: string;
	size: number;
	window: LineWindow;
	offset: number;
	limit: number | undefined;
	encoding: "utf-16le" | "utf-16be" | undefined;
}

function describeLines({ shown, size, window, offset, limit, encoding }: FoundLines): ToolResult<ReadToolDetails> {
	const { total } = window;
	if (total === 0) return textResult(["(empty file)"], {});
	if (total !== undefined && offset > total) {
		return failed(`offset ${offset} is past the end: ${shown} has ${plural(total, "line")}.`);
	}
	const decoder = new TextDecoder(encoding ?? "utf-8", { ignoreBOM: window.start > 0 });
	const decoded = decoder.decode(window.bytes, { stream: window.isCut }).replaceAll("\r\n", "\n");
	const known = dropControls(decoded);
	// A line that the window cuts is returned only if it is the first.
	const lines = window.isCut ? known.slice(0, known.lastIndexOf("\n") + 1) || known : known;
	const requested = firstLines(lines, limit);
	const cut = truncateHead(requested);
	const isPartial = cut.partialLine || (window.isCut && !lines.endsWith("\n"));
	const last = offset + Math.max(cut.truncation.outputLines, 1) - 1;
	const notes: string[] = [];
	if (isPartial) {
		notes.push(
			`[Line ${offset}${total === undefined ? "" : ` of ${total}`} is ${lineSize(window)} long; its first ${formatBytes(cut.truncation.outputBytes)} are shown. To see more of it, use bash: sed -n '${offset}{p;q;}' '${shown}' | cut -c 50001-100000]`,
		);
	} else if (total === undefined) {
		notes.push(
			`[Lines ${offset}-${last} of a file of ${formatBytes(size)}, whose lines were not all counted. To continue: offset ${last + 1}.]`,
		);
	} else if (last < total) {
		notes.push(`[Lines ${offset}-${last} of ${total}. To continue: offset ${last + 1}.]`);
	}
	if (known.length < decoded.length) notes.push("[Control characters in this file are not shown.]");
	if (decoded.includes("\uFFFD") && !window.bytes.includes("\uFFFD")) {
		notes.push("[This file is not UTF-8: invalid bytes are shown as \uFFFD. The edit tool cannot change it.]");
	}
	const body = notes.length === 0 ? cut.text : cut.text.replace(/\n$/, "");
	const truncation = sizesOf(window, cut.truncation, { offset, limit, lines: last - offset + 1 });
	return {
		content: [{ type: "text", text: [body, ...notes].join("\n\n") }],
		details: {
			lines: { first: offset, last, ...(total !== undefined && { total }) },
			...(truncation && { truncation }),
		},
	};
}

function lineSize({ firstLineBytes, requestedBytes }: LineWindow): string {
	return firstLineBytes === undefined ? `more than ${formatBytes(requestedBytes)}` : formatBytes(firstLineBytes);
}

/** The truncation of the requested lines, of which the window may hold only the start; undefined if all are returned. */
function sizesOf(
	window: LineWindow,
	truncation: TruncationResult,
	{ offset, limit = Number.POSITIVE_INFINITY, lines }: { offset: number; limit: number | undefined; lines: number },
): TruncationResult | undefined {
	const isComplete = !window.isCut || lines === limit;
	if (!truncation.truncated && isComplete) return undefined;
	const { total, requestedBytes: totalBytes } = window;
	const totalLines = total === undefined ? truncation.totalLines : Math.min(limit, total - offset + 1);
	return { ...truncation, truncated: true, truncatedBy: truncation.truncatedBy ?? "bytes", totalLines, totalBytes };
}

/** The first lines of a text, with their newlines. */
function firstLines(text: string, lines = Number.POSITIVE_INFINITY): string {
	let end = 0;
	for (let line = 0; line < lines; line++) {
		const newline = text.indexOf("\n", end);
		if (newline === -1) return text;
		end = newline + 1;
	}
	return text.slice(0, end);
}
