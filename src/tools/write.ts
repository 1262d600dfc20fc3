import { plural } from "../util/format-amounts.js";
import { usualLineEnd } from "./edit-match.js";
import { readRest, readStart } from "./file-content.js";
import { binaryKind, utf16Encoding } from "./file-type.js";
import { diffLines } from "./line-diff.js";
import type { HostFile, ToolHost, WrittenFile } from "./machine/machine.js";
import { countLines, formatBytes } from "./output.js";
import { displayPath, resolvePath, warnOfSensitivePath } from "./path.js";
import { failedToWrite } from "./result.js";
import { defineTool, type WriteToolDetails } from "./tool.js";

/** Larger files are not compared with what replaces them. */
const MAX_COMPARED_BYTES = 1024 * 1024;

/** Most of a file that is replaced differs, so a search for its shortest diff is seldom worth its time. */
const MAX_DIFF_MS = 100;

const parameters = {
	type: "object",
	properties: {
		path: {
			type: "string",
			description: "File to write: absolute, relative to the working directory, or starting with ~",
		},
		content: { type: "string", description: "The complete new content of the file" },
	},
	required: ["path", "content"],
} as const;

export const writeTool = defineTool<typeof parameters, WriteToolDetails>({
	name: "write",
	description:
		"Create a file or replace its complete content. Missing directories are created. To change parts of a file, use edit.",
	parameters,
	promptLine: "create files or replace them completely",
	guidelines: ["write: use it only for new files and complete rewrites; use edit for everything else."],
	async run({ path, content }, { host, signal }) {
		signal.throwIfAborted();
		const file = await resolvePath(host, path);
		const shown = displayPath(host.cwd, file);
		const before = await readBefore(host, file, signal);
		const { text: formatted, kept } = before?.format
			? applyFormat(content, before.format)
			: { text: content, kept: "" };
		let written: WrittenFile;
		try {
			written = await host.writeFile(file, formatted, { signal });
		} catch (thrown) {
			signal.throwIfAborted();
			return failedToWrite(host, file, thrown);
		}
		const { created, realPath } = written;
		const warning = await warnOfSensitivePath(host, file, realPath);
		const lines = countLines(formatted);
		const size = `${plural(lines, "line")}, ${formatBytes(Buffer.byteLength(formatted))}`;
		const format = kept === "" ? "" : `, with the ${kept} of the old content`;
		const text = `${created ? "Created" : "Replaced"} ${shown} (${size})${format}.`;
		const diff = before?.text === undefined ? {} : await diffLines(before.text, formatted, MAX_DIFF_MS);
		return {
			content: [{ type: "text", text: warning === undefined ? text : `${text}\n${warning}` }],
			details: { created, lines, ...diff },
		};
	},
});

/** What is known of a file before it is replaced. */
interface Before {
	format: TextFormat | undefined;
	/** Absent if the file is not text, too long to compare, or on another machine, where reading all of it takes time. */
	text?: string;
}

/** undefined if there is no file, or none that can be read: it can still be replaced. */
async function readBefore(host: ToolHost, path: string, signal: AbortSignal): Promise<Before | undefined> {
	let file: HostFile | undefined;
	try {
		file = await host.openFile(path, { signal });
		const start = await readStart(file);
		const format = textFormat(start);
		if (host.name !== "" || format === undefined || file.size > MAX_COMPARED_BYTES) return { format };
		const bytes = await readRest(path, file, start, MAX_COMPARED_BYTES);
		return { format: textFormat(bytes), ...decode(bytes) };
	} catch {
		signal.throwIfAborted();
		return undefined;
	} finally {
		await file?.close();
	}
}

function decode(bytes: Uint8Array): Pick<Before, "text"> {
	try {
		return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
	} catch {
		return {}; // not UTF-8
	}
}

const BYTE_ORDER_MARK = "\uFEFF";

/** What a text file keeps when its content is replaced by a model, which sees neither. */
interface TextFormat {
	hasByteOrderMark: boolean;
	lineEnd: "\n" | "\r\n";
}

/** The format of a file. @param bytes its content or first part @returns undefined for files that are not UTF-8 text */
function textFormat(bytes: Uint8Array): TextFormat | undefined {
	if (binaryKind(bytes) !== undefined || utf16Encoding(bytes) !== undefined) return undefined;
	return {
		hasByteOrderMark: bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf,
		lineEnd: usualLineEnd(Buffer.from(bytes).toString("latin1")),
	};
}

/**
 * Gives new content the format of the file that it replaces. Content that has line endings of both kinds, or only CRLF, keeps
 * them; empty content stays empty.
 * @returns the content, and what was added to it in words: empty if it is unchanged
 */
function applyFormat(content: string, { hasByteOrderMark, lineEnd }: TextFormat): { text: string; kept: string } {
	const kept: string[] = [];
	let text = content;
	if (lineEnd === "\r\n" && content.includes("\n") && !content.includes("\r\n")) {
		text = content.replaceAll("\n", "\r\n");
		kept.push("line endings (CRLF)");
	}
	if (hasByteOrderMark && content !== "" && !content.startsWith(BYTE_ORDER_MARK)) {
		text = BYTE_ORDER_MARK + text;
		kept.unshift("byte order mark");
	}
	return { text, kept: kept.join(" and ") };
}
