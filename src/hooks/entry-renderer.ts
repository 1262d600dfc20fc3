import { basename } from "node:path";
import { type HookError, inspectable, locate } from "../errors.js";
import { monotonicMs } from "../util/clock.js";
import type { Named } from "./hook-registry.js";
import { createHookError } from "./source-position.js";
import type { EntryOptions } from "./types.js";

/** Receives how a hook draws. */
export interface DrawingObserver {
	/** @param ms the time that it took to draw an entry, a tool call or a result */
	onDraw(ms: number): void;
	onError(error: HookError): void;
}

/** The error of a hook whose function for entries of a type threw. */
export function drawingError({ hook, name, options }: Named<EntryOptions>, thrown: unknown): HookError {
	return createHookError("hook_failed", hook, `drawing of ${name}`, inspectable(thrown), options);
}

/** The function of a hook that draws entries of a type. It throws an error that names the position in the hook's source. */
export function entryRenderer(
	named: Named<EntryOptions>,
	{ onDraw, onError }: DrawingObserver,
): EntryOptions["render"] {
	const { hook, options } = named;
	const { render } = options;
	if (!render) return undefined;
	const placed = <T>(draw: () => T): T => {
		const startedAt = monotonicMs();
		try {
			return draw();
		} catch (thrown) {
			const error = drawingError(named, thrown);
			onError(error);
			const { subject, at } = locate({ hookPath: hook.path, ...error.place }, basename(hook.path));
			throw new Error(`${error.reason} (${subject}${at})`, { cause: thrown });
		} finally {
			onDraw(monotonicMs() - startedAt);
		}
	};
	return (entry, theme, look) => {
		const drawn = placed(() => render.call(options, entry, theme, look));
		if (typeof drawn !== "object" || typeof drawn?.render !== "function") return drawn;
		return { render: (width) => placed(() => drawn.render(width)), invalidate: () => drawn.invalidate?.() };
	};
}
