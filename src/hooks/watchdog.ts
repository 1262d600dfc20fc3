import { Worker } from "node:worker_threads";
import { stripAll } from "../util/sanitize.js";
import { CELLS, type WatchdogData, type WatchdogMessage, type WatchedFile } from "./watchdog-cells.js";

/** Receives the start and end of each call into a hook or tool file. */
export interface HandlerWatch {
	/**
	 * Call it right before a handler runs or a file loads.
	 * @param label names the call, such as `hook <path> in <event>`
	 * @param limitMs half of the time for which the call may block the event loop
	 * @returns a function to call when it is done
	 */
	enter(label: string, limitMs: number): () => void;
	/** Call it before a file loads: its timers and promises can block the event loop when no call runs. */
	add(file: WatchedFile): void;
}

export interface WatchdogOptions {
	/** Control sequences that restore the terminal; absent without a screen. */
	restore?: string;
}

/** Minimum limit, whatever `hookTimeout` is: a busy machine can delay a correct hook. */
const MIN_LIMIT_MS = 1000;

/**
 * Kills pi if a handler, a loading file, or a timer of a hook blocks the event loop for twice the limit, such as with an
 * endless loop. No timer fires and no key is read then, so a worker thread does it: it names the hook, restores the
 * terminal and kills the process. Entries that were acknowledged are already on disk. The thread starts with the first
 * call, sleeps while no call runs and the event loop waits, and does not keep Node alive.
 */
export class Watchdog implements HandlerWatch {
	readonly #cells = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * CELLS.length));
	/** Label texts and the numbers that the thread knows them by. */
	readonly #labels = new Map<string, number>();
	/** Labels of the running calls, in start order. */
	readonly #running: number[] = [];
	/** Files by their real paths. */
	readonly #files = new Map<string, WatchedFile>();
	#worker: Worker | null = null;
	/** True until the event loop has woken up for nothing but the thread's question. */
	#isAsked = false;

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
		this.#wake();
		return () => {
			const at = this.#running.lastIndexOf(label);
			if (at >= 0) this.#running.splice(at, 1);
			this.#publish();
		};
	}

	add(file: WatchedFile): void {
		if (this.#files.size === 0) this.#beat();
		this.#files.set(file.realPath, file);
		this.#worker?.postMessage(file satisfies WatchdogMessage);
	}

	/**
	 * Runs once in each turn of the event loop, before its timers. Such an immediate wakes nothing and keeps nothing running:
	 * while pi is idle, it costs nothing.
	 */
	readonly #beat = (): void => {
		setImmediate(this.#beat).unref();
		if (!this.#isAsked) this.#wake();
		this.#isAsked = false;
	};

	/** Wakes the thread if it sleeps; does nothing while it is watching. */
	#wake(): void {
		if (Atomics.exchange(this.#cells, CELLS.awake, 1) === 0) Atomics.notify(this.#cells, CELLS.awake);
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
		this.#worker?.postMessage({ label, text: stripAll(text) } satisfies WatchdogMessage);
		return label;
	}

	#start(): Worker {
		// When run from source, the loader that compiles this file compiles the worker too.
		const file = import.meta.url.endsWith(".ts") ? "./watchdog-worker.ts" : "./watchdog-worker.cjs";
		const { restore = null } = this.options;
		const workerData: WatchdogData = { cells: this.#cells, restore, isTerminal: process.stdin.isTTY === true };
		const worker = new Worker(new URL(file, import.meta.url), { workerData, name: "pi-watchdog" });
		worker.on("message", (ping: number) => {
			this.#isAsked = true;
			Atomics.store(this.#cells, CELLS.answer, ping);
		});
		for (const file of this.#files.values()) worker.postMessage(file satisfies WatchdogMessage);
		// The thread could not start: pi runs without a watchdog.
		worker.on("error", () => {});
		worker.unref();
		return worker;
	}
}
