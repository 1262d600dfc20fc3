/** Seeded random choices (mulberry32). */
export class Random {
	#state: number;

	constructor(seed: number) {
		// Neighboring seeds must not begin with similar numbers.
		this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
	}

	/** From 0 inclusive to 1 exclusive. */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** An integer from 0 to `limit` exclusive. */
	below(limit: number): number {
		return Math.floor(this.next() * limit);
	}

	/** True with a probability. */
	chance(probability: number): boolean {
		return this.next() < probability;
	}

	/** @throws Error for an empty list */
	pick<T>(list: readonly T[]): T {
		const index = this.below(list.length);
		if (index >= list.length) throw new Error("Nothing to pick from");
		return list[index] as T;
	}

	/** Each element with a probability, in order. */
	some<T>(list: readonly T[], probability: number): T[] {
		return list.filter(() => this.chance(probability));
	}
}
