import { findSession, listSessions, type SessionSummary } from "../../log/catalog.js";
import { isMessageEntry, isSessionInfoEntry, messageText, type SessionEntry } from "../../log/entry.js";
import { searchSessions } from "../../log/search.js";
import { SessionLog } from "../../log/session-log.js";
import { onOneLine } from "../../log/session-summary.js";
import { StatsCounter } from "../../session/stats.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";

/** Minimum length of a printed id; longer where needed to be unique. */
const ID_LENGTH = 8;
const PREVIEW = 80;

/**
 * `pi sessions list [<text>]`: prints the sessions of this directory, newest first; with a text, those whose name,
 * first message or text contains it.
 * @returns 1 when a search finds nothing
 */
export async function printSessions(
	search: string | undefined,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const sessions = await listSessions(location.sessionDir);
	const excerpts = search === undefined ? null : await findTexts(location.sessionDir, search);
	const shown = excerpts
		? sessions.filter((session) => excerpts.has(session.path) || isNamed(session, search))
		: sessions;
	if (options.json) {
		await printJson(
			io,
			shown.map((session) => ({ ...session, ...(excerpts ? { excerpt: excerpts.get(session.path) ?? null } : {}) })),
		);
	} else if (shown.length === 0) {
		printNotices(io, [
			search === undefined ? `No sessions in ${location.sessionDir}` : `No session contains ${JSON.stringify(search)}`,
		]);
	} else {
		const rows = shown.map((session) => [
			shortId(session, sessions),
			new Date(session.modifiedAt).toISOString().slice(0, 16).replace("T", " "),
			session.messageCount === null ? "many" : String(session.messageCount),
			onOneLine(
				[session.name, excerpts?.get(session.path) ?? session.firstMessage].filter(Boolean).join(" · "),
				PREVIEW,
			),
		]);
		await printLines(io, tableLines([["id", "modified (UTC)", "messages", "name or text"], ...rows]));
	}
	return shown.length === 0 && search !== undefined ? 1 : 0;
}

/**
 * `pi sessions show TARGET`: prints a session, one line for each entry.
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`
 */
export async function showSession(target: string, { location, options, io }: SubcommandContext): Promise<number> {
	const log = SessionLog.open(findSession(location.sessionDir, target), { readOnly: true });
	try {
		const { entries, header } = log;
		const stats = new StatsCounter().count(log);
		const info = log.entry(log.findLast("session_info"));
		const name = isSessionInfoEntry(info) ? info.name : null;
		if (options.json) {
			await printJson(io, { ...stats, name, header, entries });
			return 0;
		}
		const { totalMessages, toolCalls, tokens, cost } = stats;
		await printLines(io, [
			`file      ${log.path}`,
			`id        ${log.id}`,
			...(name === null ? [] : [`name      ${name}`]),
			`started   ${header.timestamp} in ${header.cwd}`,
			...(header.branchedFrom === undefined ? [] : [`branched  from ${header.branchedFrom}`]),
			`content   ${entries.length} entries, ${totalMessages} messages, ${toolCalls} tool calls`,
			`usage     ${tokens.total} tokens, $${cost.toFixed(4)}`,
			"",
			...tableLines(entries.map((entry, index) => [String(index), roleOf(entry), previewOf(entry)])),
		]);
		return 0;
	} finally {
		log.close();
	}
}

async function findTexts(dir: string, search: string): Promise<Map<string, string>> {
	const excerpts = new Map<string, string>();
	for await (const { path, excerpt } of searchSessions(dir, search)) excerpts.set(path, excerpt);
	return excerpts;
}

function isNamed({ name, id }: SessionSummary, search: string | undefined): boolean {
	const wanted = search?.toLowerCase() ?? "";
	return name?.toLowerCase().includes(wanted) === true || id.toLowerCase().startsWith(wanted);
}

function shortId({ id }: SessionSummary, all: readonly SessionSummary[]): string {
	const isShared = (length: number) => all.some((other) => other.id !== id && other.id.startsWith(id.slice(0, length)));
	let length = Math.min(ID_LENGTH, id.length);
	while (length < id.length && isShared(length)) length++;
	return id.slice(0, length);
}

function roleOf(entry: SessionEntry): string {
	return isMessageEntry(entry) ? entry.message.role : entry.type;
}

function previewOf(entry: SessionEntry): string {
	if (!isMessageEntry(entry))
		return onOneLine(JSON.stringify({ ...entry, type: undefined, timestamp: undefined }), PREVIEW);
	const { message } = entry;
	const calls =
		message.role === "assistant"
			? message.content.flatMap((block) => (block.type === "toolCall" ? [`${block.name}(…)`] : []))
			: [];
	const command = message.role === "bashExecution" ? [`$ ${message.command}`] : [];
	return onOneLine([...command, messageText(message), ...calls].filter(Boolean).join(" "), PREVIEW);
}
