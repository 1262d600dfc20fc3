import { describeHookError, HookError, hookFailure } from "../errors.js";
import { hookFileName } from "../hooks/hook-name.js";
import type { LoadedHook } from "../hooks/hook-registry.js";
import { type HandlerWatch, Watchdog } from "../hooks/watchdog.js";
import type { WatchedFile } from "../hooks/watchdog-cells.js";
import { StrayErrorOwner } from "../session/hooks/stray-error-owner.js";
import { type StrayErrorHost, watchStrayErrors } from "./stray-errors.js";

/** Watches hooks that a command loads without a session: those that block pi, and errors outside of any handler. */
export class HookWatch implements HandlerWatch, StrayErrorHost {
	readonly #watchdog = new Watchdog();
	readonly #owner = new StrayErrorOwner();
	readonly #files: WatchedFile[] = [];
	#errors = 0;

	/** @param onLine receives a line for each error outside of any handler, until the process exits */
	constructor(private readonly onLine: (line: string) => void) {}

	enter(label: string, limitMs: number): () => void {
		return this.#watchdog.enter(label, limitMs);
	}

	add(file: WatchedFile): void {
		if (this.#files.length === 0) watchStrayErrors(this);
		this.#files.push(file);
		this.#watchdog.add(file);
	}

	/** Adds hooks that have loaded: errors in them get a position in their sources. */
	addLoaded(hooks: readonly LoadedHook[]): void {
		this.#owner.addLoaded(hooks);
	}

	/** The number of errors so far, those of promises that are rejected already included. */
	async countErrors(): Promise<number> {
		// Node reports an unhandled rejection after the microtasks of the current turn.
		await new Promise((resolve) => setImmediate(resolve));
		return this.#errors;
	}

	blameHook(thrown: unknown): boolean {
		const files = this.#files.map((file) => ({ ...file, name: hookFileName(file.path) }));
		const error = this.#owner.attribute(thrown, files);
		if (error instanceof HookError) {
			this.#errors++;
			this.onLine(describeHookError(hookFailure(error), hookFileName(error.hookPath)));
		}
		return error !== null;
	}
}
