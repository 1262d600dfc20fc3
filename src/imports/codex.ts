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

const SHELL_SETTINGS = [
	...["yield_time_ms", "max_output_tokens", "justification", "with_escalated_permissions", "sandbox_permissions"],
	...["login", "tty", "prefix_rule"],
];
const SHELL = {
	tool: "bash",
	renamed: { cmd: "command", timeout_ms: "timeout" },
	milliseconds: ["timeout_ms"],
	dropped: SHELL_SETTINGS,
};
const NAMES: CallNames = { shell: { ...SHELL, tool: "shell" }, shell_command: SHELL, exec_command: SHELL };
const NO_SUMMARY = "Codex recorded no summary of this part.";
/** Text that the program gives to the model in the role of the user. */
const OF_THE_PROGRAM =
	/^\s*(<(environment_context|user_instructions|permissions|turn_aborted|INSTRUCTIONS|skill|subagent_notification)|# AGENTS\.md instructions)/;

/**
 * Sessions of Codex: JSON Lines in `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, each line an item of the Responses
 * API, an event or the settings of a turn. The first versions wrote the items without an envelope.
 */
export const codex: Program = {
	name: "codex",
	title: "Codex",
	files({ home, env }) {
		const dir = env.CODEX_HOME || join(home, ".codex");
		const names = ["sessions", "archived_sessions"];
		return names.flatMap((name) => filesIn(join(dir, name), /rollout-[^/\\]*\.jsonl$/, true));
	},
	list(path): FoundSession[] {
		const records = headRecords(path);
		const meta = metaOf(records);
		if (!meta) return [];
		const prompt = records.map((record) => promptOf(itemOf(record))).find((text) => text !== undefined);
		return [
			{
				...{ program: "codex", path, id: idOf(meta, path), cwd: textOf(meta.cwd) ?? null },
				...{ title: titleText(prompt ?? ""), modifiedAt: modifiedAt(path) },
			},
		];
	},
	read(path): ForeignSession {
		let damaged = 0;
		const records = allRecords(path, () => damaged++);
		const meta = metaOf(records);
		if (!meta) throw notASession(path, "it is not a session of Codex");
		const conversation = new Conversation(NAMES);
		const writer = new Writer(conversation, meta);
		for (const record of records) writer.write(record);
		const startedAt = [meta.timestamp, records[0]?.timestamp, modifiedAt(path)];
		return conversation.session({ id: idOf(meta, path), cwd: textOf(meta.cwd), startedAt }, { damaged });
	},
};

function idOf({ id }: ForeignRecord, path: string): string {
	return textOf(id) ?? basename(path, ".jsonl");
}

/** The description of the session; undefined for a file of another program. */
function metaOf(records: readonly ForeignRecord[]): ForeignRecord | undefined {
	const meta = records.find(({ type }) => type === "session_meta");
	if (meta) return recordOf(meta.payload);
	const [first, second] = records;
	const isOld = first && typeof first.id === "string" && "instructions" in first && first.type === undefined;
	return isOld && second ? first : undefined;
}

/** The item of the Responses API in a line; undefined for other lines. */
function itemOf(record: ForeignRecord): ForeignRecord | undefined {
	if (record.type === "response_item") return recordOf(record.payload);
	return record.payload === undefined && typeof record.type === "string" ? record : undefined;
}

function contentText(content: unknown): string {
	return recordsOf(content)
		.map(({ text }) => textOf(text) ?? "")
		.filter(Boolean)
		.join("\n");
}

function promptOf(item: ForeignRecord | undefined): string | undefined {
	if (item?.type !== "message" || item.role !== "user") return undefined;
	const text = contentText(item.content);
	return text.trim() === "" || OF_THE_PROGRAM.test(text) ? undefined : text;
}

class Writer {
	#model: string;
	readonly #provider: string;
	readonly #cwd: string | undefined;
	/** The reply whose items are being read. */
	#open: Reply | undefined;
	/** The last reply, for the count of its tokens. */
	#last: Reply | undefined;
	#total = -1;

	constructor(
		private readonly conversation: Conversation,
		meta: ForeignRecord,
	) {
		this.#model = textOf(meta.model) ?? "unknown";
		this.#provider = textOf(meta.model_provider) ?? "openai";
		this.#cwd = textOf(meta.cwd);
	}

	write(record: ForeignRecord): void {
		const time = timeOf(record.timestamp);
		const item = itemOf(record);
		const payload = recordOf(record.payload);
		if (item) this.#item(item, time);
		else if (record.type === "turn_context") this.#model = textOf(payload.model) ?? this.#model;
		else if (record.type === "compacted") this.#compacted(payload, time);
		else if (record.type === "event_msg") this.#event(payload);
	}

	#item(item: ForeignRecord, time: number | undefined): void {
		switch (item.type) {
			case "message":
				this.#message(item, time);
				break;
			case "reasoning":
				this.#reasoning(item, time);
				break;
			case "function_call":
				this.#call(item, parsed(item.arguments), time);
				break;
			case "custom_tool_call":
				this.#call(item, { input: item.input }, time);
				break;
			case "local_shell_call":
				this.#call({ ...item, name: "shell" }, { command: recordOf(item.action).command }, time);
				break;
			case "function_call_output":
			case "custom_tool_call_output":
			case "local_shell_call_output":
				this.#result(item, time);
				break;
			default:
				this.conversation.leaveOut(
					item.type === undefined ? "notes of the program" : `items of the type ${String(item.type)}`,
				);
		}
	}

	#message(item: ForeignRecord, time: number | undefined): void {
		if (item.role === "assistant") {
			const text = contentText(item.content);
			if (text !== "") this.#reply(time).content.push({ type: "text", text });
			return;
		}
		this.#open = undefined;
		if (item.role !== "user") {
			this.conversation.leaveOut("instructions of the program");
			return;
		}
		if (promptOf(item) === undefined && contentText(item.content).trim() !== "") {
			this.conversation.leaveOut("instructions of the program");
			return;
		}
		const content = this.#content(item.content);
		this.conversation.prompt(content, time);
	}

	#reasoning(item: ForeignRecord, time: number | undefined): void {
		const thinking = [item.summary, item.content].map(contentText).find((text) => text !== "") ?? "";
		// The provider accepts its encrypted reasoning only together with the id.
		const isSigned = typeof item.encrypted_content === "string" && typeof item.id === "string";
		if (thinking === "" && !isSigned) {
			this.conversation.leaveOut("encrypted reasoning");
			return;
		}
		this.#reply(time).content.push({
			type: "thinking",
			thinking,
			...(isSigned ? { thinkingSignature: JSON.stringify(item) } : {}),
		});
	}

	#call(item: ForeignRecord, args: ForeignRecord, time: number | undefined): void {
		if (typeof item.call_id !== "string" || typeof item.name !== "string") {
			this.conversation.leaveOut("calls without an id");
			return;
		}
		const { workdir, ...others } = args;
		const isHere = workdir === undefined || workdir === null || workdir === this.#cwd;
		const name = typeof item.namespace === "string" ? `${item.namespace}__${item.name}` : item.name;
		this.conversation.call(this.#reply(time), { id: item.call_id, name, arguments: isHere ? others : args });
	}

	#result({ call_id: id, output }: ForeignRecord, time: number | undefined): void {
		this.#open = undefined;
		const { text, isError } = outputOf(output);
		const content = Array.isArray(output) ? this.#content(output) : [{ type: "text" as const, text }];
		this.conversation.result(textOf(id) ?? "", content, isError, time);
	}

	#event(payload: ForeignRecord): void {
		if (payload.type === "token_count") {
			const info = recordOf(payload.info);
			const total = amountOf(recordOf(info.total_token_usage).total_tokens);
			// The same count is repeated with each change of the limits.
			if (!this.#last || !isRecord(info.last_token_usage) || total === this.#total) return;
			this.#total = total;
			const { input_tokens: all, output_tokens: output, ...cached } = info.last_token_usage;
			const cacheRead = amountOf(cached.cached_input_tokens);
			const cacheWrite = amountOf(cached.cache_write_input_tokens);
			const input = Math.max(0, amountOf(all) - cacheRead - cacheWrite);
			this.#last.usage = { input, output: amountOf(output), cacheRead, cacheWrite };
		} else if (payload.type === "thread_name_updated" && typeof payload.thread_name === "string") {
			this.conversation.name(payload.thread_name);
		} else if (payload.type === "turn_aborted") this.#open = undefined;
	}

	#compacted({ message, replacement_history: history }: ForeignRecord, time: number | undefined): void {
		this.#open = undefined;
		const texts = recordsOf(history)
			.map(promptOf)
			.filter((text) => text !== undefined);
		const isEncrypted = recordsOf(history).some(({ encrypted_content }) => encrypted_content !== undefined);
		if (isEncrypted) this.conversation.leaveOut("encrypted summaries");
		const summary = textOf(message) || (isEncrypted ? encryptedSummary(texts) : texts.join("\n\n"));
		this.conversation.compaction(summary || NO_SUMMARY, 0, time);
	}

	#reply(time: number | undefined): Reply {
		if (!this.#open) {
			const model = { api: "openai-responses", provider: this.#provider, id: this.#model };
			this.#open = this.conversation.reply(model, time);
		}
		this.#last = this.#open;
		return this.#open;
	}

	#content(blocks: unknown): Content {
		return recordsOf(blocks).flatMap((block): Content => {
			if (typeof block.text === "string") return block.text === "" ? [] : [{ type: "text", text: block.text }];
			const image = /^data:([\w/+.-]+);base64,(.*)$/s.exec(textOf(block.image_url) ?? "");
			if (image) return [{ type: "image", mimeType: image[1] ?? "", data: image[2] ?? "" }];
			this.conversation.leaveOut(
				block.type === "input_image" ? "images that are gone" : `blocks of the type ${String(block.type)}`,
			);
			return [];
		});
	}
}

/** The text that replaces a summary which only the provider of Codex can read. @param prompts those that Codex kept */
function encryptedSummary(prompts: readonly string[]): string {
	const lost =
		"Codex encrypted its summary of this part: what was done in it, and with which result, is not known here";
	if (prompts.length === 0) return `${lost}.`;
	return `${lost}, except that the user wrote these prompts:\n\n${prompts.join("\n\n")}`;
}

/** The arguments of a call, which are JSON in a string; `{ input }` with what is none. */
function parsed(value: unknown): ForeignRecord {
	if (isRecord(value)) return value;
	try {
		const args: unknown = JSON.parse(textOf(value) ?? "");
		return isRecord(args) ? args : { input: args };
	} catch {
		return { input: value };
	}
}

/** Output of a call: text, or in earlier versions an object or JSON with the output and its exit code. */
function outputOf(output: unknown): { text: string; isError: boolean } {
	const value = isRecord(output) ? output : typeof output === "string" && output.startsWith("{") ? parsed(output) : {};
	const text = textOf(value.output) ?? textOf(value.content);
	if (text === undefined)
		return { text: typeof output === "string" ? output : JSON.stringify(output ?? ""), isError: false };
	const { exit_code: exitCode } = recordOf(value.metadata);
	return { text, isError: value.success === false || (typeof exitCode === "number" && exitCode !== 0) };
}
