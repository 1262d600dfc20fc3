import { PiError } from "../errors.js";
import { formatShare } from "../util/format-amounts.js";
import type { BenchReport, StrategyResult } from "./bench.js";

/** A limit for every strategy: above or below it, `pi context bench` fails. */
export interface Limit {
	/** As written, such as `cost > +5%`. */
	text: string;
	figure: Figure;
	isAbove: boolean;
	value: number;
	/** The value is a change from `none`, in percent. */
	isRelative: boolean;
}

const FIGURES = ["sent", "cached", "resent", "breaks", "peak", "cost", "vs none", "evidence", "rereads"] as const;
type Figure = (typeof FIGURES)[number];

/** Figures in percent, which are no change from `none`. */
const SHARES: readonly Figure[] = ["cached", "evidence"];
/** Figures in tokens, which may be written with k or M. */
const TOKENS: readonly Figure[] = ["sent", "resent", "peak"];
const FACTORS: Readonly<Record<string, number>> = { k: 1000, M: 1_000_000 };

const LIMIT = /^\s*([a-z]+(?: +none)?)\s*(>|<)\s*([+-]?)(\d+(?:\.\d+)?)\s*([kM%]?)\s*$/;

/**
 * Reads `cost > +5%`, `evidence < 99%`, `breaks > 3`, `peak > 100k`. A sign and a percentage compare with `none`.
 * @throws PiError `bad_arguments`
 */
export function readLimit(text: string): Limit {
	const [, name = "", comparison, sign, number, unit = ""] = LIMIT.exec(text) ?? [];
	const figure = FIGURES.find((one) => one === name.replace(/ +/, " "));
	const fail = (reason: string) =>
		new PiError("bad_arguments", `--fail-if ${JSON.stringify(text)}: ${reason}`, {
			hint: `for example "cost > +5%", "evidence < 99%" or "peak > 100k"; the figures are ${FIGURES.join(", ")}`,
		});
	if (figure === undefined || number === undefined) throw fail("expected a figure and a limit");
	const isRelative = unit === "%" && !SHARES.includes(figure);
	if (sign !== "" && !isRelative) throw fail("only a change from none has a sign, such as +5%");
	if (figure === "vs none" && !isRelative) throw fail("vs none is a change in %");
	if (unit in FACTORS && !TOKENS.includes(figure)) throw fail(`only ${TOKENS.join(", ")} are tokens, with k or M`);
	const value = Number(number) * (FACTORS[unit] ?? 1) * (sign === "-" ? -1 : 1);
	return { text: text.trim(), figure, isAbove: comparison === ">", value, isRelative };
}

/** The strategies that exceed a limit over all sessions together, one line each. A figure that is unknown exceeds every limit. */
export function exceeded(report: BenchReport, limits: readonly Limit[]): string[] {
	const [base, ...others] = sumResults(report);
	return limits.flatMap((limit) =>
		others.flatMap((result) => {
			const found = base ? figureOf(result, base, limit) : null;
			if (found !== null && (limit.isAbove ? found <= limit.value : found >= limit.value)) return [];
			return [`${result.strategy}: ${limit.text} · ${found === null ? "unknown" : describe(found, limit)}`];
		}),
	);
}

function figureOf(result: StrategyResult, base: StrategyResult, { figure, isRelative }: Limit): number | null {
	const [value, none] = [readFigure(result, figure), readFigure(base, figure)];
	if (!isRelative) return value;
	if (value === null || none === null) return null;
	return none === 0 ? (value === 0 ? 0 : Number.POSITIVE_INFINITY) : 100 * (value / none - 1);
}

function readFigure({ totals, evidence }: StrategyResult, figure: Figure): number | null {
	if (figure === "evidence") return 100 * evidenceShare(evidence);
	if (figure === "cached") return totals.sent === 0 ? null : (100 * totals.cached) / totals.sent;
	if (figure === "vs none") return totals.cost;
	return figure === "rereads" ? evidence.rereads : totals[figure];
}

function describe(value: number, { figure, isRelative }: Limit): string {
	if (!Number.isFinite(value)) return "none has 0";
	if (SHARES.includes(figure)) return `${formatShare(value)} %`;
	const digits = Number.isInteger(value) ? String(value) : value.toFixed(figure === "cost" && !isRelative ? 4 : 1);
	return isRelative ? `${value > 0 ? "+" : ""}${digits} %` : digits;
}

/** The share of what the recorded model used that it still has in front of it; 1 if it used nothing. */
export function evidenceShare({ needed, kept }: Pick<StrategyResult["evidence"], "needed" | "kept">): number {
	return needed === 0 ? 1 : kept / needed;
}

/** The results of all sessions together, by strategy. Only strategies that were played in every session are comparable. */
export function sumResults({ sessions }: Pick<BenchReport, "sessions">): StrategyResult[] {
	const names = sessions[0]?.results.map(({ strategy }) => strategy) ?? [];
	return names.flatMap((name) => {
		const results = sessions.map(({ results: own }) => own.find(({ strategy }) => strategy === name));
		const all = results.filter((result) => result !== undefined);
		return all.length === results.length ? [all.reduce(add)] : [];
	});
}

function add(a: StrategyResult, b: StrategyResult): StrategyResult {
	const [one, two] = [a.totals, b.totals];
	const unplayed: Record<string, number> = { ...a.unplayed };
	for (const [what, count] of Object.entries(b.unplayed)) unplayed[what] = (unplayed[what] ?? 0) + count;
	return {
		strategy: a.strategy,
		requests: [...a.requests, ...b.requests],
		totals: {
			sent: one.sent + two.sent,
			cached: one.cached + two.cached,
			resent: one.resent + two.resent,
			breaks: one.breaks + two.breaks,
			peak: Math.max(one.peak, two.peak),
			cost: one.cost === null && two.cost === null ? null : (one.cost ?? 0) + (two.cost ?? 0),
			unpriced: one.unpriced + two.unpriced,
			standIns: one.standIns + two.standIns,
			asked: one.asked + two.asked,
		},
		evidence: {
			needed: a.evidence.needed + b.evidence.needed,
			kept: a.evidence.kept + b.evidence.kept,
			rereads: a.evidence.rereads + b.evidence.rereads,
			losses: [...a.evidence.losses, ...b.evidence.losses],
		},
		unplayed,
		problems: addProblems(a.problems, b.problems),
	};
}

function addProblems(a: StrategyResult["problems"], b: StrategyResult["problems"]): StrategyResult["problems"] {
	const all = new Map(a.map((problem) => [`${problem.hook} ${problem.reason}`, problem]));
	for (const problem of b) {
		const key = `${problem.hook} ${problem.reason}`;
		all.set(key, { ...problem, count: problem.count + (all.get(key)?.count ?? 0) });
	}
	return [...all.values()];
}
