import { basename, join } from "node:path";
import { isRecord } from "../util/is-record.js";
import { type Content, Conversation, type Reply } from "./foreign-conversation.js";
import type { CallNames } from "./own-calls.js";
import type { ForeignSession, FoundSession, Program } from "./program.js";
import {
	allRecords,
	amountOf,
	type ForeignRecord,
	filesIn,
	headRecords,
	modifiedAt,
	notASession,
	recordOf,
	recordsOf,
	textOf,
	timeOf,
	titleText,
} from "./records.js";

const TITLE = "Claude Code";
const NAMES: CallNames = {
	Bash: { milliseconds: ["timeout"], dropped: ["description", "dangerouslyDisableSandbox"] },
};
/** Lines that hold no part of the conversation, by the words with which the result of an import counts them. */
const OTHER_LINES: Readonly<Record<string, string>> = {
	progress: "progress lines",
	"file-history-snapshot": "file snapshots",
	"queue-operation": "queue operations",
	"pr-link": "links to pull requests",
	attachment: "attachments",
	system: "notes of the program",
	"last-prompt": "notes of the program",
	"permission-mode": "notes of the program",
	"agent-name": "notes of the program",
	mode: "notes of the program",
};
/** What the program writes for a command; one that the model answers is a prompt. */
const LOCAL = /^\s*<(command-name|command-message|command-args|local-command-[a-z]+)>/;
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]$/;

/** A line that is part of the tree. */
interface Line {
	record: ForeignRecord;
	parent: string | undefined;
	position: number;
}

/**
 * Sessions of Claude Code: JSON Lines in `~/.claude/projects/<directory>/<id>.jsonl`. Lines form a tree by `parentUuid`; a reply takes
 * one line for each of its blocks, all with the same `message.id`. Made from real files of versions 2.1.7 to 2.1.37.
 */
export const claude: Program = {
	name: "claude",
	title: TITLE,
	files({ cwd, home, env }) {
		const dir = join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
		return filesIn(dir, /^(?!agent-).*\.jsonl$/);
	},
	list(path): FoundSession[] {
		const records = headRecords(path);
		const first = records.find(isOfSession);
		if (!first) return [];
		const commands = commandsIn(records);
		const prompt = records
			.map((record) => commands.get(record) ?? typedText(record))
			.find((text) => text !== undefined);
		return [
			{
				...{ program: "claude", path, id: textOf(first.sessionId) ?? basename(path, ".jsonl") },
				...{ cwd: textOf(first.cwd) ?? null, title: titleText(prompt ?? ""), modifiedAt: modifiedAt(path) },
			},
		];
	},
	read(path): ForeignSession {
		let damaged = 0;
		const records = allRecords(path, () => damaged++);
		const first = records.find(isOfSession);
		if (!first) throw notASession(path, `it is not a session of ${TITLE}`);
		const { conversation, isCut } = readTree(records);
		const cwd = textOf(first.cwd);
		const startedAt = [first.timestamp, modifiedAt(path)];
		return conversation.session({ id: textOf(first.sessionId) ?? "", cwd, startedAt }, { damaged, isCut });
	},
};

/** Whether a line names a session; a file with only side chains belongs to the session of another file. */
function isOfSession(record: ForeignRecord): boolean {
	return (
		typeof record.uuid === "string" &&
		typeof record.sessionId === "string" &&
		record.isSidechain !== true &&
		(record.type === "user" || record.type === "assistant" || record.type === "system")
	);
}

/** The commands of the user that the model answers, with the text that was typed. @param records of one branch, in order */
function commandsIn(records: readonly ForeignRecord[]): Map<ForeignRecord, string> {
	const commands = new Map<ForeignRecord, string>();
	let asked: { record: ForeignRecord; text: string } | undefined;
	for (const record of records) {
		if (record.isSidechain === true) continue;
		if (record.type === "user" && record.isMeta !== true) {
			const text = commandText(record);
			asked = text === undefined ? undefined : { record, text };
		} else if (record.type === "assistant" && asked && isAnswer(record)) {
			commands.set(asked.record, asked.text);
			asked = undefined;
		}
	}
	return commands;
}

/** What the user typed to run a command. The text of a skill or command that the model called has no slash, or names its call. */
function commandText(record: ForeignRecord): string | undefined {
	if (typeof record.sourceToolUseID === "string") return undefined;
	const text = contentOf(record).find((block) => block.type === "text")?.text;
	if (typeof text !== "string" || !LOCAL.test(text)) return undefined;
	const [, name] = /<command-name>\s*(\/[^<]*?)\s*<\/command-name>/.exec(text) ?? [];
	const [, args = ""] = /<command-args>([\s\S]*?)<\/command-args>/.exec(text) ?? [];
	return name === undefined ? undefined : `${name} ${args.trim()}`.trim();
}

/** True for a reply of a model, and for an error in its place; false for a note of the program. */
function isAnswer({ message, isApiErrorMessage }: ForeignRecord): boolean {
	return isApiErrorMessage === true || recordOf(message).model !== "<synthetic>";
}

function readTree(records: readonly ForeignRecord[]): { conversation: Conversation; isCut: boolean } {
	const conversation = new Conversation(NAMES);
	const { path, isCut } = pathOf(records);
	const isNamed = new Set(records.map(({ uuid }) => uuid));
	const writer = new Writer(conversation, commandsIn(records.filter((record) => path.has(record))));
	let name: string | undefined;
	for (const record of records) {
		const type = textOf(record.type) ?? "unknown";
		if (type === "summary" && isNamed.has(record.leafUuid)) name ??= textOf(record.summary);
		else if (type === "custom-title") name = textOf(record.customTitle) ?? name;
		else if (type === "ai-title") name ??= textOf(record.aiTitle);
		else if (type === "summary") conversation.leaveOut("titles of other sessions");
		else if (type !== "user" && type !== "assistant" && type !== "system") {
			conversation.leaveOut(OTHER_LINES[type] ?? `lines of the type ${type}`);
		} else if (record.isSidechain === true) conversation.leaveOut("lines of side chains");
		else if (!path.has(record)) conversation.leaveOut("lines of other branches");
		else writer.write(record);
	}
	if (name !== undefined && name.trim() !== "") conversation.name(name);
	return { conversation, isCut };
}

/**
 * The lines of the current branch: from the last line of the conversation to the root. All blocks of a reply belong to it, and the results
 * of all its calls, although each result continues only the line of its own call. A parent that is missing is the line before.
 */
function pathOf(records: readonly ForeignRecord[]): { path: Set<ForeignRecord>; isCut: boolean } {
	const lines = new Map<string, Line>();
	const inOrder: Line[] = [];
	for (const record of records) {
		if (typeof record.uuid !== "string" || record.isSidechain === true) continue;
		const parent = textOf(record.parentUuid) ?? textOf(record.logicalParentUuid);
		const line = { record, parent, position: inOrder.length };
		inOrder.push(line);
		lines.set(record.uuid, line);
	}
	const path = new Set<ForeignRecord>();
	let isCut = false;
	let line = inOrder.findLast(({ record }) => record.type === "user" || record.type === "assistant");
	while (line && !path.has(line.record)) {
		path.add(line.record);
		if (line.parent === undefined) break;
		const parent = lines.get(line.parent);
		if (!parent) isCut ||= line.position === 0;
		line = parent ?? inOrder[line.position - 1];
	}
	const replies = new Set([...path].flatMap(({ message }) => textOf(recordOf(message).id) ?? []));
	const calls = new Set<string>();
	for (const { record } of inOrder) {
		if (record.type !== "assistant" || !(path.has(record) || replies.has(textOf(recordOf(record.message).id) ?? "")))
			continue;
		path.add(record);
		for (const block of contentOf(record)) if (block.type === "tool_use") calls.add(textOf(block.id) ?? "");
	}
	for (const { record } of inOrder) {
		if (record.type === "user" && contentOf(record).some((block) => calls.has(textOf(block.tool_use_id) ?? "")))
			path.add(record);
	}
	return { path, isCut };
}

function contentOf({ message }: ForeignRecord): ForeignRecord[] {
	const { content } = recordOf(message);
	return typeof content === "string" ? [{ type: "text", text: content }] : recordsOf(content);
}

/** The text of a line that the user typed; undefined for all others. */
function typedText(record: ForeignRecord): string | undefined {
	if (
		record.type !== "user" ||
		record.isMeta === true ||
		record.isCompactSummary === true ||
		record.isSidechain === true
	) {
		return undefined;
	}
	const text = contentOf(record).find((block) => block.type === "text")?.text;
	return typeof text === "string" && text.trim() !== "" && !/^\s*[<[]/.test(text) ? text : undefined;
}

/** Writes the lines of the current branch into a conversation. */
class Writer {
	readonly #replies = new Map<string, Reply>();
	#tokensBefore = 0;
	#bashInput: string | undefined;

	/** @param commands the text of those that are prompts */
	constructor(
		private readonly conversation: Conversation,
		private readonly commands: ReadonlyMap<ForeignRecord, string>,
	) {}

	write(record: ForeignRecord): void {
		if (record.type === "assistant") this.#reply(record);
		else if (record.type === "user") this.#user(record);
		else if (record.subtype === "compact_boundary") {
			this.#tokensBefore = amountOf(recordOf(record.compactMetadata).preTokens);
		} else
			this.conversation.leaveOut(record.subtype === "stop_hook_summary" ? "outputs of hooks" : "notes of the program");
	}

	#reply(record: ForeignRecord): void {
		const message = recordOf(record.message);
		if (record.isApiErrorMessage === true || !isAnswer(record)) {
			this.conversation.leaveOut("errors and notes in place of a reply");
			return;
		}
		const id = textOf(message.id) ?? textOf(record.uuid) ?? "";
		const model = { api: "anthropic-messages", provider: "anthropic", id: textOf(message.model) ?? "unknown" } as const;
		const reply = this.#replies.get(id) ?? this.conversation.reply(model, timeOf(record.timestamp));
		this.#replies.set(id, reply);
		for (const block of contentOf(record)) this.#block(reply, block);
		if (isRecord(message.usage)) {
			const { usage } = message;
			reply.usage = {
				...{ input: amountOf(usage.input_tokens), output: amountOf(usage.output_tokens) },
				...{
					cacheRead: amountOf(usage.cache_read_input_tokens),
					cacheWrite: amountOf(usage.cache_creation_input_tokens),
				},
			};
		}
		if (message.stop_reason === "max_tokens") reply.stopReason = "length";
	}

	#block(reply: Reply, block: ForeignRecord): void {
		if (block.type === "text") {
			if (typeof block.text === "string" && block.text.trim() !== "")
				reply.content.push({ type: "text", text: block.text });
		} else if (block.type === "thinking") {
			const signature = textOf(block.signature);
			const thinking = textOf(block.thinking) ?? "";
			if (thinking === "" && !signature) return;
			reply.content.push({ type: "thinking", thinking, ...(signature ? { thinkingSignature: signature } : {}) });
		} else if (block.type === "redacted_thinking" && typeof block.data === "string") {
			reply.content.push({ type: "thinking", thinking: "", redacted: true, thinkingSignature: block.data });
		} else if (block.type === "tool_use" && typeof block.id === "string" && typeof block.name === "string") {
			this.conversation.call(reply, { id: block.id, name: block.name, arguments: recordOf(block.input) });
		} else this.conversation.leaveOut(`blocks of the type ${String(block.type)}`);
	}

	#user(record: ForeignRecord): void {
		const time = timeOf(record.timestamp);
		const blocks = contentOf(record);
		for (const block of blocks) {
			if (block.type !== "tool_result") continue;
			const content = this.#content(
				typeof block.content === "string" ? [{ type: "text", text: block.content }] : block.content,
			);
			this.conversation.result(textOf(block.tool_use_id) ?? "", content, block.is_error === true, time);
		}
		const content = this.#content(blocks.filter((block) => block.type !== "tool_result"));
		if (content.length === 0) return;
		const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
		if (record.isCompactSummary === true) {
			this.conversation.compaction(text, this.#tokensBefore, time);
			return;
		}
		if (this.#shell(text, time)) return;
		const command = this.commands.get(record);
		if (command !== undefined) {
			const others = content.filter(({ type }) => type !== "text");
			this.conversation.prompt([{ type: "text", text: command }, ...others], time);
			return;
		}
		if (LOCAL.test(text)) {
			this.conversation.leaveOut("local commands");
			return;
		}
		if (record.isMeta === true || INTERRUPTED.test(text.trim()) || text.startsWith("<task-notification>")) {
			this.conversation.notice(TITLE, text, time);
			return;
		}
		this.conversation.prompt(content, time);
	}

	/** @returns whether the text is a shell command of the user or its output */
	#shell(text: string, time: number | undefined): boolean {
		const input = /^<bash-input>([\s\S]*)<\/bash-input>$/.exec(text.trim());
		if (input) {
			this.#bashInput = input[1];
			return true;
		}
		if (this.#bashInput === undefined || !/^<bash-(stdout|stderr)>/.test(text.trim())) return false;
		const output = [...text.matchAll(/<bash-(?:stdout|stderr)>([\s\S]*?)<\/bash-(?:stdout|stderr)>/g)];
		this.conversation.shellCommand(
			this.#bashInput,
			output
				.map(([, part]) => part)
				.join("\n")
				.trim(),
			time,
		);
		this.#bashInput = undefined;
		return true;
	}

	#content(blocks: unknown): Content {
		return recordsOf(blocks).flatMap((block): Content => {
			if (block.type === "text" && typeof block.text === "string")
				return block.text === "" ? [] : [{ type: "text", text: block.text }];
			const source = recordOf(block.source);
			if (block.type === "image" && typeof source.data === "string" && typeof source.media_type === "string") {
				return [{ type: "image", data: source.data, mimeType: source.media_type }];
			}
			this.conversation.leaveOut(
				block.type === "image" ? "images that are gone" : `blocks of the type ${String(block.type)}`,
			);
			return [];
		});
	}
}
