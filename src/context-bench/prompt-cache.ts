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

/** A part of a request, in the order in which providers cache them: tools, system prompt, messages. */
export interface RequestPart {
	/** Equal for parts that are sent alike. */
	id: number;
	/** Tokens of the model. */
	tokens: number;
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
 * begins again with each hit.
 */
export class PromptCache {
	readonly #root: Start = { keptUntil: NEVER, next: null };

	constructor(private readonly rules: CacheRules) {}

	/**
	 * Sends a request.
	 * @param breakpoints numbers of parts after which the request marks a place, ascending
	 * @param time ms since the epoch
	 * @param surpriseOf what the cache does that its rules do not say, given the tokens that it has by its rules
	 */
	send(
		parts: readonly RequestPart[],
		breakpoints: readonly number[],
		time: number,
		surpriseOf: (read: number) => CacheSurprise = () => ({}),
	): CacheUse {
		const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
		const { kind, lifetimeMs, minTokens } = this.rules;
		if (kind === "none") return { read: 0, written: 0, uncached: total };
		const starts = this.#walk(parts);
		const tokensAt = cumulated(parts);
		const marks = kind === "automatic" ? starts.map((_, at) => at).slice(1) : breakpoints;
		const expected = this.#find(starts, marks, tokensAt, time);
		const { atMost = Number.POSITIVE_INFINITY, keptLonger } = surpriseOf(tokensAt[expected] ?? 0);
		let hit = keptLonger ? this.#find(starts, marks, tokensAt, Number.MIN_SAFE_INTEGER) : expected;
		while (hit > 0 && (tokensAt[hit] ?? 0) > atMost) hit--;
		for (const mark of marks) {
			const start = starts[mark];
			if (start && (tokensAt[mark] ?? 0) >= minTokens) start.keptUntil = time + lifetimeMs;
		}
		const found = starts[hit];
		if (found && hit > 0) found.keptUntil = time + lifetimeMs;
		const end = tokensAt[marks.at(-1) ?? 0] ?? 0;
		const read = tokensAt[hit] ?? 0;
		const written = end >= minTokens ? end - read : 0;
		return { read, written, uncached: total - read - written };
	}

	/** The starts of a request: without parts, with the first one, and so on. */
	#walk(parts: readonly RequestPart[]): Start[] {
		let start = this.#root;
		const starts = [start];
		for (const { id } of parts) {
			start.next ??= new Map();
			const next = start.next.get(id) ?? { keptUntil: NEVER, next: null };
			start.next.set(id, next);
			starts.push(next);
			start = next;
		}
		return starts;
	}

	/** Number of parts of the longest start that the provider has. */
	#find(starts: readonly Start[], marks: readonly number[], tokensAt: readonly number[], time: number): number {
		for (const mark of marks.toReversed()) {
			const end = this.rules.kind === "automatic" ? mark : Math.max(1, mark - this.rules.lookback);
			for (let at = mark; at >= end; at--) {
				if ((tokensAt[at] ?? 0) >= this.rules.minTokens && (starts[at]?.keptUntil ?? NEVER) >= time) return at;
			}
		}
		return 0;
	}
}

function cumulated(parts: readonly RequestPart[]): number[] {
	const sums = [0];
	for (const { tokens } of parts) sums.push((sums.at(-1) ?? 0) + tokens);
	return sums;
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
