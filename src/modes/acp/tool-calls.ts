import { readFileSync, statSync } from "node:fs";
import type {
	ContentBlock,
	ToolCall as ProtocolToolCall,
	ToolCallContent,
	ToolCallLocation,
	ToolKind,
} from "@agentclientprotocol/sdk";
import { localPath } from "../../tools/machine/local-path.js";
import { displayPath } from "../../tools/path.js";
import type { ToolResult, WriteToolDetails } from "../../tools/tool.js";
import { parseDiff } from "../../util/read-diff.js";
import { stripAll } from "../../util/sanitize.js";

/** A tool call of the model. */
export interface CallFacts {
	name: string;
	args: Readonly<Record<string, unknown>>;
	cwd: string;
	/** True if the call works on another machine, whose files the client cannot open. */
	isRemote: boolean;
}

/** Fields that a client shows of a call before it has run. */
export type DescribedCall = Required<Pick<ProtocolToolCall, "title" | "kind" | "locations">>;

const KINDS: Readonly<Record<string, ToolKind>> = {
	read: "read",
	ls: "search",
	grep: "search",
	find: "search",
	edit: "edit",
	write: "edit",
	bash: "execute",
	jobs: "execute",
	tasks: "think",
};
/** Tools whose argument `path` is a file or directory. */
const PATH_TOOLS = new Set(["read", "ls", "grep", "find", "edit", "write"]);
/** Tools whose output is text that is not Markdown. */
const VERBATIM_TOOLS = new Set(["read", "ls", "grep", "find", "bash", "jobs"]);
/** Longest title in characters. */
const MAX_TITLE = 300;
/** Larger files are not compared. */
const MAX_DIFF_BYTES = 1024 * 1024;

/** Title, kind and locations of a call. */
export function describeCall(call: CallFacts): DescribedCall {
	const path = pathOf(call);
	const line = call.name === "read" && typeof call.args.offset === "number" ? { line: call.args.offset } : {};
	return {
		title: titleOf(call),
		kind: KINDS[call.name] ?? "other",
		locations: path === null ? [] : [{ path, ...line }],
	};
}

/** The changes of `edit` and `write` as diffs; empty for other tools and incomplete arguments. @param before the file that `write` replaces */
export function diffsOf(call: CallFacts, before: FileBefore): ToolCallContent[] {
	const path = pathOf(call);
	if (path === null) return [];
	const { oldText, newText, edits, content } = call.args;
	if (call.name === "write") {
		if (typeof content !== "string" || before === "unknown") return [];
		return [{ type: "diff", path, oldText: before.text, newText: content }];
	}
	if (call.name !== "edit") return [];
	const replacements: unknown[] = Array.isArray(edits) && edits.length > 0 ? edits : [{ oldText, newText }];
	return replacements.flatMap((edit): ToolCallContent[] => {
		if (typeof edit !== "object" || edit === null || !("oldText" in edit && "newText" in edit)) return [];
		if (typeof edit.oldText !== "string" || typeof edit.newText !== "string") return [];
		return [{ type: "diff", path, oldText: edit.oldText, newText: edit.newText }];
	});
}

/** A file before `write` replaces it: its text, null if it does not exist; `unknown` if it is no text or too long to compare. */
export type FileBefore = { text: string | null } | "unknown";

/** Reads the file that a call of `write` is about to replace. */
export function readBefore(call: CallFacts): FileBefore {
	const path = call.name === "write" ? pathOf(call) : null;
	if (path === null) return "unknown";
	try {
		const stats = statSync(path, { throwIfNoEntry: false });
		if (!stats) return { text: null };
		if (!stats.isFile() || stats.size > MAX_DIFF_BYTES) return "unknown";
		return { text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)) };
	} catch {
		return "unknown"; // unreadable, or not text: the tool reports the reason
	}
}

/** The file that a call of `write` has replaced, from the details of its result. */
export function beforeOf({ args }: CallFacts, details: unknown): FileBefore {
	const known: Partial<Record<keyof WriteToolDetails, unknown>> = Object(details);
	if (known.created === true) return { text: null };
	const { content } = args;
	if (typeof known.diff !== "string" || typeof content !== "string") return "unknown";
	const changes = parseDiff(known.diff);
	const added = new Set(changes.flatMap(({ kind, number }) => (kind === "added" ? [Number(number)] : [])));
	const removed = changes.filter(({ kind }) => kind === "removed");
	// A long diff is cut.
	if (added.size !== known.added || removed.length !== known.removed) return "unknown";
	const end = content === "" || content.endsWith("\n") ? "\n" : "";
	const lines = content.replace(/\n$/, "").split("\n");
	const old = content === "" ? [] : lines.filter((_, at) => !added.has(at + 1));
	for (const { number, text } of removed) old.splice(Number(number) - 1, 0, text);
	return { text: old.length === 0 ? "" : old.join("\n") + end };
}

/** The result of a call as content: text that is not Markdown is fenced, images stay images. */
export function resultContent(name: string, { content }: Pick<ToolResult, "content">): ToolCallContent[] {
	return content.flatMap((block): ToolCallContent[] => {
		if (block.type === "image") return [{ type: "content", content: imageBlock(block) }];
		const text = stripAll(block.text);
		if (text === "") return [];
		return [{ type: "content", content: textBlock(VERBATIM_TOOLS.has(name) ? fenced(text) : text) }];
	});
}

/** The locations of a finished call: an edit is at its first changed line. */
export function finalLocations(locations: readonly ToolCallLocation[], details: unknown): ToolCallLocation[] {
	const diff = typeof details === "object" && details !== null && "diff" in details ? details.diff : null;
	const [, line] = (typeof diff === "string" && /^[+-] *(\d+) /m.exec(diff)) || [];
	return locations.map((location) => (line === undefined ? location : { ...location, line: Number(line) }));
}

/** A value as plain JSON; undefined if JSON cannot represent it. */
export function plainJson(value: unknown): unknown {
	try {
		const text = JSON.stringify(value);
		return text === undefined ? undefined : JSON.parse(text);
	} catch {
		return undefined; // a hook may pass anything
	}
}

export function textBlock(text: string): ContentBlock {
	return { type: "text", text };
}

export function imageBlock({ data, mimeType }: { data: string; mimeType: string }): ContentBlock {
	return { type: "image", data, mimeType };
}

function titleOf({ name, args, cwd, isRemote }: CallFacts): string {
	const text = (value: unknown) => (typeof value === "string" ? stripAll(value).replace(/\s+/g, " ").trim() : "");
	const path =
		typeof args.path !== "string" ? "" : isRemote ? text(args.path) : displayPath(cwd, localPath(cwd, args.path));
	const titles: Record<string, string> = {
		read: `Read ${path}`,
		ls: `List ${path || "."}`,
		grep: `Search ${text(args.pattern)}${path === "" ? "" : ` in ${path}`}`,
		find: `Find ${text(args.pattern)}${path === "" ? "" : ` in ${path}`}`,
		edit: `Edit ${path}`,
		write: `Write ${path}`,
		bash: text(args.command),
		tasks: "Update the task list",
		jobs: `Background commands: ${text(args.action)} ${text(args.id)}`,
	};
	const title = Object.hasOwn(titles, name) ? (titles[name] ?? "").trim() : "";
	return (title || name).slice(0, MAX_TITLE);
}

/** Null on another machine, too: the client would open a file of this one. */
function pathOf({ name, args, cwd, isRemote }: CallFacts): string | null {
	if (isRemote) return null;
	return PATH_TOOLS.has(name) && typeof args.path === "string" && args.path !== "" ? localPath(cwd, args.path) : null;
}

/** Text in a code block whose fence does not occur in it. */
function fenced(text: string): string {
	const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
	const fence = "`".repeat(longest + 1);
	return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
