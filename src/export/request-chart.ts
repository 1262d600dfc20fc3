import type { LedgerRequest } from "./request-states.js";

/** Maximum points of the chart: more would not be visible. */
const MAX_POINTS = 400;

/** Draws the tokens of all requests as an area; empty for fewer than two requests. */
export function chartSvg(requests: readonly LedgerRequest[]): string {
	const sent = requests.slice(0, -1).map((request) => request.sent);
	const most = sent.reduce((max, tokens) => Math.max(max, tokens), 0);
	if (sent.length < 2 || most === 0) return "";
	const step = Math.ceil(sent.length / MAX_POINTS);
	const points: string[] = [];
	for (let at = 0; at < sent.length; at += step) {
		const peak = sent.slice(at, at + step).reduce((max, tokens) => Math.max(max, tokens), 0);
		points.push(`${at},${100 - Math.round((peak / most) * 100)}`);
	}
	// The slider has one more position than there are requests: the context after all entries.
	const last = points.at(-1)?.split(",")[1] ?? "100";
	return `<svg viewBox="0 0 ${sent.length} 100" preserveAspectRatio="none" aria-hidden="true"><path d="M0,100L${points.join("L")}L${sent.length},${last}L${sent.length},100Z"/></svg>`;
}
