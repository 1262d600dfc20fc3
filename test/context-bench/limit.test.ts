import { describe, expect, test } from "vitest";
import type { BenchReport, StrategyResult } from "../../src/context-bench/bench.js";
import { HEADINGS } from "../../src/context-bench/describe-report.js";
import { exceeded, readLimit } from "../../src/context-bench/limit.js";

function result(strategy: string, cost: number | null, kept: number, breaks: number): StrategyResult {
	return {
		...{ strategy, requests: [], unplayed: {}, problems: [] },
		totals: { sent: 1000, cached: 250, resent: 0, breaks, peak: 10, cost, unpriced: 0, standIns: 0, asked: 0 },
		evidence: { needed: 100, kept, rereads: 2, losses: [] },
	};
}

const REPORT: BenchReport = {
	...{ isPartial: false, model: null },
	sessions: [
		{
			name: "one",
			path: null,
			requests: 1,
			calibration: null,
			results: [result("none", 1, 100, 0), result("a", 1.1, 98, 3)],
		},
		{
			name: "two",
			path: null,
			requests: 1,
			calibration: null,
			results: [result("none", 1, 100, 0), result("a", 0.9, 100, 1)],
		},
	],
};

describe("a limit", () => {
	test.each([
		["cost > +5%", []],
		["cost > -1%", ["a: cost > -1% · 0 %"]],
		["cost > 1.5", ["a: cost > 1.5 · 2"]],
		["evidence < 99.5%", ["a: evidence < 99.5% · 99.0 %"]],
		["evidence < 99%", []],
		["breaks > 3", ["a: breaks > 3 · 4"]],
		["breaks > 10%", ["a: breaks > 10% · none has 0"]],
		["rereads > 3", ["a: rereads > 3 · 4"]],
		["peak > 0.01k", []],
		["peak > 0.009k", ["a: peak > 0.009k · 10"]],
		["sent > 0.001M", ["a: sent > 0.001M · 2000"]],
		["resent > 1k", []],
		["cached < 80%", ["a: cached < 80% · 25.0 %"]],
		["vs none > -1%", ["a: vs none > -1% · 0 %"]],
		["vs none > 5%", []],
	])("%s is exceeded by the strategies over all sessions", (text, expected) => {
		expect(exceeded(REPORT, [readLimit(text)])).toEqual(expected);
	});

	test("is exceeded by a figure that is unknown", () => {
		const [first] = REPORT.sessions;
		const unknown = {
			...REPORT,
			sessions: first ? [{ ...first, results: [result("none", 1, 1, 0), result("a", null, 1, 0)] }] : [],
		};
		expect(exceeded(unknown, [readLimit("cost > +5%")])).toEqual(["a: cost > +5% · unknown"]);
	});

	test.each([
		...["cost", "costs > 5%", "cost = 5%", "cost > five", "peak > 10G"].map((text) => [
			text,
			"expected a figure and a limit",
		]),
		...["evidence > +5", "breaks > +2"].map((text) => [text, "only a change from none has a sign, such as +5%"]),
		["vs none > 5", "vs none is a change in %"],
		["breaks > 1k", "only sent, resent, peak are tokens, with k or M"],
	])("%s is refused", (text, reason) => {
		expect(() => readLimit(text)).toThrow(`--fail-if ${JSON.stringify(text)}: ${reason}`);
	});

	test("exists for every column of the table", () => {
		const percent = ["cached", "evidence", "vs none"];
		for (const name of HEADINGS) expect(readLimit(`${name} > 5${percent.includes(name) ? "%" : ""}`).figure).toBe(name);
	});
});
