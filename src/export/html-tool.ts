import type { ToolCall } from "@mariozechner/pi-ai";
import { messageText, type SessionToolResult } from "../log/entry.js";
import { describeChangedInput } from "../log/gate-text.js";
import { describeCall } from "../tools/describe-call.js";
import { detail } from "../tools/description.js";
import { languageOf } from "../util/highlight.js";
import { changedPairs, type DiffLine, parseDiff } from "../util/read-diff.js";
import { pieces, wordDiff } from "../util/word-diff.js";
import type { CodeHtml } from "./html-code.js";
import { escapeHtml, foldHtml, imageHtml, noteHtml, plainHtml } from "./html-text.js";

/** Maximum characters of the title of a folded tool call. */
const MAX_SUBJECT = 120;

/** The result of a call and the index of its entry. */
export interface FoundResult {
	message: SessionToolResult;
	index: number;
}

/** A call and its result as texts that replace those of any tool; null: as those of any tool. */
export type DrawTool = (
	call: ToolCall,
	result: SessionToolResult | undefined,
) => { title: string | null; body: string | null; errors: readonly string[] } | null;

/** How the calls of a page are drawn. */
export interface ToolStyle {
	code: CodeHtml;
	drawTool: DrawTool;
}

const NOT_DRAWN = { title: null, body: null, errors: [] };

/**
 * Renders a tool call with its result, folded: the tool, what it is used on, how it ended, and what hooks did to it. The text
 * of a hook that draws its own tool replaces that of pi.
 */
export function toolCallHtml(call: ToolCall, found: FoundResult | undefined, { code, drawTool }: ToolStyle): string {
	const result = found?.message;
	const { title, body, errors } = drawTool(call, result) ?? NOT_DRAWN;
	const { brief, status: words } = describeCall({ name: call.name, args: call.arguments, result });
	const subject = brief.length > MAX_SUBJECT ? `${brief.slice(0, MAX_SUBJECT)}…` : brief;
	const status = result ? statusOf(result, words) : "no result";
	const head = [
		title === null ? `<b>${escapeHtml(call.name)}</b>` : escapeHtml(title),
		title === null && escapeHtml(subject),
		status && `<span class="status">${escapeHtml(status)}</span>`,
	];
	const change = result?.gate?.changed ? noteHtml(describeChangedInput(result.gate.changed)) : "";
	const images = result?.content.map((block) => (block.type === "image" ? imageHtml(block) : "")) ?? [];
	const content =
		body === null
			? callHtml(call, result, title === null ? subject : "", code)
			: argumentsHtml(call.arguments) + plainHtml(body) + images.join("");
	const failures = errors.map((error) => `<p class="error">${escapeHtml(error)}</p>`);
	return foldHtml(
		toolClass(result),
		head.filter(Boolean).join(" "),
		change + content + failures.join(""),
		found?.index,
	);
}

/** Arguments and result, with those of pi's own tools as code or as a diff. @param subject stands in the title */
function callHtml(
	{ name, arguments: args }: ToolCall,
	result: SessionToolResult | undefined,
	subject: string,
	code: CodeHtml,
): string {
	const rest = { ...args };
	if (typeof args.path === "string" && args.path !== "" && subject.startsWith(args.path)) delete rest.path;
	// A write is shown with its complete content.
	const diff = result?.isError || name === "write" ? undefined : detail({ result }, "diff");
	if (typeof diff === "string" && diff !== "") {
		for (const shown of ["path", "oldText", "newText", "edits"]) delete rest[shown];
		return argumentsHtml(rest) + diffHtml(diff);
	}
	let input = "";
	if (name === "bash" && typeof args.command === "string") {
		delete rest.command;
		input = `<pre><code>${code(args.command, "bash")}</code></pre>`;
	} else if (name === "write" && typeof args.content === "string") {
		delete rest.content;
		input = `<pre><code>${code(args.content, languageOf(args.path))}</code></pre>`;
	}
	const isFile = name === "read" && result?.isError === false;
	const text = (plain: string) => (isFile ? code(plain, languageOf(args.path)) : escapeHtml(plain));
	return argumentsHtml(rest) + input + (result ? resultHtml(result, text) : "");
}

/** Renders the result of a call that is not in the session. */
export function lostResultHtml(result: SessionToolResult): string {
	return foldHtml(toolClass(result), `Result of <b>${escapeHtml(result.toolName)}</b>`, resultHtml(result, escapeHtml));
}

function resultHtml(result: SessionToolResult, text: (text: string) => string): string {
	const blocks = result.content.map((block) =>
		block.type === "text" ? `<pre class="output"><code>${text(block.text)}</code></pre>` : imageHtml(block),
	);
	return blocks.join("") || noteHtml("no output");
}

function argumentsHtml(args: Record<string, unknown>): string {
	const rows = Object.entries(args).map(([name, value]) => {
		const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
		return `<dt>${escapeHtml(name)}</dt><dd>${plainHtml(text ?? "")}</dd>`;
	});
	return rows.length === 0 ? "" : `<dl>${rows.join("")}</dl>`;
}

/** How a call ended, in a few words. */
function statusOf(result: SessionToolResult, words: readonly string[]): string {
	const blockedBy = result.gate?.blockedBy;
	if (blockedBy !== undefined) return `blocked by ${blockedBy}`;
	if (words.length > 0) return words.join(" · ");
	if (result.isError) return "failed";
	const lines = messageText(result).split("\n").length;
	return lines > 1 ? `${lines} lines` : "";
}

function toolClass(result: SessionToolResult | undefined): string {
	return result?.isError ? "tool failed" : "tool";
}

/** Maximum length of a line whose changed words are marked. */
const MAX_MARKED = 1000;
const SIGNS = { added: "+", removed: "−", context: " ", gap: " " } as const;

/** Renders the diff of an edit as in the terminal: numbers, signs, and changed words once `loadWordDiff` has finished. */
function diffHtml(diff: string): string {
	const lines = parseDiff(diff);
	const words = wordDiff();
	const partners = words ? changedPairs(lines) : new Map<DiffLine, DiffLine>();
	const digits = lines.reduce((most, { number }) => Math.max(most, number.length), 0);
	const rows = lines.map((line) => {
		if (line.kind === "gap") return `<span class="gap">${" ".repeat(digits)}⋮\n</span>`;
		const start = `<i>${line.number.padStart(digits)}</i> ${SIGNS[line.kind]} `;
		const partner = partners.get(line);
		const isShort = Math.max(line.text.length, partner?.text.length ?? 0) <= MAX_MARKED;
		const marked =
			partner && words && isShort && line.kind !== "context" ? pieces(line.text, partner.text, line.kind, words) : null;
		const text = marked
			? marked.map((piece) => (piece.changed ? `<b>${escapeHtml(piece.text)}</b>` : escapeHtml(piece.text))).join("")
			: escapeHtml(line.text);
		return `<span class="${line.kind}">${start}${text}\n</span>`;
	});
	return `<pre class="diff">${rows.join("")}</pre>`;
}
