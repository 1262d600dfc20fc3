import { Worker } from "node:worker_threads";
import { stripAll } from "../util/sanitize.js";
import { CELLS, type WatchdogData } from "./watchdog-cells.js";

/** Hears when code of a hook or a tool file begins to run, and when it is done. */
export interface HandlerWatch {
	/**
	 * A handler is about to be called, or a file to be loaded.
	 * @param what names it, such as `hook <path> in <event>`
	 * @param limitMs half of the time for which it may keep everything else from running
	 * @returns to be called when it is done
	 */
	enter(what: string, limitMs: number): () => void;
}

/** How the watchdog leaves things. */
export interface WatchdogOptions {
	/** Gives the terminal back; absent where there is no screen. */
	restore?: string;
}

/** A handler gets at least so many ms, whatever `hookTimeout` says: a busy machine is no fault of a hook. */
const MIN_LIMIT_MS = 1000;

/**
 * Ends the program when a handler, or a file that is loaded, keeps it from doing anything for twice the limit, such as
 * with an endless loop: then no timer runs and no key is read, so a thread of its own has to. That thread names the hook,
 * gives the terminal back and kills the process; whatever the process has started is killed with it, and all that was
 * acknowledged is in the session. The thread starts with the first call and sleeps while none runs. Nothing here keeps the
 * program alive.
 */
export class Watchdog implements HandlerWatch {
	readonly #cells = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * CELLS.length));
	/** Numbers under which the thread knows what runs. */
	readonly #labels = new Map<string, number>();
	/** Labels of what runs, in the order in which it began. */
	readonly #running: number[] = [];
	#worker: Worker | null = null;

	constructor(private readonly options: WatchdogOptions = {}) {}

	/** What began last of all that runs; null when nothing does. */
	get latest(): string | null {
		const label = this.#running.at(-1);
		return [...this.#labels].find(([, known]) => known === label)?.[0] ?? null;
	}

	enter(what: string, limitMs: number): () => void {
		this.#worker ??= this.#start();
		const label = this.#label(what);
		this.#running.push(label);
		this.#cells[CELLS.limitMs] = Math.max(limitMs, MIN_LIMIT_MS);
		this.#tell();
		// Wakes the thread when it has nothing to watch; while it watches already, nobody waits and this costs nothing.
		Atomics.notify(this.#cells, CELLS.running);
		return () => {
			const at = this.#running.lastIndexOf(label);
			if (at >= 0) this.#running.splice(at, 1);
			this.#tell();
		};
	}

	/** The one that began last is the one that is named. */
	#tell(): void {
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
		// From source the loader that runs this file runs the thread's as well.
		const file = import.meta.url.endsWith(".ts") ? "./watchdog-worker.ts" : "./watchdog-worker.js";
		const { restore = null } = this.options;
		const workerData: WatchdogData = { cells: this.#cells, restore, isTerminal: process.stdin.isTTY === true };
		const worker = new Worker(new URL(file, import.meta.url), { workerData, name: "pi-watchdog" });
		worker.on("message", (question: number) => Atomics.store(this.#cells, CELLS.answer, question));
		// No thread could be started: the program does without.
		worker.on("error", () => {});
		worker.unref();
		return worker;
	}
}
