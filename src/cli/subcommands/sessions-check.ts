import { findSession } from "../../log/catalog.js";
import { checkSession, type SessionCheck } from "../../log/check-session.js";
import { repairSession as repairFile } from "../../log/repair-session.js";
import type { SessionIssue } from "../../log/session-checker.js";
import { plural } from "../../modes/format.js";
import type { SessionsSubcommand } from "../options.js";
import { printJson, printLines, printNotices } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { dirsOf, filesOf, headOf, idOfFile, shortId } from "./printed-sessions.js";

/**
 * `pi sessions check [TARGET]`: prints what is wrong in a session, or in all.
 * @returns 1 when something is wrong
 * @throws PiError `log_not_found`
 */
export async function checkSessions(
	{ target, all }: Extract<SessionsSubcommand, { action: "check" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const dirs = dirsOf(location, all);
	const files = filesOf(dirs);
	const ids = files.map(idOfFile);
	const checked = target === undefined ? files.sort() : [findSession(dirs, target)];
	const checks: SessionCheck[] = [];
	for (const path of checked) {
		const check = checkSession(path);
		checks.push(check);
		if (!options.json) await printLines(io, checkLines(check, ids));
	}
	const wrong = checks.filter(({ issues }) => issues.length > 0);
	if (options.json) {
		await printJson(
			io,
			checks.map(({ path, entries, openIn, issues }) => ({ path, id: idOfFile(path), entries, openIn, issues })),
		);
	} else {
		const entries = checks.reduce((sum, check) => sum + check.entries, 0);
		const result = wrong.length === 0 ? "no problems" : `problems in ${wrong.length}`;
		await printLines(io, [
			`${plural(checks.length, "session")} with ${plural(entries, "entry", "entries")}: ${result}`,
		]);
		printNotices(io, hints(wrong, ids));
	}
	return wrong.length > 0 ? 1 : 0;
}

/**
 * `pi sessions repair TARGET`: repairs a session and prints what it did.
 * @throws PiError `log_not_found`, `log_locked`, `log_not_a_session`, `file_unreadable`, `log_write_failed`
 */
export async function repairSession(
	{ target, all }: Extract<SessionsSubcommand, { action: "show" | "repair" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const repair = repairFile(findSession(dirsOf(location, all), target), location.paths.cwd);
	if (options.json) {
		await printJson(io, repair);
		return 0;
	}
	const { path, backup, fixed, kept } = repair;
	await printLines(io, [
		...(backup === null
			? [`nothing to repair in ${path}`]
			: [
					`repaired  ${path}`,
					`old file  ${backup}`,
					...fixed.map((issue) => `fixed     ${issueText(issue)}${fixText(issue)}`),
				]),
		...kept.map((issue) => `kept      ${issueText(issue)}`),
	]);
	return 0;
}

function checkLines({ path, issues, openIn }: SessionCheck, ids: readonly string[]): string[] {
	if (issues.length === 0 && openIn === null) return [];
	const open = openIn === null ? [] : [`  open in process ${openIn}`];
	return [headOf(path, ids), ...open, ...issues.map((issue) => `  ${issueText(issue)}`), ""];
}

function issueText({ line, entryIndex, text }: SessionIssue): string {
	return line === null ? text : `line ${line}, entry ${entryIndex}: ${text}`;
}

function fixText({ kind }: SessionIssue): string {
	if (kind === "unanswered_call") return " → answered with an error";
	return kind === "no_header" ? " → restored" : " → completed";
}

function hints(wrong: readonly SessionCheck[], ids: readonly string[]): string[] {
	return wrong.flatMap(({ path, issues }) => {
		const has = (...kinds: readonly string[]) => issues.some(({ kind }) => kinds.includes(kind));
		if (has("other_format"))
			return [`pi sessions import ${/\s/.test(path) ? JSON.stringify(path) : path} makes a session of that file`];
		if (!has("no_header", "unanswered_call", "unfinished_write")) return [];
		return [`pi sessions repair ${shortId(idOfFile(path), ids)} repairs it and keeps the old file`];
	});
}
