import { readFileSync, statSync } from "node:fs";
import type {
	ContentBlock,
	ToolCall as ProtocolToolCall,
	ToolCallContent,
	ToolCallLocation,
} from "@agentclientprotocol/sdk";
import { describeCall } from "../../tools/describe-call.js";
import type { CallDescription, DescribableCall } from "../../tools/description.js";
import { localPath } from "../../tools/machine/local-path.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import type { ToolResult, WriteToolDetails } from "../../tools/tool.js";
import { parseDiff } from "../../util/read-diff.js";
import { stripAll } from "../../util/sanitize.js";

/** A tool call of the model. */
export interface CallFacts {
	name: string;
	args: Readonly<Record<string, unknown>>;
	/** Where the call works: if on another machine, the client cannot open its files. */
	host: Pick<ToolHost, "name" | "cwd" | "home">;
}

/** Fields that a client shows of a call before it has run. */
export type ClientDescription = Required<Pick<ProtocolToolCall, "title" | "kind" | "locations">>;

/** Longest title in characters. */
const MAX_TITLE = 300;
/** Larger files are not compared. */
const MAX_DIFF_BYTES = 1024 * 1024;

/** Title, kind and locations of a call. */
export function describeForClient(call: CallFacts): ClientDescription {
	const { kind, verb, subject, paths } = describeCall(call, { roots: call.host, lineEnd: " " });
	// A client shows the arguments of tools that are not pi's own.
	const hasSubject = kind !== "other" && subject !== "";
	const title = hasSubject ? `${verb} ${subject}`.trim() : verb.replace(/:$/, "");
	return {
		title: (title || call.name).slice(0, MAX_TITLE),
		kind,
		locations: locationsOf(call, paths),
	};
}

/** The changes of `edit` and `write` as diffs; empty for other tools and incomplete arguments. @param before the file that `write` replaces */
export function diffsOf(call: CallFacts, before: FileBefore): ToolCallContent[] {
	const path = fileOf(call);
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
	const path = call.name === "write" ? fileOf(call) : null;
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
export function resultContent(call: DescribableCall, { content }: Pick<ToolResult, "content">): ToolCallContent[] {
	const { kind } = describeCall(call);
	const isVerbatim = kind === "read" || kind === "search" || kind === "execute";
	return content.flatMap((block): ToolCallContent[] => {
		if (block.type === "image") return [{ type: "content", content: imageBlock(block) }];
		const text = stripAll(block.text);
		if (text === "") return [];
		return [{ type: "content", content: textBlock(isVerbatim ? fenced(text) : text) }];
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

/** Empty on another machine: the client would open a file of this one. */
function locationsOf({ host }: CallFacts, paths: CallDescription["paths"]): ToolCallLocation[] {
	return host.name === "" ? paths.map(({ path, ...line }) => ({ path: localPath(host.cwd, path), ...line })) : [];
}

function fileOf(call: CallFacts): string | null {
	return locationsOf(call, describeCall(call).paths)[0]?.path ?? null;
}

/** Text in a code block whose fence does not occur in it. */
function fenced(text: string): string {
	const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
	const fence = "`".repeat(longest + 1);
	return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
