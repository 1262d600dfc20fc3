import type { Api, Model } from "@mariozechner/pi-ai";
import type { RequestUsage } from "../log/request-usage.js";
import { isLocalServer } from "../models/local-addresses.js";
import { localDate } from "../util/clock.js";
import { roundCost } from "../util/format-amounts.js";
import type { SessionRequest, UsageSession } from "./usage-index.js";

/** What the rows of a report stand for. */
export const GROUPINGS = ["day", "model", "project", "session"] as const;
export type UsageGrouping = (typeof GROUPINGS)[number];

/** Sums over some requests. */
export interface UsageTotal {
	/** Sessions with at least one of the requests. */
	sessions: number;
	requests: number;
	/** Tokens. Those of the cache are not part of `input`. */
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	/** US dollars; null if the cost of no request is known. */
	cost: number | null;
	/** Requests whose cost is unknown; absent if `cost` is complete or null. */
	unpriced?: number;
}

/** `key`: a date in local time, `provider/model`, a directory or a session id. */
export interface UsageRow extends UsageTotal {
	key: string;
}

/** The usage of sessions, by key. Days are sorted latest first, other keys by cost and tokens, highest first. */
export interface UsageReport {
	rows: UsageRow[];
	total: UsageTotal;
}

/** A model without a price reports costs of 0, and so does a free one. */
export type FreeModels = (model: string) => boolean;

/** Whether a model was found on a local server, unless models.json defines it. */
export function isLocalModel(name: string): boolean {
	return isLocalServer(name.slice(0, name.indexOf("/")));
}

/**
 * The models that are known to be free.
 * @param models all known models; those of a local server may be missing, because it is not running
 */
export function findFreeModels(
	models: Iterable<{ model: Pick<Model<Api>, "provider" | "id" | "cost">; isPriced: boolean }>,
): FreeModels {
	const known = new Map<string, boolean>();
	for (const { model, isPriced } of models) {
		known.set(`${model.provider}/${model.id}`, isPriced && model.cost.input === 0 && model.cost.output === 0);
	}
	return (name) => known.get(name) ?? isLocalModel(name);
}

/** Sums up requests. @param isFree see `UsageSums.report` */
export function createUsageReport(
	requests: Iterable<SessionRequest>,
	by: UsageGrouping,
	isFree: FreeModels,
): UsageReport {
	return new UsageSums(requests, by).report(isFree);
}

/** Sums over requests, which are read once, before it is known which models are free. */
export class UsageSums {
	readonly #by: UsageGrouping;
	readonly #groups = new Map<string, Sum>();
	readonly #total = new Sum();

	constructor(requests: Iterable<SessionRequest>, by: UsageGrouping) {
		this.#by = by;
		const dayOf = createDayNames();
		const keyOf: Record<UsageGrouping, (request: SessionRequest) => string> = {
			day: ({ usage }) => dayOf(usage.at),
			model: ({ usage }) => usage.model,
			project: ({ session }) => session.cwd,
			session: ({ session }) => session.id,
		};
		for (const request of requests) {
			const { session, usage } = request;
			const key = keyOf[by](request);
			const group = this.#groups.get(key) ?? new Sum();
			this.#groups.set(key, group);
			group.add(session, usage);
			this.#total.add(session, usage);
		}
	}

	/** The models with requests that have a cost of 0, and tokens unless their number is unknown. */
	modelsWithoutCost(): string[] {
		return [...this.#total.withoutCost.keys()];
	}

	/** @param isFree decides on the requests of `modelsWithoutCost`: others have an unknown cost */
	report(isFree: FreeModels): UsageReport {
		const rows = [...this.#groups].map(([key, sum]): UsageRow => ({ key, ...sum.total(isFree) }));
		rows.sort((a, b) => (this.#by === "day" ? compare(b.key, a.key) : bySize(a, b) || compare(a.key, b.key)));
		return { rows, total: this.#total.total(isFree) };
	}
}

/** Start of a day in local time, `days` days ago; 0: today. ms since the epoch. */
export function startOfDay(now: number, days = 0): number {
	const date = new Date(now);
	return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days).getTime();
}

class Sum {
	/** Model → its requests with a cost of 0, and tokens unless their number is unknown. */
	readonly withoutCost = new Map<string, number>();
	readonly #sessions = new Set<string>();
	#latest: string | null = null;
	readonly #sum = { requests: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	#cost = 0;
	#priced = 0;
	#unpriced = 0;

	add({ id }: UsageSession, usage: RequestUsage): void {
		const { input, output, cacheRead, cacheWrite, cost, model, isUnreported } = usage;
		// The requests of a session mostly follow each other.
		if (id !== this.#latest) this.#sessions.add(id);
		this.#latest = id;
		const sum = this.#sum;
		sum.requests++;
		sum.input += input;
		sum.output += output;
		sum.cacheRead += cacheRead;
		sum.cacheWrite += cacheWrite;
		// A failed request without tokens costs nothing, whatever the price.
		if (tokensOf(usage) === 0 && !cost && !isUnreported) return;
		if (cost === null) this.#unpriced++;
		else if (cost === 0) this.withoutCost.set(model, (this.withoutCost.get(model) ?? 0) + 1);
		else {
			this.#priced++;
			this.#cost += cost;
		}
	}

	total(isFree: FreeModels): UsageTotal {
		let [priced, unpriced] = [this.#priced, this.#unpriced];
		for (const [model, requests] of this.withoutCost) {
			if (isFree(model)) priced += requests;
			else unpriced += requests;
		}
		const isUnknown = priced === 0 && unpriced > 0;
		return {
			sessions: this.#sessions.size,
			...this.#sum,
			cost: isUnknown ? null : roundCost(this.#cost),
			...(!isUnknown && unpriced > 0 && { unpriced }),
		};
	}
}

function bySize(a: UsageRow, b: UsageRow): number {
	return (b.cost ?? -1) - (a.cost ?? -1) || tokensOf(b) - tokensOf(a);
}

function tokensOf({
	input,
	output,
	cacheRead,
	cacheWrite,
}: Pick<UsageTotal, "input" | "output" | "cacheRead" | "cacheWrite">): number {
	return input + output + cacheRead + cacheWrite;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

/** Names days in local time; requests of one day mostly follow each other. */
function createDayNames(): (at: number) => string {
	let [start, end, name] = [0, 0, ""];
	return (at) => {
		if (at >= start && at < end) return name;
		start = startOfDay(at);
		end = startOfDay(at, -1);
		name = localDate(at);
		return name;
	};
}
