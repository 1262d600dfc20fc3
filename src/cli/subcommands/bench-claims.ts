import { formatShareOf } from "../../context-bench/describe-report.js";
import { evidenceShare } from "../../context-bench/limit.js";
import { describeError } from "../../errors.js";
import type { BenchClaim } from "../../packages/bench-claim.js";
import type { PackageChange } from "../../packages/package-manager.js";
import { isTrusted } from "../../trust/store.js";
import { formatChange, formatShare, formatTokens, plural } from "../../util/format-amounts.js";
import { tableLines } from "../standard-io.js";
import { listenForStop } from "./bench-progress.js";
import { findPackageStates } from "./list-packages.js";
import type { SubcommandContext } from "./location.js";

/** The figures of a strategy. */
interface Figures {
	sent: number;
	cached: number;
	resent: number;
	cost: number | null;
	none: number | null;
	/** In percent. */
	evidence: number;
}

/** What a package claims, next to what its strategies do in sessions of the user. */
export interface CheckedClaim {
	package: string;
	claim: BenchClaim;
	/** By `word` of the claim; null if nothing was recomputed. */
	recomputed: { sessions: number; requests: number; strategies: Readonly<Record<string, Figures>> } | null;
	/** Why nothing was recomputed. */
	reason: string | null;
	/** The command that recomputes it; null if the package does not bring the strategies. */
	command: string | null;
}

/** Sessions that are played, and the time that this may take. */
const SESSIONS = "last:5";
const MAX_MS = 10_000;

/** Compares the claims of packages with sessions of the user. Runs only code that the user has accepted. */
export async function checkClaims(
	changes: readonly PackageChange[],
	context: SubcommandContext,
): Promise<CheckedClaim[]> {
	const checked: CheckedClaim[] = [];
	for (const { name, bench } of changes) {
		if (bench === null || typeof bench === "string") continue;
		const words = bench.strategies.flatMap(({ word }) => word ?? []);
		const command = words.length === 0 ? null : `pi context bench --sessions ${SESSIONS} ${words.map(quote).join(" ")}`;
		const found = await recompute(name, words, context);
		const [recomputed, reason] = typeof found === "string" ? [null, found] : [found, null];
		checked.push({ package: name, claim: bench, recomputed, reason, command });
	}
	return checked;
}

/** @returns the figures, or why there are none */
async function recompute(name: string, words: readonly string[], context: SubcommandContext) {
	if (words.length === 0) return "it brings none of these hooks";
	const states = await findPackageStates(context.location);
	const set = states.find(({ configured }) => configured?.name === name)?.set;
	if (!set || !isTrusted(set)) return "its code is not trusted yet";
	if (!context.io.outIsTerminal) return "there is no terminal";
	const { benchSessions } = await import("./context-bench.js");
	const progress = listenForStop(context.io);
	const limit = AbortSignal.timeout(MAX_MS);
	try {
		const signal = AbortSignal.any([progress.signal, limit]);
		const report = await benchSessions(words, [SESSIONS], context, { signal, onProgress: progress.progress });
		if (report.isPartial) return limit.aborted ? `it takes longer than ${MAX_MS / 1000} s` : "it was stopped";
		const [base, ...others] = report.total;
		const none = base?.totals.cost ?? null;
		return {
			sessions: report.sessions.length,
			requests: base?.requests.length ?? 0,
			strategies: Object.fromEntries(
				others.map(({ strategy, totals: { sent, cached, resent, cost }, evidence }) => [
					strategy,
					{ sent, cached, resent, cost, none, evidence: 100 * evidenceShare(evidence) },
				]),
			),
		};
	} catch (error) {
		return describeError(error);
	} finally {
		progress.end();
	}
}

/** A word for a shell. */
function quote(word: string): string {
	return /^[\w:.+@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Changes of packages as JSON: `bench` with claim and recomputed figures, null without a claim; `benchProblem` for an invalid file. */
export function withClaims(changes: readonly PackageChange[], checked: readonly CheckedClaim[]): object[] {
	return changes.map(({ bench, ...change }) => {
		const { package: _, ...found } = checked.find((one) => one.package === change.name) ?? { package: "" };
		return {
			...change,
			bench: Object.keys(found).length > 0 ? found : null,
			...(typeof bench === "string" && { benchProblem: bench }),
		};
	});
}

/** The claims as lines of text, after the lines about the packages. */
export function describeClaims(changes: readonly PackageChange[], checked: readonly CheckedClaim[]): string[] {
	const ignored = changes.flatMap(({ name, bench }) => (typeof bench === "string" ? [`${name}: ${bench}`] : []));
	return [...ignored, ...checked.flatMap(describeClaim)];
}

function describeClaim({ package: name, claim, recomputed, reason, command }: CheckedClaim): string[] {
	const { sessions, requests, model, date, strategies } = claim;
	const source = [`${plural(sessions, "session")} with ${plural(requests, "request")}`, model, date].filter(Boolean);
	const rows = strategies.flatMap(({ strategy, word, ...figures }) => {
		const own = word === null ? undefined : recomputed?.strategies[word];
		return [[strategy, "claim", ...cells(figures)], ...(own ? [["", "yours", ...cells(own)]] : [])];
	});
	const where = recomputed
		? `${plural(recomputed.sessions, "session")} with ${plural(recomputed.requests, "request")}`
		: "";
	return [
		`${name} claims, unchecked, for ${source.join(", ")}:`,
		...tableLines([["strategy", "", "sent", "cached", "resent", "cost", "vs none", "evidence"], ...rows]),
		recomputed ? `yours: recomputed for ${where}` : `not recomputed: ${reason}`,
		...(command === null ? [] : [`${recomputed ? "in full" : "to recompute it"}: ${command}`]),
	];
}

function cells({ sent, cached, resent, cost, none, evidence }: Figures): string[] {
	return [
		formatTokens(sent),
		formatShareOf(cached, sent),
		formatTokens(resent),
		cost === null ? "–" : `$${cost.toFixed(3)}`,
		formatChange(cost, none),
		`${formatShare(evidence)} %`,
	];
}
