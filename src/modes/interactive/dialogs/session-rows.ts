import type { SearchHit } from "../../../log/search.js";
import { type SessionSummary, titleOfPrompt } from "../../../log/session-summary.js";
import { clipLine } from "../../../tui/line.js";
import type { SelectColumn, SelectItem } from "../../../tui/select-dialog.js";
import { formatAge } from "../../../util/age.js";
import { formatCost, homePath, plural } from "../../format.js";
import { cleanLine } from "../clean-text.js";

/** How a list of sessions is displayed. */
export interface SessionRowOptions {
	current: string | null;
	/** Paths of the sessions that a pi process has open. */
	open: ReadonlySet<string>;
	home: string;
	/** Whether to show each session's directory. */
	hasDirectories: boolean;
	isNarrow: boolean;
	/** US dollars by the id of the session. */
	costs: ReadonlyMap<string, number>;
	/** ms since the epoch. */
	now: number;
}

/** Messages, branch, directory, cost, age. */
export const SESSION_COLUMNS: readonly SelectColumn[] = [
	{ align: "right", rank: 4 },
	{ align: "left", rank: 3 },
	{ align: "left", rank: 2 },
	{ align: "right", rank: 2 },
	{ align: "right", rank: 1 },
];

const NO_MESSAGES = "(no messages)";
/** Columns of the name of a branch. */
const MAX_BRANCH = 20;
/** Columns of a title before a found text. */
const MAX_TITLE = 24;
const MAX_DIRECTORY = 24;
/** Length of the text shown before a match, short enough for narrow screens. UTF-16 units. */
const BEFORE_HIT = 12;

/**
 * @returns the sessions whose name, first message, id or directory contains each typed word, newest first; then those
 * whose text contains it
 */
export function sessionRows(
	sessions: readonly SessionSummary[],
	hits: ReadonlyMap<string, SearchHit>,
	filter: string,
	options: SessionRowOptions,
): SelectItem<string>[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	const named = sessions.filter((session) => words.every((word) => searchable(session).includes(word)));
	const isNamed = new Set(named);
	const found = sessions.flatMap((session) => {
		const hit = isNamed.has(session) ? undefined : hits.get(session.path);
		return hit ? [toItem(session, hitLabel(session, hit, filter, options), options)] : [];
	});
	// What was typed may be anywhere in the first message.
	const label = (session: SessionSummary) =>
		words.length > 0 ? titleOf(session) : (session.name ?? (titleOfPrompt(session.firstMessage) || NO_MESSAGES));
	return [...named.map((session) => toItem(session, label(session), options)), ...found];
}

/** @returns the positions of a filter in a label: of the complete filter, or else of its words */
export function matchedUnits(filter: string, label: string): number[] {
	const text = label.toLowerCase();
	const wanted = filter.trim().toLowerCase();
	const words = text.includes(wanted) ? [wanted] : wanted.split(/\s+/);
	return words.flatMap((word) => {
		const at = text.indexOf(word);
		return at < 0 ? [] : Array.from({ length: word.length }, (_, offset) => at + offset);
	});
}

/** @returns the name or else the first message */
export function titleOf({ name, firstMessage }: SessionSummary): string {
	return name ?? (firstMessage || NO_MESSAGES);
}

function searchable({ name, firstMessage, id, cwd, program = "" }: SessionSummary): string {
	return `${name ?? ""} ${firstMessage} ${id} ${cwd} ${program}`.toLowerCase();
}

/** The title, shortened, and the found text; on a narrow screen only that, unless the session has a name. */
function hitLabel(
	session: SessionSummary,
	{ excerpt }: SearchHit,
	filter: string,
	{ isNarrow }: SessionRowOptions,
): string {
	const at = excerpt.toLowerCase().indexOf(filter.trim().toLowerCase());
	const text = at > BEFORE_HIT + 1 ? `…${excerpt.slice(at - BEFORE_HIT)}` : excerpt;
	return session.name === null && isNarrow ? text : `${clipLine(titleOf(session), MAX_TITLE)} · ${text}`;
}

function toItem(session: SessionSummary, label: string, options: SessionRowOptions): SelectItem<string> {
	const { path, id, messageCount, branch = "", cwd, modifiedAt, subSessions, program } = session;
	const cost = options.costs.get(id) ?? 0;
	const count =
		program !== undefined ? program : messageCount === null ? "not counted" : plural(messageCount, "message");
	return {
		label,
		value: path,
		...signOf(path, options),
		fields: [
			subSessions === undefined ? count : `${count} · ${plural(subSessions, "sub-agent")}`,
			clipLine(cleanLine(branch), MAX_BRANCH),
			options.hasDirectories ? endOfPath(homePath(cwd, options.home)) : "",
			cost > 0 ? formatCost(cost) : "",
			formatAge(modifiedAt, options.now),
		],
	};
}

/** `●` open here, `○` open in another pi. */
function signOf(path: string, { current, open }: SessionRowOptions): { sign?: string; isDimmed?: boolean } {
	if (path === current) return { sign: "●" };
	if (open.has(path)) return { sign: "○", isDimmed: true };
	return current === null ? {} : { sign: " " };
}

function endOfPath(path: string): string {
	return path.length > MAX_DIRECTORY ? `…${path.slice(1 - MAX_DIRECTORY)}` : path;
}
