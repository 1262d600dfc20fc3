import { findSession, listSessions, type SessionSummary } from "../../log/catalog.js";
import { isMessageEntry, isSessionInfoEntry, messageText, type SessionEntry } from "../../log/entry.js";
import { promptText } from "../../log/prompt-text.js";
import { searchSessions } from "../../log/search.js";
import { SessionLog } from "../../log/session-log.js";
import { onOneLine } from "../../log/session-summary.js";
import { StatsCounter } from "../../session/stats.js";
import { plural } from "../../util/format-amounts.js";
import { homePath } from "../../util/home-path.js";
import type { SessionsSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { dirsOf, formatTime, PREVIEW, printedTitle, shortId } from "./printed-sessions.js";

/**
 * `pi sessions list [<text>]`: prints the sessions of this directory, or of all, newest first; with a text, those whose
 * name, first message or text contains it.
 * @returns 1 when a search finds nothing
 */
export async function printSessions(
	{ search, all }: Extract<SessionsSubcommand, { action: "list" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const sessions: SessionSummary[] = [];
	const excerpts = search === undefined ? null : new Map<string, string>();
	for (const dir of [dirsOf(location, all)].flat()) {
		sessions.push(...(await listSessions(dir)));
		if (search === undefined) continue;
		for await (const { path, excerpt } of searchSessions(dir, search)) excerpts?.set(path, excerpt);
	}
	sessions.sort((a, b) => b.modifiedAt - a.modifiedAt);
	const shown = excerpts
		? sessions.filter((session) => excerpts.has(session.path) || isNamed(session, search))
		: sessions;
	if (options.json) {
		await printJson(
			io,
			shown.map((session) => ({ ...session, ...(excerpts ? { excerpt: excerpts.get(session.path) ?? null } : {}) })),
		);
	} else if (shown.length === 0) {
		const place = all ? location.paths.sessions : location.sessionDir;
		printNotices(io, [
			search === undefined ? `No sessions in ${place}` : `No session contains ${JSON.stringify(search)}`,
		]);
	} else {
		const ids = sessions.map(({ id }) => id);
		const rows = shown.map((session) => [
			shortId(session.id, ids),
			formatTime(session.modifiedAt),
			session.messageCount === null ? "many" : String(session.messageCount),
			...(all ? [homePath(session.cwd, location.paths.home)] : []),
			printedTitle(session, hasName(session, search) ? undefined : excerpts?.get(session.path)),
		]);
		const head = ["id", "modified (UTC)", "messages", ...(all ? ["directory"] : []), "name or text"];
		await printLines(io, tableLines([head, ...rows]));
	}
	return shown.length === 0 && search !== undefined ? 1 : 0;
}

/**
 * `pi sessions show TARGET`: prints a session, one line for each entry.
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`
 */
export async function showSession(
	{ target, all }: Extract<SessionsSubcommand, { action: "show" | "repair" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const log = SessionLog.open(findSession(dirsOf(location, all), target), { readOnly: true });
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
			`content   ${plural(entries.length, "entry", "entries")}, ${plural(totalMessages, "message")}, ${plural(toolCalls, "tool call")}`,
			`usage     ${tokens.total} tokens, $${cost.toFixed(4)}`,
			"",
			...tableLines(entries.map((entry, index) => [String(index), roleOf(entry), previewOf(entry)])),
		]);
		return 0;
	} finally {
		log.close();
	}
}

function isNamed(session: SessionSummary, search = ""): boolean {
	return hasName(session, search) || session.id.toLowerCase().startsWith(search.toLowerCase());
}

/** Whether the name contains the text, which its row shows then. */
function hasName({ name }: SessionSummary, search = ""): boolean {
	return name?.toLowerCase().includes(search.toLowerCase()) === true;
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
	const text = message.role === "user" ? promptText(entry) : messageText(message);
	return onOneLine([...command, text, ...calls].filter(Boolean).join(" "), PREVIEW);
}
