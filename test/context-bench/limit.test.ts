import { describe, expect, test } from "vitest";
import type { BenchReport, StrategyResult } from "../../src/context-bench/bench.js";
import { exceeded, readLimit } from "../../src/context-bench/limit.js";

function result(strategy: string, cost: number | null, kept: number, breaks: number): StrategyResult {
	return {
		...{ strategy, requests: [], unplayed: {}, problems: [] },
		totals: { sent: 1000, cached: 0, resent: 0, breaks, peak: 10, cost, unpriced: 0, standIns: 0, asked: 0 },
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

	test.each(["cost", "costs > 5%", "cost = 5%", "evidence > +5", "breaks > +2", "cost > five"])(
		"%s is refused",
		(text) => {
			expect(() => readLimit(text)).toThrow(`--fail-if ${JSON.stringify(text)}: expected a figure and a limit`);
		},
	);
});
