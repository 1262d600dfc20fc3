import { formatCost, formatTokens } from "../util/format-amounts.js";
import { homePath } from "../util/home-path.js";
import { sum } from "../util/sum.js";
import type { UsageGrouping, UsageReport, UsageTotal } from "./usage-report.js";

/** Columns after the key, most important first; a narrow screen omits the last ones. */
const COLUMNS: readonly [heading: string, cell: (total: UsageTotal) => string][] = [
	["cost", costText],
	["sent", (total) => formatTokens(sentTokens(total))],
	["received", ({ output }) => formatTokens(output)],
	["cached", cachedText],
	["requests", ({ requests }) => String(requests)],
	["sessions", ({ sessions }) => String(sessions)],
];
const GAP = 2;
const MIN_KEY = 10;
const SHORT_ID = 8;

/** How a report is shown. */
export interface UsageDisplay {
	by: UsageGrouping;
	/** Only the last `days` days are in the report; null: all. */
	days: number | null;
	/** Width of the screen; null if lines may have any length. */
	columns: number | null;
	/** Home directory, shown as `~`. */
	home: string;
}

/** The title of a report: `Usage by day`, `Usage in the last 7 days by model`. */
export function usageTitle({ by, days }: Pick<UsageDisplay, "by" | "days">): string {
	return `Usage${days === null ? "" : ` ${period(days)}`} by ${by}`;
}

/** A report as a table: a heading, a line for each row and one for the total, then the meaning of its marks. */
export function usageLines({ rows, total }: UsageReport, display: UsageDisplay): string[] {
	const { by, days, columns } = display;
	if (total.requests === 0) return [days === null ? "No requests yet" : `No requests ${period(days)}`];
	const shown = [
		...rows.map((row) => ({ name: keyText(row.key, display), sums: row })),
		{ name: "total", sums: total },
	];
	const cells = COLUMNS.map(([heading, cell]) => [heading, ...shown.map(({ sums }) => cell(sums))]);
	const widths = cells.map((column) => Math.max(...column.map((cell) => cell.length)) + GAP);
	const names = [by, ...shown.map(({ name }) => name)];
	const nameWidth = Math.max(...names.map((name) => name.length));
	let count = COLUMNS.length;
	const room = () => (columns ?? Number.POSITIVE_INFINITY) - sum(widths.slice(0, count));
	while (count > 3 && room() < Math.min(nameWidth, MIN_KEY * 2)) count--;
	const width = Math.min(nameWidth, Math.max(MIN_KEY, room()));
	const lines = names.map((name, line) => {
		const values = cells.slice(0, count).map((column, at) => (column[line] ?? "").padStart(widths[at] ?? 0));
		return clipStart(name, width).padEnd(width) + values.join("");
	});
	return [...lines, ...legend([...rows, total])];
}

function legend(totals: readonly UsageTotal[]): string[] {
	return [
		...(totals.some(({ cost }) => cost === null) ? ["– unknown price, or a subscription"] : []),
		...(totals.some(({ unpriced }) => unpriced) ? ["+ and requests of unknown price"] : []),
	];
}

function costText({ cost, unpriced }: UsageTotal): string {
	return cost === null ? "–" : `${formatCost(cost)}${unpriced ? "+" : ""}`;
}

function cachedText(total: UsageTotal): string {
	const sent = sentTokens(total);
	return sent === 0 ? "" : `${Math.floor((100 * total.cacheRead) / sent)}%`;
}

function sentTokens({ input, cacheRead, cacheWrite }: UsageTotal): number {
	return input + cacheRead + cacheWrite;
}

function keyText(key: string, { by, home }: UsageDisplay): string {
	if (by === "session") return key.slice(0, SHORT_ID);
	return by === "project" ? homePath(key, home) : key;
}

function period(days: number): string {
	return days === 1 ? "today" : `in the last ${days} days`;
}

/** Cuts a name at its start: the last folders and the model are the most informative. */
function clipStart(name: string, width: number): string {
	return name.length <= width ? name : `…${name.slice(name.length - width + 1)}`;
}
