import type { Timing } from "../../src/util/clock.js";

/** Time that passes only when a test says so. */
export class FakeTiming implements Timing {
	#now = 10_000;
	#timers: { at: number; action: () => void }[] = [];

	now(): number {
		return this.#now;
	}

	after(ms: number, action: () => void): () => void {
		const timer = { at: this.#now + ms, action };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((other) => other !== timer);
		};
	}

	/** Lets time pass; timers run in their order. */
	pass(ms: number): void {
		const end = this.#now + ms;
		for (;;) {
			const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
			if (!next) break;
			this.#timers = this.#timers.filter((other) => other !== next);
			this.#now = next.at;
			next.action();
		}
		this.#now = end;
	}
}
