import { HookError, inspectable, PiError } from "../errors.js";
import type { HookFile } from "../hooks/discover.js";
import { type HookSource, sourceOfError } from "../hooks/source-place.js";
import { fileInStack, isOwnStack } from "../hooks/stack-owner.js";

/** Finds the hook that threw an error outside of any handler, such as in a timer. */
export class StrayErrorOwner {
	/** Uses of stale context objects so far: one in an interval would be reported at every tick. */
	readonly #staleUses = new Set<string>();

	/**
	 * Attributes an error to the hook in its stack trace. An error with neither a hook nor pi in its stack, such as that of
	 * a socket, is attributed to all hooks together.
	 * @param files every hook file found so far
	 * @param sourceOf the loaded version of a file, which knows its compiler
	 * @returns the error to report; `known` for a repeated use of a stale context object; null when pi itself threw it
	 */
	attribute(
		thrown: unknown,
		files: readonly HookFile[],
		sourceOf: (file: HookFile) => HookSource,
	): HookError | "known" | null {
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
		const source = owner ? sourceOfError(error, sourceOf(owner)) : undefined;
		return new HookError("hook_failed", hookPath, "a timer or promise", error, source);
	}

	/** Lets the uses of stale context objects be reported again, once each. */
	forget(): void {
		this.#staleUses.clear();
	}
}
