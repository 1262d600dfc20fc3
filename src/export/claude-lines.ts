import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { AssistantMessage, ImageContent, TextContent, ToolCall } from "@mariozechner/pi-ai";
import { entriesBefore } from "../context/entry-message.js";
import { activeReplacement } from "../context/replacement.js";
import { isSessionHeader, type SessionToolResult } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import { packageVersion } from "../util/package-root.js";
import { type ConversationPart, conversationParts } from "./conversation-parts.js";
import { type ExportSource, readEntry } from "./survey.js";

type Json = Readonly<Record<string, unknown>>;
type Arguments = Record<string, unknown>;

/** A tool of pi as Claude Code has it. */
interface ClaudeTool {
	name: string;
	/** Its name of each argument; a call with others stays a call of pi's tool. */
	args: Readonly<Record<string, string>>;
	/** Its values where they differ. @returns null if it has none with this meaning */
	convert?(args: Arguments): Arguments | null;
}

const FILE = { path: "file_path" } as const;
const TEXTS = { oldText: "old_string", newText: "new_string", replaceAll: "replace_all" } as const;
const OUTPUTS: Readonly<Record<string, string>> = { content: "content", files: "files_with_matches", count: "count" };
const TOOLS: Readonly<Record<string, ClaudeTool>> = {
	bash: {
		name: "Bash",
		args: { command: "command", timeout: "timeout", background: "run_in_background" },
		convert: ({ timeout, ...args }) => ({ ...args, ...(typeof timeout === "number" && { timeout: timeout * 1000 }) }),
	},
	read: { name: "Read", args: { ...FILE, offset: "offset", limit: "limit" } },
	write: { name: "Write", args: { ...FILE, content: "content" } },
	edit: { name: "Edit", args: { ...FILE, ...TEXTS } },
	grep: {
		name: "Grep",
		args: {
			...{ pattern: "pattern", path: "path", glob: "glob", type: "type", ignoreCase: "-i", output: "output_mode" },
			...{ before: "-B", after: "-A", context: "-C", limit: "head_limit" },
		},
		convert: ({ output_mode: output = "content", ...args }) => {
			const mode = typeof output === "string" ? OUTPUTS[output] : undefined;
			return mode === undefined ? null : { ...args, output_mode: mode };
		},
	},
	find: { name: "Glob", args: { pattern: "pattern", path: "path" } },
};

/**
 * Writes a session as JSON Lines as Claude Code keeps them (versions 2.1): for `~/.claude/projects/<directory>/<id>.jsonl`. Calls of
 * pi's tools get its names; of thinking, only what Anthropic signed. The summary in the context stands before the messages that pi
 * keeps; those that were undone are omitted, because Claude Code continues from the last one.
 */
export function* claudeText(entries: ExportSource, name: string | null): Generator<string> {
	const header = readEntry(entries, 0);
	const origin = isSessionHeader(header) ? header : null;
	const lines = new Lines(origin?.id ?? "pi", origin?.cwd ?? "/");
	const summary = activeSummary(entries);
	let isPending = summary !== null;
	for (const part of conversationParts(entries)) {
		if (summary && isPending && part.index >= summary.firstKept) {
			isPending = false;
			yield* lines.summary(summary);
		}
		if (part.kind === "summary" && (part.undone || part.index >= (summary?.firstKept ?? 0))) continue;
		yield* lines.of(part);
	}
	if (name !== null) yield lines.title(name);
}

type Summary = Pick<Extract<ConversationPart, { kind: "summary" }>, "index" | "time" | "text" | "tokensBefore">;

/** The summary in the current context, and the first entry that it does not replace; null without one. */
function activeSummary(entries: ExportSource): (Summary & { firstKept: number }) | null {
	let active = activeReplacement(entries);
	// A frozen request has the summary that was active when it was sent.
	while (active?.kind === "freeze") active = activeReplacement(entriesBefore(entries, active.firstKeptEntryIndex));
	if (!active) return null;
	const { entry, entryIndex: index, firstKeptEntryIndex: firstKept } = active;
	return { index, time: entry.timestamp, text: entry.summary, tokensBefore: entry.tokensBefore, firstKept };
}

/** Makes lines, each of which continues the one before. */
class Lines {
	readonly #version = packageVersion();
	#last: string | null = null;
	#count = 0;

	constructor(
		private readonly session: string,
		private readonly cwd: string,
	) {}

	*of(part: ConversationPart): Generator<string> {
		switch (part.kind) {
			case "prompt":
				return yield this.#user(part.time, claudeContent(part.message.content));
			case "note":
				return yield this.#user(part.time, part.text, { isMeta: true });
			case "summary":
				return yield* this.summary(part);
			case "shell": {
				const { command, output } = part.message;
				yield this.#user(part.time, `<bash-input>${command}</bash-input>`);
				return yield this.#user(part.time, `<bash-stdout>${output}</bash-stdout><bash-stderr></bash-stderr>`);
			}
			case "reply":
				yield* this.#reply(part);
		}
	}

	*summary({ time, text, tokensBefore }: Summary): Generator<string> {
		const before = this.#last;
		this.#last = null;
		yield this.#line("system", time, {
			...{ subtype: "compact_boundary", content: "Conversation compacted", level: "info" },
			...(before !== null && { logicalParentUuid: before }),
			compactMetadata: { trigger: "manual", preTokens: tokensBefore },
		});
		yield this.#user(time, text, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
	}

	title(title: string): string {
		return `${JSON.stringify({ type: "custom-title", customTitle: title, sessionId: this.session })}\n`;
	}

	*#reply({ index, time, message, results }: Extract<ConversationPart, { kind: "reply" }>): Generator<string> {
		const content = message.content.flatMap((block) => this.#block(block, message));
		if (content.length === 0) return;
		const { input, output, cacheRead, cacheWrite } = message.usage;
		yield this.#line("assistant", time, {
			message: {
				...{ id: `msg_pi_${index}`, type: "message", role: "assistant", model: message.model, content },
				...{ stop_reason: STOP_REASONS[message.stopReason] ?? "end_turn", stop_sequence: null },
				usage: {
					...{ input_tokens: input, output_tokens: output },
					...{ cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite },
				},
			},
		});
		const calls = message.content.filter((block) => block.type === "toolCall");
		const missing = calls.filter(({ id }) => !results.some(({ toolCallId }) => toolCallId === id));
		for (const result of results) yield this.#user(time, [resultBlock(result)]);
		for (const { id } of missing) {
			yield this.#user(time, [
				{ type: "tool_result", tool_use_id: id, content: "No result was recorded", is_error: true },
			]);
		}
	}

	#block(block: AssistantMessage["content"][number], { api }: AssistantMessage): Json[] {
		if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
		if (block.type === "toolCall") {
			const { name, args } = claudeCall(block, this.cwd);
			return [{ type: "tool_use", id: block.id, name, input: args }];
		}
		const signature = block.thinkingSignature;
		if (api !== "anthropic-messages" || !signature) return [];
		return block.redacted
			? [{ type: "redacted_thinking", data: signature }]
			: [{ type: "thinking", thinking: block.thinking, signature }];
	}

	#user(time: string, content: unknown, flags: Json = {}): string {
		return this.#line("user", time, { message: { role: "user", content }, ...flags });
	}

	#line(type: string, time: string, content: Json): string {
		const parentUuid = this.#last;
		const uuid = uuidOf(`${this.session} ${this.#count++}`);
		this.#last = uuid;
		const place = {
			isSidechain: false,
			userType: "external",
			cwd: this.cwd,
			sessionId: this.session,
			version: this.#version,
		};
		return `${JSON.stringify({ parentUuid, ...place, type, ...content, uuid, timestamp: time })}\n`;
	}
}

const STOP_REASONS: Readonly<Record<string, string>> = { toolUse: "tool_use", length: "max_tokens" };

/** A call with Claude Code's names, where they mean the same; else as it is. Paths are absolute there. */
function claudeCall({ name, arguments: given }: ToolCall, cwd: string): { name: string; args: Arguments } {
	const { edits, ...rest } = given as Arguments;
	if (name === "edit" && Array.isArray(edits) && typeof rest.path === "string") {
		const renamed = edits.map((edit) => (isRecord(edit) ? renamedArgs(edit, TEXTS) : null));
		if (Object.keys(rest).length > 1 || renamed.includes(null)) return { name, args: given };
		return { name: "MultiEdit", args: { file_path: absolute(rest.path, cwd), edits: renamed } };
	}
	const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
	const renamed = tool && renamedArgs(given, tool.args);
	const args = renamed && (tool.convert ? tool.convert(renamed) : renamed);
	if (!tool || !args) return { name, args: given };
	for (const key of ["path", "file_path"]) {
		const path = args[key];
		if (typeof path === "string") args[key] = absolute(path, cwd);
	}
	return { name: tool.name, args };
}

/** @returns null if an argument has no other name */
function renamedArgs(args: Arguments, names: Readonly<Record<string, string>>): Arguments | null {
	const renamed = Object.entries(args).map(([name, value]) => [Object.hasOwn(names, name) ? names[name] : null, value]);
	return renamed.some(([name]) => name === null) ? null : Object.fromEntries(renamed);
}

function absolute(path: string, cwd: string): string {
	return path.startsWith("~") ? path : posix.resolve(cwd, path);
}

function resultBlock({ toolCallId, content, isError }: SessionToolResult): Json {
	const result = { type: "tool_result", tool_use_id: toolCallId, content: claudeContent(content) };
	return isError ? { ...result, is_error: true } : result;
}

function claudeContent(content: string | readonly (TextContent | ImageContent)[]): unknown {
	if (typeof content === "string") return content;
	return content.map((block) =>
		block.type === "text"
			? { type: "text", text: block.text }
			: { type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } },
	);
}

/** The same for the same text, so that a session always has the same lines. */
function uuidOf(text: string): string {
	const hex = createHash("sha256").update(text).digest("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
