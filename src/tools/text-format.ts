import { usualLineEnd } from "./edit-match.js";
import { binaryKind, utf16Encoding } from "./file-type.js";

const BYTE_ORDER_MARK = "\uFEFF";

/** What a text file keeps when its content is replaced by a model, which sees neither. */
export interface TextFormat {
	hasByteOrderMark: boolean;
	lineEnd: "\n" | "\r\n";
}

/** The format of a file. @param bytes its content or first part @returns undefined for files that are not UTF-8 text */
export function textFormat(bytes: Uint8Array): TextFormat | undefined {
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
export function applyFormat(
	content: string,
	{ hasByteOrderMark, lineEnd }: TextFormat,
): { text: string; kept: string } {
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
