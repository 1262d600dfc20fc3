/**
 * What `clear`, `dedupe` and `distill` share: when it pays to hide results of tools, and the entries that say which ones are hidden.
 *
 * Each change of the start of a request makes the provider process everything behind it again. So results are hidden in steps:
 * a step hides many results at once, and only if the tokens that the next requests save cost more than those that are sent again.
 * A step is decided once and saved as an entry. `context` handlers only apply these entries.
 */
import {
	type CustomEntry,
	type HookEventContext,
	isCompactionEntry,
	isMessageEntry,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";
import { callOf, handleOf, type ShownResult } from "./results.js";

/** Results with fewer tokens stay: the line that replaces a result has about 40. */
const MIN_RESULT_TOKENS = 200;
/** A step saves at least this many tokens per request: not every result is worth an entry. */
const MIN_STEP_TOKENS = 4000;
/** A session of N requests makes another N / 8 with a probability of 89 %, if nothing else is known (Lindy's law). */
const EXPECTED_SHARE = 1 / 8;
const MIN_EXPECTED_REQUESTS = 5;
/** Lifetime of the provider's cache, in seconds, and price of what it has not cached per price of what it has, if unknown. */
const [DEFAULT_LIFETIME, DEFAULT_PRICE_RATIO] = [300, 10];
/** Results to hide together. */
export interface Step {
	results: readonly ShownResult[];
	/** Tokens that each request has less. */
	saved: number;
	/** Tokens that the next request sends again because of this step; 0 if the provider has forgotten them anyway. */
	resent: number;
}

/** A step in the log; `results` are the indices of their entries. */
export interface StepEntry extends CustomEntry, Pick<Step, "saved" | "resent"> {
	results: readonly number[];
}

/**
 * The step that saves most with some of these results, in order; null if none pays.
 * @param now ms since the epoch
 */
export function chooseStep(
	results: readonly ShownResult[],
	ctx: Pick<HookEventContext, "entries" | "model">,
	now: number,
): Step | null {
	const large = results.filter(({ tokens }) => tokens >= MIN_RESULT_TOKENS);
	const extraPrice = isCold(ctx, now) ? 0 : priceRatio(ctx.model) - 1;
	return bestStep(large, expectedRequests(ctx.entries), extraPrice);
}

/**
 * Hiding a result sends everything behind it again. So the results after some position are hidden: that at which the savings of the
 * expected requests, minus the price of what is sent again, are largest.
 * @param extraPrice what a token that is sent again costs more than a cached one, in prices of a cached one
 */
export function bestStep(results: readonly ShownResult[], requests: number, extraPrice: number): Step | null {
	let best: Step | null = null;
	let bestGain = 0;
	let saved = 0;
	for (let start = results.length - 1; start >= 0; start--) {
		const { tokens, tail } = results[start] as ShownResult;
		saved += tokens;
		const resent = extraPrice > 0 ? tail - saved : 0;
		const gain = requests * saved - extraPrice * resent;
		if (saved < MIN_STEP_TOKENS || gain <= bestGain) continue;
		best = { results: results.slice(start), saved, resent };
		bestGain = gain;
	}
	return best;
}

/** A modest estimate of the requests that the session still makes. */
export function expectedRequests(entries: readonly SessionEntry[]): number {
	return Math.max(MIN_EXPECTED_REQUESTS, Math.floor(entries.filter(isReply).length * EXPECTED_SHARE));
}

/** True if the provider has forgotten the last request, so that a change of its start costs nothing. */
function isCold({ entries, model }: Pick<HookEventContext, "entries" | "model">, now: number): boolean {
	const last = entries.findLast((entry) => isCompactionEntry(entry) || isReply(entry));
	if (!isMessageEntry(last) || last.message.role !== "assistant") return true;
	const { provider, model: id, timestamp } = last.message;
	const lifetime = model?.promptCache?.short ?? DEFAULT_LIFETIME;
	return provider !== model?.provider || id !== model.id || now - timestamp > lifetime * 1000;
}

/** The price of a token that the provider has to process, divided by that of a cached one. */
export function priceRatio(model: HookEventContext["model"]): number {
	if (!model || model.cost.input === 0) return DEFAULT_PRICE_RATIO;
	const { input, cacheRead, cacheWrite } = model.cost;
	return cacheRead > 0 ? (cacheWrite || input) / cacheRead : 1;
}

/** Saves a step as an entry. Hooks that run later then have the context without its results. */
export async function saveStep(
	ctx: HookEventContext,
	type: string,
	{ results, saved, resent }: Step,
	fields: Readonly<Record<string, string>> = {},
): Promise<void> {
	await ctx.saveEntry({ ...fields, type, results: results.map(({ entryIndex }) => entryIndex), saved, resent });
	await ctx.rebuildContext();
}

/** The steps of a type that the log has. */
export function stepsOf(entries: readonly SessionEntry[], type: string): StepEntry[] {
	return entries.filter((entry): entry is StepEntry => entry.type === type && isStep(entry));
}

/** True if the entry has the fields of a step: the log is a file that anything could have written. */
export function isStep(entry: SessionEntry): entry is StepEntry {
	const { results, saved, resent } = entry as Partial<StepEntry>;
	return Array.isArray(results) && results.every(Number.isInteger) && Number.isFinite(saved) && Number.isFinite(resent);
}

/** The lines that replace the results of steps, by entry index. @param reason such as `cleared` */
export function linesOf(entries: readonly SessionEntry[], type: string, reason: string): Map<number, string> {
	const lines = new Map<number, string>();
	for (const index of stepsOf(entries, type).flatMap(({ results }) => results)) {
		const line = handleOf(entries, index, reason);
		if (line !== null) lines.set(index, line);
	}
	return lines;
}

/** One line for the user: what the steps of a type hid, and about what they saved until now. */
export function describeSteps(
	{ entries, model }: Pick<HookEventContext, "entries" | "model">,
	type: string,
	done: string,
): string {
	const steps = stepsOf(entries, type);
	const results = steps.flatMap((step) => step.results);
	if (results.length === 0) return `No tool results were ${done} yet`;
	const names = results.flatMap((index) => callOf(entries, index)?.name ?? []);
	const counts = [...new Set(names)].map((name) => `${names.filter((other) => other === name).length} ${name}`);
	const saved = steps.reduce((sum, step) => sum + step.saved, 0);
	const what = `${results.length} ${results.length === 1 ? "tool result was" : "tool results were"} ${done} (${counts.join(", ")})`;
	const dollars =
		model && model.cost.input > 0 ? dollarsSaved(entries, steps, model) - dollarsSpent(entries, type) : null;
	const price =
		dollars === null ? "" : ` · about $${Math.abs(dollars).toFixed(2)} ${dollars < 0 ? "more" : "less"} so far`;
	return `${what} in ${steps.length === 1 ? "1 step" : `${steps.length} steps`} · ${short(saved)} tokens less per request${price}`;
}

/** What the requests since each step cost less, minus what it sent again, in USD. A compaction ends the savings of earlier steps. */
function dollarsSaved(
	entries: readonly SessionEntry[],
	steps: readonly StepEntry[],
	model: NonNullable<HookEventContext["model"]>,
): number {
	const { input, cacheRead } = model.cost;
	const readPrice = cacheRead > 0 ? cacheRead : input;
	const tokens = steps.map((step) => {
		const start = entries.indexOf(step);
		const end = entries.findIndex((entry, index) => index > start && isCompactionEntry(entry));
		const requests = entries.slice(start, end < 0 ? undefined : end).filter(isReply).length;
		return requests * step.saved - (priceRatio(model) - 1) * step.resent;
	});
	return (tokens.reduce((sum, count) => sum + count, 0) * readPrice) / 1_000_000;
}

/** What the requests of the hook itself cost, in USD. */
function dollarsSpent(entries: readonly SessionEntry[], hook: string): number {
	return entries.reduce((sum, entry) => {
		if (entry.type !== "request_usage" || !("usage" in entry) || !("purpose" in entry)) return sum;
		const { cost } = entry.usage as { cost?: { total?: unknown } };
		return entry.purpose === `hook ${hook}` && typeof cost?.total === "number" ? sum + cost.total : sum;
	}, 0);
}

function isReply(entry: SessionEntry): boolean {
	return isMessageEntry(entry) && entry.message.role === "assistant";
}

/** 14210 → "14.2k". */
export function short(tokens: number): string {
	return tokens < 1000 ? String(Math.round(tokens)) : `${(tokens / 1000).toFixed(1)}k`;
}
