import { HookError, inspectable, PiError } from "../../errors.js";
import type { HookFile } from "../../hooks/discover.js";
import { type HookSource, sourceOfError } from "../../hooks/source-position.js";
import { fileInStack, isOwnStack, type OwnedFile } from "../../hooks/stack-owner.js";

/** A file whose code may have thrown. */
type Suspect = OwnedFile & Pick<HookFile, "name"> & Partial<Pick<HookFile, "scope">>;

/** Finds the hook that threw an error outside of any handler, such as in a timer. */
export class StrayErrorOwner {
	/** Uses of stale context objects so far: one in an interval would be reported at every tick. */
	readonly #staleUses = new Set<string>();
	/** The latest loaded version of each file, which knows its compiler; also of unloaded hooks, whose timers may still run. */
	readonly #sources = new Map<string, HookSource>();

	/** Adds loaded hooks: errors in them get a position in their sources. */
	addLoaded(hooks: readonly HookSource[]): void {
		for (const { path, realPath, compiler } of hooks) {
			this.#sources.set(path, { path, realPath, ...(compiler && { compiler }) });
		}
	}

	/**
	 * Attributes an error to the hook in its stack trace. An error with neither a hook nor pi in its stack, such as that of
	 * a socket, is attributed to all hooks together.
	 * @param files every hook file found so far
	 * @returns the error to report; `known` for a repeated use of a stale context object; null when pi itself threw it
	 */
	attribute(thrown: unknown, files: readonly Suspect[]): HookError | "known" | null {
		const error = inspectable(thrown);
		const stack = error instanceof Error ? (error.stack ?? "") : "";
		const owner = fileInStack(stack, files);
		// Without a stack, the user's hooks are suspects, and not those that pi brings along.
		const others = files.filter(({ scope }) => scope !== "bundled");
		if (!owner && (others.length === 0 || isOwnStack(stack))) return null;
		const suspects = owner ? [owner] : others;
		const hookPath =
			suspects.length === 1 ? (suspects[0]?.path ?? "") : `one of ${suspects.map(({ name }) => name).join(", ")}`;
		if (error instanceof PiError && error.code === "hook_stale") {
			if (this.#staleUses.has(error.message)) return "known";
			this.#staleUses.add(error.message);
		}
		const source = owner ? sourceOfError(error, this.#sources.get(owner.path) ?? owner) : undefined;
		return new HookError("hook_failed", hookPath, "a timer or promise", error, source);
	}

	/** Lets the uses of stale context objects be reported again, once each. */
	forget(): void {
		this.#staleUses.clear();
	}
}
