import type { ToolCall, ToolResultMessage } from "@mariozechner/pi-ai";
import { messageText } from "../log/entry.js";
import { type CodeHtml, languageOf } from "./html-code.js";
import { diffHtml } from "./html-diff.js";
import { escapeHtml, foldHtml, imageHtml, noteHtml, plainHtml } from "./html-text.js";

/** Maximum characters of the title of a folded tool call. */
const MAX_SUBJECT = 120;

/** The result of a call and the index of its entry. */
export interface FoundResult {
	message: ToolResultMessage;
	index: number;
}

/** Renders a tool call with its result, folded: the tool, what it is used on, and how it ended. */
export function toolCallHtml(call: ToolCall, found: FoundResult | undefined, code: CodeHtml): string {
	const result = found?.message;
	const { name, arguments: args } = call;
	const diff = result?.isError ? undefined : detail(result, "diff");
	const rest = { ...args };
	const bodies: string[] = [];
	if (typeof diff === "string" && diff !== "") {
		delete rest.path;
		delete rest.oldText;
		delete rest.newText;
		delete rest.edits;
		bodies.push(diffHtml(diff));
	} else if (name === "bash" && typeof args.command === "string") {
		delete rest.command;
		bodies.push(`<pre><code>${code(args.command, "bash")}</code></pre>`);
	} else if (name === "write" && typeof args.content === "string") {
		delete rest.content;
		bodies.push(`<pre><code>${code(args.content, languageOf(args.path))}</code></pre>`);
	}
	if (subjectOf(args) === args.path) delete rest.path;
	const isFile = name === "read" && result?.isError === false;
	const answer = result
		? resultHtml(result, (text) => (isFile ? code(text, languageOf(args.path)) : escapeHtml(text)))
		: "";
	const status = result ? statusOf(result) : "no result";
	const title = [
		`<b>${escapeHtml(name)}</b>`,
		escapeHtml(subjectOf(args)),
		status && `<span class="status">${escapeHtml(status)}</span>`,
	];
	return foldHtml(
		toolClass(result),
		title.filter(Boolean).join(" "),
		argumentsHtml(rest) + bodies.join("") + (typeof diff === "string" && diff !== "" ? "" : answer),
		found?.index,
	);
}

/** Renders the result of a call that is not in the session. */
export function lostResultHtml(result: ToolResultMessage): string {
	return foldHtml(toolClass(result), `Result of <b>${escapeHtml(result.toolName)}</b>`, resultHtml(result, escapeHtml));
}

function resultHtml(result: ToolResultMessage, text: (text: string) => string): string {
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

function subjectOf(args: Record<string, unknown>): string {
	const value = args.command ?? args.path ?? args.pattern;
	const line = typeof value === "string" ? (value.split("\n")[0] ?? "") : "";
	return line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT)}…` : line;
}

/** How a call ended, in a few words. */
function statusOf(result: ToolResultMessage): string {
	const exitCode = detail(result, "exitCode");
	const added = detail(result, "added");
	const removed = detail(result, "removed");
	if (typeof exitCode === "number" && exitCode !== 0) return `exit code ${exitCode}`;
	if (result.isError) return "failed";
	if (typeof added === "number" && typeof removed === "number") return `+${added} −${removed}`;
	const lines = messageText(result).split("\n").length;
	return lines > 1 ? `${lines} lines` : "";
}

function detail(result: ToolResultMessage | undefined, name: string): unknown {
	const details: unknown = result?.details;
	return typeof details === "object" && details !== null ? new Map(Object.entries(details)).get(name) : undefined;
}

function toolClass(result: ToolResultMessage | undefined): string {
	return result?.isError ? "tool failed" : "tool";
}
