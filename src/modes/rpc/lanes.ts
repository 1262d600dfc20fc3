/** What a task waits for, and what waits for it. */
export type Lane =
	/** Nothing: it runs at once. */
	| "now"
	/** What only looks or sets: waits for others of its kind. */
	| "order"
	/** What drives the conversation: waits for those before it, and for what was set before it. */
	| "session"
	/** What replaces the session: all that comes later waits for it. */
	| "both"
	/** What runs beside the rest: waits for what was set before it, nothing waits for it. */
	| "beside";

/**
 * Runs tasks that come in one after the other so that each sees what those before it have done, and none waits for one
 * that takes long without need: a look at the state does not wait for a compaction.
 */
export class Lanes {
	#order: Promise<void>;
	#session: Promise<void>;
	readonly #open = new Set<Promise<void>>();

	/** @param ready what all tasks but `now` wait for; must not reject */
	constructor(ready: Promise<void>) {
		this.#order = ready;
		this.#session = ready;
	}

	/** Runs a task when its lane is free. It must not reject. */
	run(lane: Lane, task: () => Promise<void>): void {
		const waitsFor = this.#tailsFor(lane);
		const done = waitsFor.length === 0 ? task() : Promise.all(waitsFor).then(task);
		this.#open.add(done);
		void done.finally(() => this.#open.delete(done));
		if (lane === "order" || lane === "both") this.#order = done;
		if (lane === "session" || lane === "both") this.#session = done;
	}

	/** Resolves when all tasks so far are done. */
	async idle(): Promise<void> {
		await Promise.all(this.#open);
	}

	#tailsFor(lane: Lane): Promise<void>[] {
		switch (lane) {
			case "now":
				return [];
			case "order":
			case "beside":
				return [this.#order];
			case "session":
			case "both":
				return [this.#order, this.#session];
		}
	}
}
