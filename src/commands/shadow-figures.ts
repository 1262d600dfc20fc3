import { formatChange, formatCost, formatShare, formatTokens, plural } from "../util/format-amounts.js";

/** What a session sent under some hooks, as `pi context bench` predicts it. */
export interface PlayedTotals {
	/** Tokens of all requests. */
	sent: number;
	/** Tokens that were sent again although the provider had them. */
	resent: number;
	/** USD; null if no price is known. */
	cost: number | null;
}

/** What the session would have sent if a hook that is off had been on. */
export interface ShadowFigures {
	/** Number of requests; 0 if there is nothing to compare. */
	requests: number;
	/** With the hooks that are on. */
	actual: PlayedTotals;
	/** With these hooks and the one in the shadow. */
	shadow: PlayedTotals;
	/** The share of what the model used that it would still have had in front of it, 0 to 1. */
	evidence: number;
	/** What the log cannot tell, such as `3 blocked calls`. */
	unplayed: readonly string[];
	/** Failures and dropped answers of the hook, or why it did not load: the figures are those without them. */
	problems: readonly string[];
}

/** Figures of a hook that did not load. */
export function notPlayed(problem: string): ShadowFigures {
	const nothing = { sent: 0, resent: 0, cost: null };
	return { requests: 0, actual: nothing, shadow: nothing, evidence: 1, unplayed: [], problems: [problem] };
}

/** A few words for a row: `−68 % tok −34 % cost`. */
export function summarizeShadow({ requests, actual, shadow, problems }: ShadowFigures): string {
	if (requests === 0) return problems.length > 0 ? "failed" : "no requests yet";
	const cost = shadow.cost === null ? "" : ` ${formatChange(shadow.cost, actual.cost)} cost`;
	return `${problems.length > 0 ? "failed  " : ""}${formatChange(shadow.sent, actual.sent)} tok${cost}`;
}

/**
 * The figures as sentences, one line each: `would have sent 371k instead of 1.1M tokens (−68 %), $0.38 instead of $0.57 (−34 %),
 * 21k instead of 0 sent again · evidence 99.6 %`, then what could not be played, and problems.
 */
export function describeShadow({ requests, actual, shadow, evidence, unplayed, problems }: ShadowFigures): string[] {
	const failures = problems.map((problem) => `problem: ${problem}`);
	if (requests === 0) return failures.length > 0 ? failures : ["no requests yet, so there is nothing to compute"];
	const costs =
		shadow.cost === null || actual.cost === null
			? []
			: [
					`${formatCost(shadow.cost)} instead of ${formatCost(actual.cost)} (${formatChange(shadow.cost, actual.cost)})`,
				];
	const amounts = [
		`${formatTokens(shadow.sent)} instead of ${formatTokens(actual.sent)} tokens (${formatChange(shadow.sent, actual.sent)})`,
		...costs,
		`${formatTokens(shadow.resent)} instead of ${formatTokens(actual.resent)} sent again`,
	];
	const share = `evidence ${formatShare(100 * evidence)} %`;
	return [
		`would have sent ${amounts.join(", ")} · ${share} · ${plural(requests, "request")}`,
		...(unplayed.length > 0 ? [`not played: ${unplayed.join(", ")}`] : []),
		...failures,
	];
}
