import type { LoadedHook } from "./hook-registry.js";

/** Something that a hook shows. */
interface Claim {
	value: unknown;
	undo(): void;
}

/** What one hook shows on the screen, so that all of it can be removed when the hook is unloaded or turned off. */
export class ScreenClaims {
	readonly #shown = new Map<string, Claim>();
	#ended = new AbortController();

	/** Aborted when the hook is unloaded or turned off: closes its dialogs and components. */
	get signal(): AbortSignal {
		return this.#ended.signal;
	}

	/** False once the hook has been unloaded or turned off: it cannot show anything then. */
	get isOpen(): boolean {
		return !this.#ended.signal.aborted;
	}

	/** The value that the hook shows under an id; undefined if it shows none. */
	valueOf(id: string): unknown {
		return this.#shown.get(id)?.value;
	}

	/** Records a value that the hook shows. @param undo removes it; replaces that of the same id */
	hold(id: string, value: unknown, undo: () => void): void {
		this.#shown.set(id, { value, undo });
	}

	/** Forgets a value that the hook has removed. */
	drop(id: string): void {
		this.#shown.delete(id);
	}

	/** Removes everything. */
	close(): void {
		if (!this.isOpen) return;
		this.#ended.abort();
		for (const { undo } of this.#shown.values()) undo();
		this.#shown.clear();
	}

	/** Lets a hook that was turned off show things again. */
	open(): void {
		if (!this.isOpen) this.#ended = new AbortController();
	}
}

const claims = new WeakMap<LoadedHook, ScreenClaims>();

/** What a hook shows. Each version of a reloaded hook has its own. */
export function claimsOf(hook: LoadedHook): ScreenClaims {
	const known = claims.get(hook);
	if (known) return known;
	const made = new ScreenClaims();
	claims.set(hook, made);
	return made;
}

/** Removes everything of the hooks that do not run any more, and lets the others show things. */
export function retainClaims(before: readonly LoadedHook[], running: readonly LoadedHook[]): void {
	for (const hook of before) if (!running.includes(hook)) claimsOf(hook).close();
	for (const hook of running) claims.get(hook)?.open();
}
