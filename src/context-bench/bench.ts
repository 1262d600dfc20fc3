import { createHash } from "node:crypto";
import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import type { BuiltContext } from "../context/context-message.js";
import { RunningDigest } from "../context/digest.js";
import { isMessageEntry, type SessionEntry } from "../log/entry.js";
import { sum } from "../util/sum.js";
import { type Evidence, EvidenceIndex, EvidenceMeter, type Needs } from "./evidence.js";
import {
	type MeteredInput,
	type MeteredModel,
	type MeteredRequest,
	RequestMeter,
	type StrategyProblem,
	surprises,
} from "./meter.js";
import { type BenchSession, type PlayOptions, playStrategy, type Strategy } from "./play.js";
import type { AskedRequests } from "./remembered-answers.js";
import { SessionScale } from "./session-scale.js";

export interface BenchOptions extends PlayOptions {
	/** The model with whose prices and window all requests are computed. Default: the recorded ones. */
	model?: Model<Api>;
	/** Called before each session and strategy. */
	onProgress?(done: number, total: number, session: string, strategy: string): void;
	/** Receives every request of every strategy, in order. */
	onRequest?(strategy: string, request: MeteredInput): void;
}

/** One strategy in one session. */
export interface StrategyResult {
	strategy: string;
	requests: readonly MeteredRequest[];
	totals: StrategyTotals;
	evidence: Evidence;
	/** What the recording cannot tell, with the number of times. */
	unplayed: Readonly<Record<string, number>>;
	/** Failures and dropped answers of its hooks: the figures are those without them. */
	problems: readonly StrategyProblem[];
}

/** Sums over the requests of a strategy. Tokens are predicted. */
export interface StrategyTotals {
	sent: number;
	cached: number;
	resent: number;
	/** Requests that sent again what the provider had. */
	breaks: number;
	/** Tokens of the largest request. */
	peak: number;
	/** USD, with the requests that hooks sent; null if no price is known. */
	cost: number | null;
	/** Requests whose price is unknown. */
	unpriced: number;
	/** Requests for hooks and compactions to models: their replies are pi's own summaries. */
	standIns: number;
	/** Such requests that the models answered. */
	asked: number;
}

/** A session with all strategies; the first result is `none`. */
export interface SessionResult {
	/** The start of its id and its name or first prompt. */
	name: string;
	path: string | null;
	/** Number of requests. */
	requests: number;
	results: readonly StrategyResult[];
	/** Predicted against recorded cost of the requests whose cost is recorded, USD; null if none is. */
	calibration: { predicted: number; recorded: number; requests: number } | null;
}

export interface BenchReport {
	/** `provider/id` whose prices were used instead of the recorded ones; null for those. */
	model: string | null;
	sessions: readonly SessionResult[];
	/** True if it was stopped before all strategies were played. */
	isPartial: boolean;
	/** Requests of sessions that are branches of another one, which count once; absent without any. */
	shared?: { sessions: number; requests: number };
	/** What models were asked for all of it; absent if none were to be. */
	asked?: AskedRequests;
}

const NONE = "none";

/**
 * Plays every session under every strategy.
 * @param base the hooks that every session has: `none` is these alone
 */
export async function runBench(
	sessions: readonly BenchSession[],
	strategies: readonly Strategy[],
	base: readonly Strategy["hooks"][number][],
	options: BenchOptions,
): Promise<BenchReport> {
	const played = [{ name: NONE, hooks: [] }, ...strategies.filter(({ name }) => name !== NONE)];
	const asked = options.ask && { asked: options.ask.asked };
	const model = options.model ? `${options.model.provider}/${options.model.id}` : null;
	const results: SessionResult[] = [];
	const copies = new SharedRequests();
	let skipped = 0;
	const report = (isPartial: boolean): BenchReport => ({
		...{ model, sessions: results, isPartial, ...asked },
		...(skipped > 0 && { shared: { sessions: copies.sessions, requests: skipped } }),
	});
	const total = sessions.length * played.length;
	let done = 0;
	for (const session of sessions) {
		// A single one shares nothing, and a large one takes long to compare.
		const shared = sessions.length > 1 ? copies.add(session.entries) : new Set<number>();
		const bench = new SessionBench(session, options, shared);
		for (const { name, hooks } of played) {
			options.onProgress?.(done++, total, session.name, name);
			await bench.play({ name, hooks: [...base, ...hooks] });
			if (options.signal.aborted) break;
			await new Promise((resolve) => setImmediate(resolve));
		}
		if (options.signal.aborted) {
			if (bench.results.length > 1 && !bench.isCopy) results.push(bench.report());
			return report(true);
		}
		skipped += bench.skipped;
		if (!bench.isCopy) results.push(bench.report());
	}
	return report(false);
}

/** One session, first without a strategy, then with each of them. */
class SessionBench {
	readonly results: StrategyResult[] = [];
	/** Requests that count in another session. */
	skipped = 0;
	readonly #scale = new SessionScale();
	readonly #needs: Needs = new Map();
	readonly #digests = new RunningDigest();
	/** Replies to requests that hooks of the session had changed: what they cost says nothing of `none`. */
	readonly #changed = new Set<number>();
	readonly #index: EvidenceIndex;
	readonly #caching: ReadonlySet<string>;
	/** What the caches of the recording did and no entry tells. */
	readonly #surprises = surprises();
	readonly #models = new Map<string, MeteredModel | null>();

	constructor(
		private readonly session: BenchSession,
		private readonly options: BenchOptions,
		/** Replies to requests that count in another session. */
		private readonly shared: ReadonlySet<number>,
	) {
		this.#index = new EvidenceIndex(session.entries);
		this.#caching = cachingModels(session);
	}

	async play(strategy: Strategy): Promise<void> {
		const { session, options } = this;
		const isBase = strategy.name === NONE;
		const evidence = new EvidenceMeter(this.#index, this.#needs, isBase);
		const meter = new RequestMeter({
			...{ scale: this.#scale, retention: options.retention },
			onRequest: (request) => {
				const { reply, context } = request;
				options.onRequest?.(strategy.name, request);
				if (isBase) this.#noteBase(reply, context);
				if (!this.shared.has(reply)) evidence.note(reply, context);
			},
			isCounted: (reply) => !this.shared.has(reply),
			findModel: (provider, id) => this.#model(provider, id),
			surpriseAt: isBase ? this.#surprises.note : this.#surprises.of,
			caches: (message) => this.#caching.has(nameOf(message)) || options.model !== undefined,
		});
		await playStrategy(session, strategy, options, meter);
		if (options.signal.aborted) return;
		const { requests, sideRequests } = meter;
		if (isBase) this.skipped = meter.skipped;
		const costs = requests.map(({ cost }) => cost);
		this.results.push({
			strategy: strategy.name,
			requests,
			totals: {
				sent: sum(requests.map(({ sent }) => sent)),
				cached: sum(requests.map(({ cached }) => cached)),
				resent: sum(requests.map(({ resent }) => resent)),
				breaks: requests.filter(({ resent }) => resent > 0).length,
				peak: requests.reduce((peak, { sent }) => Math.max(peak, sent), 0),
				cost: costs.every((cost) => cost === null) ? null : sum(costs.map((cost) => cost ?? 0)) + sideRequests.cost,
				unpriced: costs.filter((cost) => cost === null).length,
				standIns: sideRequests.standIns,
				asked: sideRequests.asked,
			},
			evidence: evidence.evidence,
			unplayed: Object.fromEntries(meter.unplayed),
			problems: [...meter.problems.values()],
		});
	}

	#noteBase(reply: number, { messages, preamble }: BuiltContext): void {
		const entry = this.session.entries[reply];
		this.#scale.note(entry, reply, messages, preamble);
		const digest = isMessageEntry(entry) ? entry.context?.digest : undefined;
		if (digest !== undefined && this.#digests.update(messages) !== digest) this.#changed.add(reply);
	}

	/** Whether all requests count in another session. */
	get isCopy(): boolean {
		return this.skipped > 0 && this.results[0]?.requests.length === 0;
	}

	report(): SessionResult {
		const { name, path } = this.session;
		const { results } = this;
		return { name, path, requests: results[0]?.requests.length ?? 0, results, calibration: this.#calibration() };
	}

	#calibration(): SessionResult["calibration"] {
		if (this.options.model) return null;
		let [predicted, recorded, requests] = [0, 0, 0];
		for (const { reply, cost } of this.results[0]?.requests ?? []) {
			const entry = this.session.entries[reply];
			if (!isMessageEntry(entry) || entry.message.role !== "assistant" || cost === null) continue;
			if (this.#changed.has(reply)) continue;
			const { total } = entry.message.usage.cost;
			if (total <= 0) continue;
			predicted += cost;
			recorded += total;
			requests++;
		}
		return requests === 0 ? null : { predicted, recorded, requests };
	}

	#model(provider: string, id: string): MeteredModel | null {
		const { model, findModel } = this.options;
		if (model) return model;
		const key = `${provider}/${id}`;
		const known = this.#models.get(key);
		if (known !== undefined) return known;
		const found = findModel(provider, id) ?? recordedPrices(this.session, key);
		this.#models.set(key, found);
		return found;
	}
}

/** The models of which at least one reply says that something was cached, or that counted nothing at all. */
function cachingModels({ entries }: BenchSession): ReadonlySet<string> {
	const counts = new Map<string, { replies: number; cached: number }>();
	for (const entry of entries) {
		if (!isMessageEntry(entry) || entry.message.role !== "assistant") continue;
		const { usage } = entry.message;
		const key = nameOf(entry.message);
		const count = counts.get(key) ?? { replies: 0, cached: 0 };
		counts.set(key, {
			replies: count.replies + (usage.input > 0 ? 1 : 0),
			cached: count.cached + usage.cacheRead + usage.cacheWrite,
		});
	}
	return new Set([...counts].flatMap(([key, { replies, cached }]) => (cached > 0 || replies === 0 ? [key] : [])));
}

/** What a model cost in a session, for one that no list has; null if the session does not say. */
function recordedPrices({ entries }: BenchSession, key: string): MeteredModel | null {
	const rate = (cost: number, tokens: number) => (tokens > 0 ? (1_000_000 * cost) / tokens : 0);
	const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	const paid = { ...total };
	let api: string | null = null;
	for (const entry of entries) {
		if (!isMessageEntry(entry) || entry.message.role !== "assistant" || nameOf(entry.message) !== key) continue;
		const { usage } = entry.message;
		api = entry.message.api;
		for (const kind of ["input", "output", "cacheRead", "cacheWrite"] as const) {
			total[kind] += usage[kind];
			paid[kind] += usage.cost[kind];
		}
	}
	if (api === null || sum(Object.values(paid)) === 0) return null;
	return {
		api,
		cost: {
			input: rate(paid.input, total.input),
			output: rate(paid.output, total.output),
			cacheRead: rate(paid.cacheRead, total.cacheRead),
			cacheWrite: rate(paid.cacheWrite, total.cacheWrite),
		},
	};
}

function nameOf({ provider, model }: AssistantMessage): string {
	return `${provider}/${model}`;
}

/** Finds requests that a session has from another one: a branch begins with copies of its entries. */
export class SharedRequests {
	/** The first session of each beginning up to a reply, by digest. */
	readonly #owners = new Map<string, number>();
	readonly #sharing = new Set<number>();
	#session = 0;

	/** Number of sessions so far that have a request of another one, or whose requests another one has. */
	get sessions(): number {
		return this.#sharing.size;
	}

	/** Adds a session. @returns the indices of the replies that an earlier one has after the same messages */
	add(entries: readonly SessionEntry[]): ReadonlySet<number> {
		const session = this.#session++;
		const shared = new Set<number>();
		let start = "";
		for (const [index, entry] of entries.entries()) {
			if (!isMessageEntry(entry)) continue;
			start = createHash("sha256").update(start).update(JSON.stringify(entry.message)).digest("base64");
			if (entry.message.role !== "assistant") continue;
			const owner = this.#owners.get(start);
			if (owner === undefined) this.#owners.set(start, session);
			else {
				shared.add(index);
				this.#sharing.add(owner).add(session);
			}
		}
		return shared;
	}
}
