import { Worker } from "node:worker_threads";
import { stripAll } from "../util/sanitize.js";
import { CELLS, type WatchdogData } from "./watchdog-cells.js";

/** Receives the start and end of each call into a hook or tool file. */
export interface HandlerWatch {
	/**
	 * Call it right before a handler runs or a file loads.
	 * @param label names the call, such as `hook <path> in <event>`
	 * @param limitMs half of the time for which the call may block the event loop
	 * @returns a function to call when it is done
	 */
	enter(label: string, limitMs: number): () => void;
}

export interface WatchdogOptions {
	/** Control sequences that restore the terminal; absent without a screen. */
	restore?: string;
}

/** Minimum limit, whatever `hookTimeout` is: a busy machine can delay a correct hook. */
const MIN_LIMIT_MS = 1000;

/**
 * Kills pi if a handler or a loading file blocks the event loop for twice the limit, such as with an endless loop. No
 * timer fires and no key is read then, so a worker thread does it: it names the hook, restores the terminal and kills the
 * process. Entries that were acknowledged are already on disk. The thread starts with the first call, sleeps while no
 * call runs, and does not keep Node alive.
 */
export class Watchdog implements HandlerWatch {
	readonly #cells = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * CELLS.length));
	/** Label texts and the numbers that the thread knows them by. */
	readonly #labels = new Map<string, number>();
	/** Labels of the running calls, in start order. */
	readonly #running: number[] = [];
	#worker: Worker | null = null;

	constructor(private readonly options: WatchdogOptions = {}) {}

	/** Label of the running call that started last; null if none runs. */
	get latest(): string | null {
		const label = this.#running.at(-1);
		return [...this.#labels].find(([, known]) => known === label)?.[0] ?? null;
	}

	enter(text: string, limitMs: number): () => void {
		this.#worker ??= this.#start();
		const label = this.#label(text);
		this.#running.push(label);
		this.#cells[CELLS.limitMs] = Math.max(limitMs, MIN_LIMIT_MS);
		this.#publish();
		// Wakes the thread if it sleeps; does nothing while it is watching.
		Atomics.notify(this.#cells, CELLS.running);
		return () => {
			const at = this.#running.lastIndexOf(label);
			if (at >= 0) this.#running.splice(at, 1);
			this.#publish();
		};
	}

	/** Shares the running calls with the thread, which names the one that started last. */
	#publish(): void {
		Atomics.store(this.#cells, CELLS.latest, this.#running.at(-1) ?? 0);
		Atomics.store(this.#cells, CELLS.running, this.#running.length);
	}

	#label(text: string): number {
		const known = this.#labels.get(text);
		if (known !== undefined) return known;
		const label = this.#labels.size + 1;
		this.#labels.set(text, label);
		this.#worker?.postMessage({ label, text: stripAll(text) });
		return label;
	}

	#start(): Worker {
		// When run from source, the loader that compiles this file compiles the worker too.
		const file = import.meta.url.endsWith(".ts") ? "./watchdog-worker.ts" : "./watchdog-worker.js";
		const { restore = null } = this.options;
		const workerData: WatchdogData = { cells: this.#cells, restore, isTerminal: process.stdin.isTTY === true };
		const worker = new Worker(new URL(file, import.meta.url), { workerData, name: "pi-watchdog" });
		worker.on("message", (ping: number) => Atomics.store(this.#cells, CELLS.answer, ping));
		// The thread could not start: pi runs without a watchdog.
		worker.on("error", () => {});
		worker.unref();
		return worker;
	}
}
