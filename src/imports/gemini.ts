import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRecord } from "../util/is-record.js";
import { type Content, Conversation } from "./foreign-conversation.js";
import type { CallNames } from "./own-calls.js";
import type { ForeignSession, FoundSession, Program } from "./program.js";
import {
	allRecords,
	amountOf,
	documentOf,
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

const PATH = { absolute_path: "path", file_path: "path", dir_path: "path" };
const NAMES: CallNames = {
	read_file: { tool: "read", renamed: PATH },
	write_file: { tool: "write", renamed: PATH, dropped: ["ai_proposed_content", "modified_by_user"] },
	replace: {
		...{
			tool: "edit",
			renamed: { ...PATH, old_string: "oldText", new_string: "newText", allow_multiple: "replaceAll" },
		},
		dropped: ["instruction", "ai_proposed_string", "ai_proposed_content", "modified_by_user"],
	},
	run_shell_command: { tool: "bash", dropped: ["description"] },
	search_file_content: { tool: "grep", renamed: { ...PATH, include: "glob" } },
	grep_search: { tool: "grep", renamed: { ...PATH, include: "glob" } },
	glob: { tool: "find", renamed: PATH },
	list_directory: { tool: "ls", renamed: PATH },
};

/** Type of a message with a reply. */
const REPLY = "gemini";

/** A session file: what describes the session, and its messages. */
interface Recording {
	meta: ForeignRecord;
	messages: readonly ForeignRecord[];
}

/**
 * Sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, one document each, or `.jsonl` with a line for the session and
 * one for each message. The directory is the SHA-256 of the path of the project, or has its path in `.project_root`.
 */
export const gemini: Program = {
	name: "gemini",
	title: "Gemini CLI",
	files({ cwd, home, env }) {
		const tmp = join(env.GEMINI_CLI_HOME || home, ".gemini", "tmp");
		const hash = hashOf(cwd);
		const isOfProject = (dir: string) => basename(dir) === hash || rootOf(dir) === cwd;
		return filesIn(tmp, /^[^.]/)
			.filter(isOfProject)
			.flatMap((dir) => filesIn(join(dir, "chats"), /^session-.*\.jsonl?$/));
	},
	list(path): FoundSession[] {
		const recording = recordingOf(path, headRecords(path));
		if (!recording) return [];
		const { meta, messages } = recording;
		const prompt = messages.find(({ type }) => type === "user");
		return [
			{
				...{ program: "gemini", path, id: textOf(meta.sessionId) ?? "", cwd: projectOf(path) ?? null },
				...{ title: titleText(textOf(meta.summary) ?? messageText(prompt?.content)), modifiedAt: modifiedAt(path) },
			},
		];
	},
	read(path): ForeignSession {
		let damaged = 0;
		const recording = recordingOf(path, path.endsWith(".json") ? [] : allRecords(path, () => damaged++));
		if (!recording) throw notASession(path, "it is not a session of Gemini CLI");
		const conversation = new Conversation(NAMES);
		for (const message of recording.messages) write(conversation, message);
		const { meta } = recording;
		if (typeof meta.summary === "string" && meta.summary !== "") conversation.name(meta.summary);
		const origin = { id: textOf(meta.sessionId) ?? "", cwd: projectOf(path) };
		return conversation.session({ ...origin, startedAt: [meta.startTime, modifiedAt(path)] }, { damaged });
	},
};

function hashOf(cwd: string): string {
	return createHash("sha256").update(cwd).digest("hex");
}

/** The project of a session file, if its directory names it. */
function projectOf(path: string): string | undefined {
	return rootOf(dirname(dirname(path)));
}

function rootOf(dir: string): string | undefined {
	try {
		return readFileSync(join(dir, ".project_root"), "utf8").trim() || undefined;
	} catch {
		return undefined;
	}
}

/** @param lines objects of the file's lines; a document in one piece has none */
function recordingOf(path: string, lines: readonly ForeignRecord[]): Recording | undefined {
	const [first] = lines;
	if (first && !isSession(first)) return undefined;
	const isLines = first !== undefined && !Array.isArray(first.messages);
	const document = isLines ? undefined : documentOf(path);
	if (document) {
		return isSession(document) && Array.isArray(document.messages)
			? { meta: document, messages: recordsOf(document.messages) }
			: undefined;
	}
	if (!first || !isLines) return undefined;
	let meta = first;
	const messages = new Map<string, ForeignRecord>();
	for (const record of lines.slice(1)) {
		const { $set: changed, $rewindTo: target } = record;
		if (isRecord(changed)) meta = { ...meta, ...changed };
		else if (typeof target === "string") {
			const ids = [...messages.keys()];
			for (const id of ids.slice(Math.max(0, ids.indexOf(target)))) messages.delete(id);
		} else if (typeof record.id === "string") messages.set(record.id, record);
	}
	return { meta, messages: [...messages.values()] };
}

function isSession({ sessionId, projectHash }: ForeignRecord): boolean {
	return typeof sessionId === "string" && typeof projectHash === "string";
}

function messageText(content: unknown): string {
	return typeof content === "string"
		? content
		: recordsOf(content)
				.map(({ text }) => textOf(text) ?? "")
				.join("\n");
}

function write(conversation: Conversation, message: ForeignRecord): void {
	const time = timeOf(message.timestamp);
	if (message.type === "user") {
		const content = contentOf(message.content, conversation);
		conversation.prompt(content, time);
		return;
	}
	if (message.type !== REPLY) {
		conversation.leaveOut("notes of the program");
		return;
	}
	const model = { api: "google-generative-ai", provider: "google", id: textOf(message.model) ?? "unknown" };
	const reply = conversation.reply(model, time);
	const thinking = recordsOf(message.thoughts).map(({ subject, description }) =>
		[subject, description].filter(Boolean).join(": "),
	);
	if (thinking.length > 0) reply.content.push({ type: "thinking", thinking: thinking.join("\n\n") });
	const text = messageText(message.content);
	if (text.trim() !== "") reply.content.push({ type: "text", text });
	if (isRecord(message.tokens)) {
		const { input, output, cached, thoughts, tool } = message.tokens;
		const cacheRead = amountOf(cached);
		reply.usage = {
			...{
				input: Math.max(0, amountOf(input) + amountOf(tool) - cacheRead),
				output: amountOf(output) + amountOf(thoughts),
			},
			...{ cacheRead, cacheWrite: 0 },
		};
	}
	for (const call of recordsOf(message.toolCalls)) {
		if (typeof call.id !== "string" || typeof call.name !== "string") {
			conversation.leaveOut("calls without an id");
			continue;
		}
		conversation.call(reply, { id: call.id, name: call.name, arguments: recordOf(call.args) });
		const isError = call.status === "error" || call.status === "cancelled";
		if (call.result !== undefined && call.result !== null) {
			conversation.result(call.id, resultOf(call.result, conversation), isError, timeOf(call.timestamp) ?? time);
		}
	}
}

function resultOf(result: unknown, conversation: Conversation): Content {
	return recordsOf(Array.isArray(result) ? result : [result]).flatMap((part): Content => {
		if (!isRecord(part.functionResponse)) return contentOf([part], conversation);
		const { output, error } = recordOf(part.functionResponse.response);
		const text = textOf(output) ?? textOf(error) ?? JSON.stringify(part.functionResponse.response ?? "");
		return text === "" ? [] : [{ type: "text", text }];
	});
}

function contentOf(content: unknown, conversation: Conversation): Content {
	if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
	return recordsOf(content).flatMap((part): Content => {
		if (typeof part.text === "string") return part.text === "" ? [] : [{ type: "text", text: part.text }];
		const { data, mimeType } = recordOf(part.inlineData);
		if (typeof data === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")) {
			return [{ type: "image", data, mimeType }];
		}
		conversation.leaveOut("parts that are neither text nor images");
		return [];
	});
}
