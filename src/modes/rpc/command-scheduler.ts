import type { Concurrency } from "../../operations/operation.js";

/**
 * Runs commands so that each sees the effects of earlier ones, but waits only for commands of certain classes: reading
 * the state does not wait for a compaction.
 */
export class CommandScheduler {
	#ordered: Promise<void>;
	#conversation: Promise<void>;
	readonly #open = new Set<Promise<void>>();

	/** @param ready all commands except interrupts wait for it; must not reject */
	constructor(ready: Promise<void>) {
		this.#ordered = ready;
		this.#conversation = ready;
	}

	/** Runs a task as soon as its class permits. The task must not reject. */
	run(concurrency: Concurrency, task: () => Promise<void>): void {
		const waitsFor = this.#predecessors(concurrency);
		const done = waitsFor.length === 0 ? task() : Promise.all(waitsFor).then(task);
		this.#open.add(done);
		void done.finally(() => this.#open.delete(done));
		if (concurrency === "interrupt") {
			this.#ordered = both(this.#ordered, done);
			this.#conversation = both(this.#conversation, done);
		}
		if (concurrency === "ordered" || concurrency === "barrier") this.#ordered = done;
		if (concurrency === "conversation" || concurrency === "barrier") this.#conversation = done;
	}

	/** Resolves when all tasks so far are done. */
	async idle(): Promise<void> {
		await Promise.all(this.#open);
	}

	#predecessors(concurrency: Concurrency): Promise<void>[] {
		if (concurrency === "interrupt") return [];
		if (concurrency === "ordered" || concurrency === "parallel") return [this.#ordered];
		return [this.#ordered, this.#conversation];
	}
}

async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
	await Promise.all([one, other]);
}
