import { digestContext } from "../context/digest.js";
import type { AppMessage } from "../log/entry.js";

/** How a provider caches the start of requests. */
export interface CacheRules {
	/**
	 * `breakpoints`: it keeps what ends at the places that a request marks, and looks for it at and shortly before these;
	 * `automatic`: it keeps every start; `none`.
	 */
	kind: "breakpoints" | "automatic" | "none";
	/** ms for which it keeps what no request begins with again. */
	lifetimeMs: number;
	/** Tokens below which it keeps nothing. */
	minTokens: number;
	/** Parts before a breakpoint at which it looks for what it has. */
	lookback: number;
}

/** A request as a cache sees it: its parts in the order in which providers cache them. */
export interface CacheRequest {
	/** A number for each part: equal for parts that are sent alike. */
	ids: readonly number[];
	/** Tokens before each part, and of all: one more than there are parts. */
	sums: readonly number[];
	/** What a token of `sums` counts: tokens of the model for each estimated one. */
	ratio: number;
	/** Numbers of parts after which the request marks a place, ascending. */
	breakpoints: readonly number[];
	/** ms since the epoch. */
	time: number;
}

/** The tokens of a request by what they cost. */
export interface CacheUse {
	/** That the provider had. */
	read: number;
	/** That it did not have, and keeps from now on. */
	written: number;
	/** That it did not have, and does not keep. */
	uncached: number;
}

/** What a provider had at a request for reasons that no entry tells, as the usage of the recorded reply shows. */
export interface CacheSurprise {
	/** It had at most this many tokens of the start, such as after a restart that changed the system prompt. */
	atMost?: number;
	/** It had kept the start for longer than its lifetime. */
	keptLonger?: true;
}

/** A start of requests: the parts from the first one to this. */
interface Start {
	/** ms since the epoch until which the provider keeps it; `NEVER`: it never had it. */
	keptUntil: number;
	next: Map<number, Start> | null;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A model of the cache of a provider: whole parts, the longest start that an earlier request left, within its lifetime, which
 * begins again with each hit. The time for a request depends on what is new in it.
 */
export class PromptCache {
	readonly #root: Start = { keptUntil: NEVER, next: null };
	/** The starts of the last request and the parts that they end with. */
	readonly #path: Start[] = [this.#root];
	#ids: readonly number[] = [];

	constructor(private readonly rules: CacheRules) {}

	/**
	 * Sends a request.
	 * @param surpriseOf what the cache does that its rules do not say, given the tokens that it has by its rules
	 */
	send(request: CacheRequest, surpriseOf: (read: number) => CacheSurprise = () => ({})): CacheUse {
		const { kind, lifetimeMs } = this.rules;
		const { ids, ratio, time } = request;
		const tokensAt = (part: number) => (request.sums[part] ?? 0) * ratio;
		const total = tokensAt(ids.length);
		if (kind === "none") return { read: 0, written: 0, uncached: total };
		this.#walk(ids);
		const isLarge = (part: number) => tokensAt(part) >= this.rules.minTokens;
		const expected = this.#find(request, isLarge, time);
		const { atMost = Number.POSITIVE_INFINITY, keptLonger } = surpriseOf(tokensAt(expected));
		let hit = keptLonger ? this.#find(request, isLarge, Number.MIN_SAFE_INTEGER) : expected;
		while (hit > 0 && tokensAt(hit) > atMost) hit--;
		const keep = (part: number) => {
			const start = this.#path[part];
			if (start && part > 0 && isLarge(part)) start.keptUntil = time + lifetimeMs;
		};
		if (kind === "automatic") for (let part = ids.length; part > 0 && isLarge(part); part--) keep(part);
		else for (const mark of request.breakpoints) keep(mark);
		keep(hit);
		const last = kind === "automatic" ? ids.length : (request.breakpoints.at(-1) ?? 0);
		const read = tokensAt(hit);
		const written = isLarge(last) ? tokensAt(last) - read : 0;
		return { read, written, uncached: total - read - written };
	}

	/** Makes the path that of a request: without parts, with the first one, and so on. */
	#walk(ids: readonly number[]): void {
		let shared = 0;
		while (shared < ids.length && ids[shared] === this.#ids[shared]) shared++;
		this.#path.length = shared + 1;
		let start = this.#path[shared] ?? this.#root;
		for (let part = shared; part < ids.length; part++) {
			const id = ids[part] ?? 0;
			start.next ??= new Map();
			const next = start.next.get(id) ?? { keptUntil: NEVER, next: null };
			start.next.set(id, next);
			this.#path.push(next);
			start = next;
		}
		this.#ids = ids.slice();
	}

	/** Number of parts of the longest start that the provider has. */
	#find({ ids, breakpoints }: CacheRequest, isLarge: (part: number) => boolean, time: number): number {
		const isKept = (part: number) => isLarge(part) && (this.#path[part]?.keptUntil ?? NEVER) >= time;
		if (this.rules.kind === "automatic") {
			for (let part = ids.length; part > 0; part--) if (isKept(part)) return part;
			return 0;
		}
		for (const mark of breakpoints.toReversed()) {
			const end = Math.max(1, mark - this.rules.lookback);
			for (let part = mark; part >= end; part--) if (isKept(part)) return part;
		}
		return 0;
	}
}

/** Numbers for parts: equal ones for parts that are sent alike. */
export class PartIds {
	readonly #byText = new Map<string, number>();
	readonly #byMessage = new WeakMap<AppMessage, number>();

	ofText(text: string): number {
		const known = this.#byText.get(text);
		if (known !== undefined) return known;
		const id = this.#byText.size;
		this.#byText.set(text, id);
		return id;
	}

	/** @param message frozen */
	ofMessage(message: AppMessage): number {
		const known = this.#byMessage.get(message);
		if (known !== undefined) return known;
		const id = this.ofText(`message ${digestContext([message])}`);
		this.#byMessage.set(message, id);
		return id;
	}
}
