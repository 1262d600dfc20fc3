import { clipMiddle } from "../util/clip-middle.js";
import { formatChange, formatCost, formatShare, formatTokens, plural } from "../util/format-amounts.js";
import type { BenchReport, SessionResult, StrategyResult } from "./bench.js";
import type { EvidenceLoss } from "./evidence.js";
import { evidenceShare, sumResults } from "./limit.js";

/** Losses that are listed. */
const MAX_LOSSES = 10;
const MAX_ITEM = 60;
/** The columns of a table, without the name of the strategy. */
export const HEADINGS = ["sent", "cached", "resent", "breaks", "peak", "cost", "vs none", "evidence"] as const;

/** Columns that a narrow terminal lacks, the first one first. */
const DISPENSABLE: readonly (typeof HEADINGS)[number][] = ["breaks", "resent", "peak", "cached", "sent"];
/** Least columns for the name of a strategy. */
const MIN_NAME = 12;

/** A report as lines of text. @param columns of the terminal; tables are not wider. Default: any width */
export function describeReport(report: BenchReport, columns = Number.POSITIVE_INFINITY): string[] {
	const { sessions } = report;
	if (sessions.length === 0) return ["No session was played", ...describeAsked(report)];
	const tables = sessions.map((session) => ({ title: titleOf(session), rows: rowsOf(session.results) }));
	if (sessions.length > 1) tables.push({ title: `all ${sessions.length} sessions`, rows: rowsOf(sumResults(report)) });
	return [...fitTables(tables, columns), ...describeNotes(report), ...describeLosses(sessions)];
}

/** Tables of at most `columns` columns: titles get a line of their own, then columns are dropped, then names are cut. */
function fitTables(tables: readonly { title: string; rows: string[][] }[], columns: number): string[] {
	const wide = alignRows(tables.flatMap(({ title, rows }) => [[title, ...HEADINGS], ...rows, []]));
	if (widthOf(wide) <= columns) return wide;
	const dropped: string[] = [];
	const format = (maxName: number) => {
		const shown = ["", ...HEADINGS].map((heading) => !dropped.includes(heading));
		const lines = alignRows(
			tables.flatMap(({ rows }) =>
				[["", ...HEADINGS], ...rows].map(([name = "", ...cells]) =>
					[clipMiddle(name, maxName), ...cells].filter((_, at) => shown[at]),
				),
			),
		);
		return { lines, width: widthOf(lines) };
	};
	const longest = Math.max(...tables.flatMap(({ rows }) => rows.map(([name = ""]) => name.length)));
	const isTooWide = () => format(Math.min(longest, MIN_NAME)).width > columns;
	for (const heading of DISPENSABLE) if (isTooWide()) dropped.push(heading);
	const { lines, width } = format(longest);
	const fitted = width <= columns ? lines : format(Math.max(1, longest - (width - columns))).lines;
	const rest = [...fitted];
	return [
		...tables.flatMap(({ title, rows }) => [title, ...rest.splice(0, rows.length + 1), ""]),
		...(dropped.length > 0 ? [`not shown, because the terminal is narrow: ${dropped.join(", ")}`] : []),
	];
}

function widthOf(lines: readonly string[]): number {
	return lines.reduce((width, line) => Math.max(width, line.length), 0);
}

/** How far the figures can be relied on, one line each. */
export function describeNotes(report: BenchReport): string[] {
	const { sessions, isPartial, shared } = report;
	return [
		...(shared
			? [`${plural(shared.sessions, "session")} share ${plural(shared.requests, "request")}, counted once`]
			: []),
		...describeCalibration(report),
		...describeUnplayed(sessions),
		...describeProblems(sessions),
		...describeAsked(report),
		...(isPartial ? ["stopped: what had not been played is missing"] : []),
	];
}

function titleOf({ name, requests }: SessionResult): string {
	return `${name}, ${plural(requests, "request")}`;
}

/** The figures of strategies in the order of the columns. */
export function rowsOf(results: readonly StrategyResult[]): string[][] {
	const [base] = results;
	return results.map(({ strategy, totals, evidence }) => {
		const { sent, cached, resent, breaks, peak, cost, unpriced } = totals;
		return [
			strategy,
			formatTokens(sent),
			formatShareOf(cached, sent),
			formatTokens(resent),
			String(breaks),
			formatTokens(peak),
			cost === null ? "–" : `$${cost.toFixed(3)}${unpriced > 0 ? "+" : ""}`,
			strategy === base?.strategy ? "–" : formatChange(cost, base?.totals.cost ?? null),
			`${formatShare(100 * evidenceShare(evidence))} %`,
		];
	});
}

/** A share of tokens: `93 %`; `–` of none. */
export function formatShareOf(part: number, all: number): string {
	return all === 0 ? "–" : `${Math.round((100 * part) / all)} %`;
}

/** Text to the left, figures to the right, each column as wide as its widest cell. */
function alignRows(rows: readonly string[][]): string[] {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
	return rows.map((row) =>
		row
			.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
			.join("  "),
	);
}

function describeCalibration({ sessions, model }: BenchReport): string[] {
	if (model !== null) return [`calibration: none, because the costs are those of ${model}`];
	const known = sessions.flatMap(({ calibration }) => calibration ?? []);
	const total = sessions.reduce((count, { requests }) => count + requests, 0);
	if (known.length === 0) return ["calibration: no session records what it cost, so tokens and costs are estimates"];
	const predicted = known.reduce((cost, one) => cost + one.predicted, 0);
	const recorded = known.reduce((cost, one) => cost + one.recorded, 0);
	const requests = known.reduce((count, one) => count + one.requests, 0);
	const off = 100 * (predicted / recorded - 1);
	const sign = off < 0 ? "−" : "+";
	return [
		`calibration: $${predicted.toFixed(3)} predicted, $${recorded.toFixed(3)} recorded (${sign}${Math.abs(off).toFixed(1)} %) for ${requests} of ${plural(total, "request")}`,
	];
}

function describeUnplayed(sessions: readonly SessionResult[]): string[] {
	const all = sumResults({ sessions });
	return all.flatMap((result) => {
		const parts = listUnplayed(result);
		return parts.length === 0 ? [] : [`not replayed: ${result.strategy}: ${parts.join(", ")}`];
	});
}

/** What the recording cannot tell of a strategy, such as `3 blocked calls`. */
export function listUnplayed({ unplayed, totals }: Pick<StrategyResult, "unplayed" | "totals">): string[] {
	const parts = Object.entries(unplayed).map(([what, count]) => `${count} ${what}`);
	if (totals.standIns === 0) return parts;
	return [...parts, `${plural(totals.standIns, "request")} to models, answered by pi's own summaries`];
}

function describeProblems(sessions: readonly SessionResult[]): string[] {
	return sumResults({ sessions }).flatMap(({ strategy, problems }) =>
		problems.map(({ reason, count }) => `problem: ${strategy}: ${plural(count, "time")}: ${reason}`),
	);
}

function describeAsked({ asked }: BenchReport): string[] {
	if (!asked) return [];
	const { requests, remembered, failed, cost, unpriced } = asked;
	const parts = [
		`${plural(requests, "request")}, ${formatCost(cost)}${unpriced > 0 ? "+" : ""}`,
		...(failed > 0 ? [`${failed} without an answer`] : []),
		...(remembered > 0 ? [`${plural(remembered, "answer")} remembered`] : []),
	];
	return [`asked: ${parts.join(" · ")}`];
}

function describeLosses(sessions: readonly SessionResult[]): string[] {
	const losses = worstLosses(sessions);
	if (losses.length === 0) return [];
	return [
		"",
		"worst losses:",
		...losses.map(({ session, strategies, loss }) => {
			const { reply, tool, missing, needed, entries } = loss;
			const [first = ""] = missing;
			const item = first.length > MAX_ITEM ? `${first.slice(0, MAX_ITEM)}…` : first;
			const where = entries.length > 0 ? ` of entry ${entries.slice(-3).join(", ")}` : "";
			return `${strategies.join(", ")}  ${session}  entry ${reply}, ${tool}: misses ${missing.length} of ${plural(needed, "item")} · ${JSON.stringify(item)}${where}`;
		}),
	];
}

/** A loss, and the strategies that have it. */
export interface WorstLoss {
	session: string;
	strategies: string[];
	loss: EvidenceLoss;
}

/** The calls that miss most of what they use, in all sessions, each once. */
export function worstLosses(sessions: readonly SessionResult[]): WorstLoss[] {
	const found = new Map<string, WorstLoss>();
	for (const { name, results } of sessions)
		for (const { strategy, evidence } of results)
			for (const loss of evidence.losses) {
				const key = JSON.stringify([name, loss.reply, loss.tool, loss.missing]);
				const known = found.get(key) ?? { session: name, strategies: [], loss };
				known.strategies.push(strategy);
				found.set(key, known);
			}
	return [...found.values()].sort((a, b) => b.loss.missing.length - a.loss.missing.length).slice(0, MAX_LOSSES);
}
