import { type ContextInspection, requestSize } from "../../../commands/inspection.js";
import type { Theme } from "../../../tui/theme.js";
import { formatTokens, hookName, plural } from "../../format.js";
import { cleanLine } from "../lines.js";

/** How a request is looked at. */
export interface RequestAspect {
	/** Paths of hooks that are left out. */
	without: ReadonlySet<string>;
	asDiff: boolean;
}

/** Which request it is, in few words and in more. */
export function requestTitle(
	inspection: ContextInspection,
	{ without, asDiff }: RequestAspect,
	theme: Theme,
): { short: string; full: string } {
	const { short, full, rest } = requestName(inspection);
	if (without.size > 0) {
		const names = cleanLine([...without].map(hookName).join(", "));
		const past = inspection.at === null ? "" : ` · ${short}`;
		return {
			short: ` ${theme.warning(`Without ${names}${past}`)}`,
			full: ` ${theme.warning(`What if without ${names}${past}`)}`,
		};
	}
	if (asDiff) {
		const past = inspection.at === null ? "" : `: ${short}`;
		return { short: ` ${theme.bold(`Changes${past}`)}`, full: ` ${theme.bold(`Changes since the ${rest}${past}`)}` };
	}
	return { short: ` ${theme.bold(short)}`, full: ` ${theme.bold(full)}` };
}

function requestName({ at, requests }: ContextInspection): { short: string; full: string; rest: string } {
	if (at === null) return { short: "Next request", full: "Context of the next request", rest: "last request" };
	const place = requests.indexOf(at);
	const rest = "request before";
	if (place < 0) return { short: `Entry ${at}`, full: `Context at entry ${at}`, rest };
	const short = `Request ${place + 1} of ${requests.length}`;
	return { short, full: `${short}, up to entry ${at}`, rest };
}

/** Size and share of a request; the first facts matter most. @param change tokens that leaving hooks out adds */
export function requestFacts(inspection: ContextInspection, change: number): string[] {
	const { ledger, contextWindow, hooks, entries } = inspection;
	const { messages, hidden } = ledger;
	const shown = messages.filter(({ entryIndex }) => entryIndex !== null).length;
	const { tokens, cached } = requestSize(inspection);
	// All of it is said only of all of it.
	const share = `${tokens > 0 ? Math.floor((100 * cached) / tokens) : 0} % cached`;
	return [
		`${formatTokens(tokens)}${contextWindow > 0 ? ` of ${formatTokens(contextWindow)}` : ""}`,
		...(change === 0 ? [] : [`${change > 0 ? "+" : "−"}${formatTokens(Math.abs(change))}`]),
		share,
		plural(hooks.length, "hook"),
		entries.length > 1 ? `${shown} of ${shown + hidden.length} entries` : "no entries",
	];
}

/** What is not as it should be, a sentence each. Texts are as they came. */
export function requestWarnings({ loss, unstable, ledger }: ContextInspection): string[] {
	const lines: string[] = [];
	if (loss) {
		const { by } = loss;
		const who = by.kind === "hook" ? hookName(by.hook) : by.kind === "compaction" ? "compaction" : "a change";
		lines.push(`${who} changed the start: ${formatTokens(loss.tokens)} tokens are no longer cached`);
	}
	for (const hook of unstable) lines.push(`${hookName(hook)} is unstable: other messages for the same entries`);
	for (const { hook, rule, position } of ledger.problems) {
		lines.push(`${hook === null ? "the log" : hookName(hook)}: ${rule.replaceAll("_", " ")} at ${position}`);
	}
	return lines;
}
