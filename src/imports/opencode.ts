import { basename, dirname, join } from "node:path";
import { isRecord } from "../util/is-record.js";
import { type Content, Conversation, type Reply } from "./foreign-conversation.js";
import { canReadDatabases, databaseSession, databaseSessions, type OpencodeSession } from "./opencode-database.js";
import type { CallNames } from "./own-calls.js";
import type { ForeignSession, FoundSession, ImportPlace, Program } from "./program.js";
import {
	amountOf,
	documentOf,
	type ForeignRecord,
	filesIn,
	modifiedAt,
	notASession,
	recordOf,
	recordsOf,
	textOf,
	timeOf,
	titleText,
} from "./records.js";

const NAMES: CallNames = {
	read: { renamed: { filePath: "path" } },
	write: { renamed: { filePath: "path" } },
	edit: { renamed: { filePath: "path", oldString: "oldText", newString: "newText" } },
	bash: { milliseconds: ["timeout"], dropped: ["description"] },
	grep: { renamed: { include: "glob" } },
	glob: { tool: "find" },
	list: { tool: "ls" },
};
/** Wire formats by provider; all others speak chat completions. */
const APIS: Readonly<Record<string, string>> = {
	anthropic: "anthropic-messages",
	openai: "openai-responses",
	google: "google-generative-ai",
};

/** The database; test versions of opencode keep one each. */
const DATABASE = /opencode(-[\w.-]+)?\.db$/;

/**
 * Sessions of opencode: what `opencode export` prints; its storage, `~/.local/share/opencode/storage`, which holds a document for each
 * session, message and part; and the database `opencode.db` next to it, which newer versions keep instead.
 */
export const opencode: Program = {
	name: "opencode",
	title: "opencode",
	files(place) {
		const dir = dataDir(place);
		return [...filesIn(dir, DATABASE), ...filesIn(join(dir, "storage", "session"), /ses_[^/\\]*\.json$/, true)];
	},
	unreadable(path) {
		if (!DATABASE.test(path) || canReadDatabases()) return null;
		return `Cannot read ${path}: databases need Node 22.13 or later; opencode export writes a file for any version`;
	},
	list(path): FoundSession[] {
		if (DATABASE.test(path)) return databaseSessions(path).flatMap((row) => foundSession(path, row));
		return foundSession(path, infoOf(documentOf(path)));
	},
	read(path, id): ForeignSession {
		const exported = DATABASE.test(path) ? databaseSession(path, id) : exportOf(path);
		if (!exported) throw notASession(path, "it is not a session of opencode");
		const { info, messages } = exported;
		const conversation = new Conversation(NAMES);
		const writer = new Writer(conversation);
		// opencode hides them, and deletes them with the next prompt.
		const reverted = textOf(recordOf(info.revert).messageID);
		for (const message of messages) {
			const isReverted = reverted !== undefined && (textOf(message.info.id) ?? "") >= reverted;
			if (isReverted) conversation.leaveOut("reverted messages");
			else writer.write(message.info, message.parts);
		}
		if (typeof info.title === "string" && info.title !== "") conversation.name(info.title);
		const startedAt = [recordOf(info.time).created, modifiedAt(path)];
		return conversation.session({ id: textOf(info.id) ?? "", cwd: textOf(info.directory), startedAt });
	},
};

function dataDir({ home, env }: Pick<ImportPlace, "home" | "env">): string {
	return join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");
}

function foundSession(path: string, info: ForeignRecord | undefined): FoundSession[] {
	if (!info) return [];
	const changed = timeOf(recordOf(info.time).updated);
	return [
		{
			...{ program: "opencode", path, id: textOf(info.id) ?? "", cwd: textOf(info.directory) ?? null },
			...{ title: titleText(textOf(info.title) ?? ""), modifiedAt: changed ?? modifiedAt(path) },
		},
	];
}

/** The session that a document describes; undefined for another document. */
function infoOf(document: ForeignRecord | undefined): ForeignRecord | undefined {
	const info = isRecord(document?.info) && Array.isArray(document.messages) ? document.info : document;
	return info && typeof info.id === "string" && info.id.startsWith("ses_") && typeof info.directory === "string"
		? info
		: undefined;
}

function exportOf(path: string): OpencodeSession | undefined {
	const document = documentOf(path);
	const info = infoOf(document);
	if (!document || !info) return undefined;
	if (Array.isArray(document.messages)) {
		const messages = recordsOf(document.messages).map((message) => ({
			info: recordOf(message.info),
			parts: recordsOf(message.parts),
		}));
		return { info, messages };
	}
	const storage = dirname(dirname(dirname(path)));
	const documentsIn = (kind: string, id: string): ForeignRecord[] =>
		filesIn(join(storage, kind, id), /\.json$/)
			.map(documentOf)
			.filter((found) => found !== undefined);
	const byTime = (a: ForeignRecord, b: ForeignRecord) =>
		amountOf(recordOf(a.time).created) - amountOf(recordOf(b.time).created);
	const messages = documentsIn("message", basename(path, ".json")).sort(byTime);
	return {
		info,
		messages: messages.map((message) => ({ info: message, parts: documentsIn("part", textOf(message.id) ?? "_") })),
	};
}

class Writer {
	constructor(private readonly conversation: Conversation) {}

	write(info: ForeignRecord, parts: readonly ForeignRecord[]): void {
		const time = timeOf(recordOf(info.time).created);
		if (info.role === "user") this.#prompt(parts, time);
		else if (info.role !== "assistant") this.conversation.leaveOut("notes of the program");
		else if (info.summary === true) {
			const summary = parts.map((part) => (part.type === "text" ? (textOf(part.text) ?? "") : "")).join("\n");
			this.conversation.compaction(summary.trim(), amountOf(recordOf(info.tokens).input), time);
		} else this.#replies(info, parts, time);
	}

	#prompt(parts: readonly ForeignRecord[], time: number | undefined): void {
		const content: Content = [];
		for (const part of parts) {
			if (part.type === "text" && part.synthetic === true)
				this.conversation.notice("opencode", textOf(part.text) ?? "", time);
			else if (part.type === "text" && textOf(part.text)) content.push({ type: "text", text: textOf(part.text) ?? "" });
			else if (part.type === "file") content.push(...this.#file(part));
			else if (part.type !== "compaction") this.conversation.leaveOut(`parts of the type ${String(part.type)}`);
		}
		this.conversation.prompt(content, time);
	}

	#file({ mime, url }: ForeignRecord): Content {
		const data = /^data:[^,]*;base64,(.*)$/s.exec(textOf(url) ?? "")?.[1];
		if (data !== undefined && typeof mime === "string" && mime.startsWith("image/"))
			return [{ type: "image", data, mimeType: mime }];
		// The text of an attached file is in a synthetic part.
		this.conversation.leaveOut(
			typeof mime === "string" && mime.startsWith("image/") ? "images that are gone" : "attached files",
		);
		return [];
	}

	/** A message of earlier versions has several replies, each after a part `step-start`. */
	#replies(info: ForeignRecord, parts: readonly ForeignRecord[], time: number | undefined): void {
		const provider = textOf(info.providerID) ?? "unknown";
		const model = { api: APIS[provider] ?? "openai-completions", provider, id: textOf(info.modelID) ?? "unknown" };
		let reply: Reply | undefined;
		let last: Reply | undefined;
		let hasSteps = false;
		for (const part of parts) {
			if (part.type === "step-start") reply = undefined;
			else if (part.type === "step-finish" && last) {
				last.usage = usageOf(part);
				hasSteps = true;
			} else if (part.type === "text" || part.type === "reasoning" || part.type === "tool") {
				reply ??= this.conversation.reply(model, timeOf(recordOf(part.time).start) ?? time);
				last = reply;
				this.#part(reply, part, time);
			} else if (part.type !== "snapshot" && part.type !== "patch" && part.type !== "step-finish") {
				this.conversation.leaveOut(`parts of the type ${String(part.type)}`);
			}
		}
		if (last && !hasSteps) last.usage = usageOf(info);
		if (isRecord(info.error)) this.conversation.leaveOut("errors of replies");
	}

	#part(reply: Reply, part: ForeignRecord, time: number | undefined): void {
		const text = textOf(part.text) ?? "";
		if (part.type === "text") {
			if (text.trim() !== "") reply.content.push({ type: "text", text });
		} else if (part.type === "reasoning") {
			const signature = textOf(recordOf(recordOf(part.metadata).anthropic).signature);
			if (text === "" && !signature) return;
			reply.content.push({ type: "thinking", thinking: text, ...(signature ? { thinkingSignature: signature } : {}) });
		} else if (typeof part.callID === "string" && typeof part.tool === "string") {
			const state = recordOf(part.state);
			this.conversation.call(reply, { id: part.callID, name: part.tool, arguments: recordOf(state.input) });
			if (state.status !== "completed" && state.status !== "error") return;
			const isError = state.status === "error";
			const output = textOf(isError ? state.error : state.output) ?? "";
			const files = recordsOf(state.attachments).flatMap((file) => this.#file(file));
			const content: Content = [...(output === "" ? [] : [{ type: "text" as const, text: output }]), ...files];
			this.conversation.result(part.callID, content, isError, timeOf(recordOf(state.time).end) ?? time);
		} else this.conversation.leaveOut("calls without an id");
	}
}

function usageOf({ tokens, cost }: ForeignRecord) {
	const { input, output, reasoning, cache } = recordOf(tokens);
	const { read, write } = recordOf(cache);
	return {
		...{ input: amountOf(input), output: amountOf(output) + amountOf(reasoning) },
		...{ cacheRead: amountOf(read), cacheWrite: amountOf(write) },
		...(typeof cost === "number" ? { cost } : {}),
	};
}
