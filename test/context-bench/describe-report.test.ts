import { expect, test } from "vitest";
import type { BenchReport, StrategyResult } from "../../src/context-bench/bench.js";
import { benchPage } from "../../src/context-bench/bench-page.js";
import { describeReport } from "../../src/context-bench/describe-report.js";

function result(
	strategy: string,
	cost: number | null,
	kept: number,
	fields: Partial<StrategyResult> = {},
): StrategyResult {
	return {
		...{ strategy, unplayed: {}, problems: [] },
		requests: [
			{ reply: 2, sent: 600, cached: 0, resent: 0, cost: cost === null ? null : cost / 3 },
			{ reply: 4, sent: 1400, cached: 1300, resent: 20, cost: cost === null ? null : (2 * cost) / 3 },
		],
		totals: { sent: 2000, cached: 1300, resent: 20, breaks: 1, peak: 1400, cost, unpriced: 0, standIns: 0, asked: 0 },
		evidence: { needed: 1000, kept, rereads: 0, losses: [] },
		...fields,
	};
}

const LOSS = { reply: 4, tool: "edit", missing: ['if (a < "b") <script>'], needed: 3, entries: [1, 3] };
const REPORT: BenchReport = {
	...{ isPartial: true, model: null },
	sessions: [
		{
			...{ name: "outputs <b>", path: null, requests: 2, calibration: { predicted: 0.99, recorded: 1, requests: 2 } },
			results: [
				result("none", 1, 1000),
				result("pi:clear", 0.66, 999, {
					unplayed: { "blocked calls": 2 },
					evidence: { needed: 1000, kept: 999, rereads: 1, losses: [LOSS] },
				}),
				result("./big.ts", 1.002, 985, {
					problems: [{ hook: "big.ts", reason: 'unknown field "mesages"; its answer was dropped', count: 2 }],
					evidence: { needed: 1000, kept: 985, rereads: 0, losses: [LOSS] },
				}),
				result("./free.ts", null, 1000),
			],
		},
	],
};

test("a report is a table for each session, then how far it can be relied on, then the worst losses", () => {
	expect(describeReport(REPORT)).toEqual([
		"outputs <b>, 2 requests  sent  cached  resent  breaks  peak    cost  vs none  evidence",
		"none                       2k    65 %      20       1  1.4k  $1.000        –     100 %",
		"pi:clear                   2k    65 %      20       1  1.4k  $0.660    −34 %    99.9 %",
		"./big.ts                   2k    65 %      20       1  1.4k  $1.002   +0.2 %    98.5 %",
		"./free.ts                  2k    65 %      20       1  1.4k       –        –     100 %",
		"",
		"calibration: $0.990 predicted, $1.000 recorded (−1.0 %) for 2 of 2 requests",
		"not replayed: pi:clear: 2 blocked calls",
		'problem: ./big.ts: 2 times: unknown field "mesages"; its answer was dropped',
		"stopped: what had not been played is missing",
		"",
		"worst losses:",
		'pi:clear, ./big.ts  outputs <b>  entry 4, edit: misses 1 of 3 items · "if (a < \\"b\\") <script>" of entry 1, 3',
	]);
});

test("on 80 columns the title gets its own line and all columns stay", () => {
	expect(describeReport(REPORT, 80).slice(0, 5)).toEqual([
		"outputs <b>, 2 requests",
		"           sent  cached  resent  breaks  peak    cost  vs none  evidence",
		"none         2k    65 %      20       1  1.4k  $1.000        –     100 %",
		"pi:clear     2k    65 %      20       1  1.4k  $0.660    −34 %    99.9 %",
		"./big.ts     2k    65 %      20       1  1.4k  $1.002   +0.2 %    98.5 %",
	]);
});

test("on fewer columns the least important ones are dropped and named, and long names are cut", () => {
	const [session] = REPORT.sessions;
	const long = result("./strategies/with-a-long-name.ts+pi:clear+pi:dedupe", 0.5, 1000);
	const report = { ...REPORT, sessions: session ? [{ ...session, results: [...session.results, long] }] : [] };
	for (const columns of [80, 60, 40]) {
		const lines = describeReport(report, columns);
		const table = lines.slice(0, lines.indexOf(""));
		expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(columns);
		expect(table).toHaveLength(7);
		expect(table[1]).toMatch(/ cost +vs none +evidence$/);
	}
	expect(describeReport(report, 40)).toContain(
		"not shown, because the terminal is narrow: breaks, resent, peak, cached, sent",
	);
	expect(describeReport(report, 80)[6]).toMatch(/^\.\/st.*….*pi:dedupe +2k /);
});

test("the page has the table, a chart with a line for each strategy, and nothing that a browser would run or fetch", () => {
	const page = benchPage(REPORT);
	expect(page).toContain("<h2>outputs &lt;b&gt;, 2 requests</h2>");
	expect(page).toContain("<td>−34 %</td><td>99.9 %</td>");
	expect(page.match(/<polyline /g)).toHaveLength(8);
	expect(page).toContain("<code>if (a &lt; &quot;b&quot;) &lt;script&gt;</code>");
	expect(page).toContain("default-src 'none'");
	expect(page).not.toMatch(/<script|<b>|https?:\/\//);
});
