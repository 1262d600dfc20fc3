import type { PlayedTotals, ShadowFigures } from "../commands/shadow-figures.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { LoadedHook } from "../hooks/hook-registry.js";
import { plural } from "../util/format-amounts.js";
import { type BenchOptions, runBench, type StrategyResult } from "./bench.js";
import { listUnplayed } from "./describe-report.js";
import { evidenceShare } from "./limit.js";
import type { BenchSession } from "./play.js";

/** What a session is played with. */
export interface PlayShadowsOptions
	extends Omit<BenchOptions, "onProgress" | "onPlayed" | "onRequest" | "ask" | "model"> {
	/** Receives the share of the work that is done, 0 to 1. */
	onProgress(share: number): void;
}

/**
 * Plays a session under the hooks that are on and, once for each, a further one. No model is asked.
 * @param shadows copies that only this call uses
 * @param base copies of the hooks that are on
 * @returns the figures of each further hook by its path; null if it was stopped
 */
export async function playShadows(
	session: BenchSession,
	shadows: readonly LoadedHook[],
	base: readonly LoadedHook[],
	{ onProgress, ...options }: PlayShadowsOptions,
): Promise<ReadonlyMap<string, ShadowFigures> | null> {
	let started = 0;
	const runs = shadows.length + 1;
	const { sessions, isPartial } = await runBench(
		[session],
		shadows.map((hook) => ({ name: hook.path, hooks: [hook] })),
		base,
		{
			...options,
			onProgress: (done) => {
				started = done;
				onProgress(done / runs);
			},
			onPlayed: (share) => onProgress((started + share) / runs),
		},
	);
	if (isPartial) return null;
	const [none, ...results] = sessions[0]?.results ?? [];
	const others = new Set(base.map(({ path }) => hookFileName(path)));
	return new Map(
		shadows.flatMap((hook) => {
			const result = results.find(({ strategy }) => strategy === hook.path);
			if (!none || !result) return [];
			const { requests, evidence, problems } = result;
			const figures: ShadowFigures = {
				requests: requests.length,
				actual: totalsOf(none),
				shadow: totalsOf(result),
				evidence: evidenceShare(evidence),
				unplayed: [...listUnplayed(result), ...unknownCalls(hook)],
				problems: problems
					.filter((problem) => !others.has(problem.hook))
					.map(({ reason, count }) => (count > 1 ? `${plural(count, "time")}: ${reason}` : reason)),
			};
			return [[hook.path, figures] as const];
		}),
	);
}

function totalsOf({ totals: { sent, resent, cost } }: StrategyResult): PlayedTotals {
	return { sent, resent, cost };
}

/** The calls of its tools, which the model could not make. It may have registered them while it was played. */
function unknownCalls({ tools }: LoadedHook): string[] {
	return tools.size === 0 ? [] : [`calls of ${[...tools.keys()].join(", ")} that the model would have made`];
}
