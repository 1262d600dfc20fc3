import type { SearchHit } from "../../../log/search.js";
import type { SessionSummary } from "../../../log/session-summary.js";
import type { SelectColumn, SelectItem } from "../../../tui/select-dialog.js";
import { formatAge } from "../../../util/age.js";
import { homePath, plural } from "../../format.js";

/** How a list of sessions is displayed. */
export interface SessionRowOptions {
	current: string | null;
	/** Paths of those that some pi has open. */
	open: ReadonlySet<string>;
	home: string;
	/** Also where each began. */
	hasPlaces: boolean;
	/** ms since the epoch. */
	now: number;
}

/** Messages, size, where it began, age. */
export const SESSION_COLUMNS: readonly SelectColumn[] = [
	{ align: "right", rank: 3 },
	{ align: "right", rank: 4 },
	{ align: "left", rank: 2 },
	{ align: "right", rank: 1 },
];

const MAX_NAME = 24;
const MAX_PLACE = 24;
/** What stands before a text that was found, so that it is seen on a narrow screen too. UTF-16 units. */
const BEFORE_HIT = 12;

/**
 * The sessions for what is typed: those whose name, first message, id or directory holds each word of it, newest first;
 * then those in whose text it was found.
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
		return hit ? [toItem(session, hitLabel(session, hit, filter), options)] : [];
	});
	return [...named.map((session) => toItem(session, titleOf(session), options)), ...found];
}

/** Where the words of a filter, or all of it as it stands, are in a label. */
export function matchedUnits(filter: string, label: string): number[] {
	const text = label.toLowerCase();
	const whole = filter.trim().toLowerCase();
	const words = text.includes(whole) ? [whole] : whole.split(/\s+/);
	return words.flatMap((word) => {
		const at = text.indexOf(word);
		return at < 0 ? [] : Array.from(word, (_, offset) => at + offset);
	});
}

/** What a person knows a session by. */
export function titleOf({ name, firstMessage }: SessionSummary): string {
	return name ?? (firstMessage || "(nothing said)");
}

function searchable({ name, firstMessage, id, cwd }: SessionSummary): string {
	return `${name ?? ""} ${firstMessage} ${id} ${cwd}`.toLowerCase();
}

function hitLabel({ name }: SessionSummary, { excerpt }: SearchHit, filter: string): string {
	const at = excerpt.toLowerCase().indexOf(filter.trim().toLowerCase());
	const text = at > BEFORE_HIT + 1 ? `…${excerpt.slice(at - BEFORE_HIT)}` : excerpt;
	if (name === null) return text;
	return `${name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name} · ${text}`;
}

function toItem(session: SessionSummary, label: string, options: SessionRowOptions): SelectItem<string> {
	const { path, messageCount, bytes, cwd, modifiedAt } = session;
	return {
		label,
		value: path,
		...signOf(path, options),
		fields: [
			messageCount === null ? "many messages" : plural(messageCount, "message"),
			size(bytes),
			options.hasPlaces ? endOfPath(homePath(cwd, options.home)) : "",
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

/** Of a long path its end tells more. */
function endOfPath(path: string): string {
	return path.length > MAX_PLACE ? `…${path.slice(1 - MAX_PLACE)}` : path;
}

function size(bytes: number): string {
	if (bytes < 1024) return `${bytes} B`;
	const kib = bytes / 1024;
	return kib < 1000 ? `${Math.round(kib)} KB` : `${(kib / 1024).toFixed(1)} MB`;
}
