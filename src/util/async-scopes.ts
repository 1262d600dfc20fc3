import { AsyncLocalStorage } from "node:async_hooks";

/** A scope that code can still be called in. */
export interface OpenScope {
	/** Calls a function: it, and all code that runs later because of it, is in this scope until the scope is closed. */
	run<T>(action: () => T): T;
	close(): void;
}

/**
 * Scopes by asynchronous context: code finds the value of the scope in which it began. While one is open, Node 20 and 22
 * trace every promise of the process, which takes up to half of the CPU time of a stream. So close each as soon as possible.
 */
export class AsyncScopes<V> {
	readonly #values = new AsyncLocalStorage<V>();
	#open = 0;

	/** The value of the running code; undefined outside of scopes. Code of a closed scope may still get its value. */
	get current(): V | undefined {
		return this.#values.getStore();
	}

	open(value: V): OpenScope {
		let isOpen = true;
		this.#open += 1;
		return {
			run: (action) => this.#values.run(value, action),
			close: () => {
				if (!isOpen) return;
				isOpen = false;
				this.#open -= 1;
				if (this.#open === 0) this.#values.disable();
			},
		};
	}
}
