import { escapeHtml } from "../export/html-text.js";
import { formatTokens, plural } from "../util/format-amounts.js";
import type { BenchReport, SessionResult, StrategyResult } from "./bench.js";
import { describeNotes, HEADINGS, rowsOf, worstLosses } from "./describe-report.js";
import { sumResults } from "./limit.js";

/** Colors of strategies in order, readable on light and dark. The first is `none`. */
const COLORS = ["#8a8f98", "#2f81f7", "#d9730d", "#2da44e", "#bf3989", "#9a6700", "#1b7c83", "#8250df"];
const [WIDTH, HEIGHT, MARGIN] = [640, 200, 44];

/** A report as one HTML page without scripts, which needs no network and reads on a phone. */
export function benchPage(report: BenchReport): string {
	const { sessions } = report;
	const blocks = sessions.map(sessionHtml);
	if (sessions.length > 1) blocks.unshift(sectionHtml(`All ${sessions.length} sessions`, sumResults(report), ""));
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>pi context bench</title>
<style>${STYLE}</style>
</head>
<body>
<h1>pi context bench</h1>
${describeNotes(report)
	.map((line) => `<p class="note">${escapeHtml(line)}</p>`)
	.join("\n")}
${blocks.join("\n")}
${lossesHtml(sessions)}
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; overflow-wrap: anywhere; }
.note { margin: .2rem 0; opacity: .75; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; margin-top: .5rem; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
.line { fill: none; stroke-width: 1.8; } .axis { stroke: #8886; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem; vertical-align: -1px; }
li { overflow-wrap: anywhere; margin-bottom: .3rem; } code { font-size: .9em; }
`;

function sessionHtml({ name, requests, results }: SessionResult): string {
	const costs = results.map(({ requests: all }) => cumulated(all.map(({ cost }) => cost ?? 0)));
	const charts = [
		chartHtml(
			"Tokens of each request",
			results.map((result) => result.requests.map(({ sent }) => sent)),
			formatTokens,
		),
		...(results.some(({ totals }) => totals.cost !== null)
			? [chartHtml("Cost so far", costs, (cost) => `$${cost.toFixed(2)}`)]
			: []),
	];
	return sectionHtml(`${name}, ${plural(requests, "request")}`, results, charts.join("\n"));
}

function sectionHtml(title: string, results: readonly StrategyResult[], charts: string): string {
	const head = ["strategy", ...HEADINGS].map((cell) => `<th>${escapeHtml(cell)}</th>`).join("");
	const rows = rowsOf(results).map(([name = "", ...cells], at) => {
		const key = `<span class="key" style="background:${colorOf(at)}"></span>`;
		return `<tr><td>${key}${escapeHtml(name)}</td>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("")}</tr>`;
	});
	return `<h2>${escapeHtml(title)}</h2>
<div class="wide"><table><tr>${head}</tr>
${rows.join("\n")}
</table></div>
${charts}`;
}

/** A line for each strategy, over the requests of a session. */
function chartHtml(title: string, series: readonly (readonly number[])[], format: (value: number) => string): string {
	const top = Math.max(1e-9, ...series.flat());
	const count = Math.max(2, ...series.map(({ length }) => length));
	const x = (at: number) => MARGIN + ((WIDTH - MARGIN - 8) * at) / (count - 1);
	const y = (value: number) => 16 + (HEIGHT - 36) * (1 - value / top);
	const lines = series.map((values, at) => {
		const points = values.map((value, request) => `${x(request).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
		return `<polyline class="line" stroke="${colorOf(at)}" points="${points}"/>`;
	});
	const base = HEIGHT - 20;
	return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">
<text x="${MARGIN}" y="11">${escapeHtml(title)}</text>
<line class="axis" x1="${MARGIN}" y1="${base}" x2="${WIDTH - 8}" y2="${base}"/>
<text x="${MARGIN - 4}" y="20" text-anchor="end">${escapeHtml(format(top))}</text>
<text x="${MARGIN - 4}" y="${base}" text-anchor="end">0</text>
<text x="${WIDTH - 8}" y="${HEIGHT - 6}" text-anchor="end">${plural(count, "request")}</text>
${lines.toReversed().join("\n")}
</svg>`;
}

function lossesHtml(sessions: readonly SessionResult[]): string {
	const losses = worstLosses(sessions);
	if (losses.length === 0) return "";
	const items = losses.map(({ session, strategies, loss: { reply, tool, missing, needed, entries } }) => {
		const where = entries.length > 0 ? `, from entry ${entries.slice(-3).join(", ")}` : "";
		return `<li>${escapeHtml(strategies.join(", "))} · ${escapeHtml(session)} · entry ${reply}, ${escapeHtml(tool)}: misses ${missing.length} of ${plural(needed, "item")}<br><code>${escapeHtml(missing[0] ?? "")}</code>${where}</li>`;
	});
	return `<h2>Worst losses</h2>\n<ol>\n${items.join("\n")}\n</ol>`;
}

function cumulated(values: readonly number[]): number[] {
	let sum = 0;
	return values.map((value) => {
		sum += value;
		return sum;
	});
}

function colorOf(position: number): string {
	return COLORS[position % COLORS.length] ?? "currentColor";
}
